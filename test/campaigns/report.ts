/** Ends a campaign: its report goes to stdout, and the exit code is 1 when a promise was broken. */
export function conclude(report: object): void {
  process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
  process.exitCode = brokenPromises(report).length === 0 ? 0 : 1;
}

/** Names of the lists of a report that ought to be empty and are not. */
export function brokenPromises(report: object): readonly string[] {
  return Object.entries(report)
    .filter(([, value]) => Array.isArray(value) && value.length > 0)
    .map(([name]) => name);
}
