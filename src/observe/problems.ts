/** Most problem texts that a snapshot lists one by one. */
const MAX_PROBLEMS = 1000;

/** `problems` in a total order, each once, at most a thousand and a line that counts the rest. */
export function sortProblems(problems: ReadonlySet<string>): readonly string[] {
  const sorted = [...problems].sort();
  const rest = sorted.length - MAX_PROBLEMS;
  return rest <= 0 ? sorted : [...sorted.slice(0, MAX_PROBLEMS), `and ${rest} more problems of this sort`];
}
