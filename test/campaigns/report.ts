/** Names of the lists of a report that ought to be empty and are not. */
export function brokenPromises(report: object): readonly string[] {
  return Object.entries(report)
    .filter(([, value]) => Array.isArray(value) && value.length > 0)
    .map(([name]) => name);
}
