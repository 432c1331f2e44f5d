/**
 * Ends a campaign: its report goes to stdout, and the exit code is 1 when a promise was broken. `excused` are lists that need
 * not be empty.
 */
export function conclude(report: object, excused: readonly string[] = []): void {
  process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
  process.exitCode = brokenPromises(report).every((name) => excused.includes(name)) ? 0 : 1;
}

/** Names of the lists of a report that ought to be empty and are not. */
export function brokenPromises(report: object): readonly string[] {
  return Object.entries(report)
    .filter(([, value]) => Array.isArray(value) && value.length > 0)
    .map(([name]) => name);
}
