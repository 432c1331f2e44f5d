/**
 * Gini coefficient of values that are not negative: 0 when all are equal, near 1 when one has everything. 0 of none, and of
 * all zero (algorithms.md 8).
 */
export function gini(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  const total = sorted.reduce((sum, value) => sum + value, 0);
  if (total === 0) {
    return 0;
  }
  const weighted = sorted.reduce((sum, value, place) => sum + (place + 1) * value, 0);
  return (2 * weighted) / (sorted.length * total) - (sorted.length + 1) / sorted.length;
}
