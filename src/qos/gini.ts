/**
 * Gini coefficient of values that are not negative, in [0, 1): half the mean difference of all pairs by the mean. 0 for equal
 * values; by definition of the evaluation (algorithms.md 8) 0 for a set of zeros, and for an empty one.
 */
export function gini(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const total = sorted.reduce((sum, value) => sum + value, 0);
  const ranked = sorted.reduce((sum, value, place) => sum + (place + 1) * value, 0);
  const count = sorted.length;
  return total === 0 ? 0 : (2 * ranked) / (count * total) - (count + 1) / count;
}
