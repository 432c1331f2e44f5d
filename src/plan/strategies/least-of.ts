/** Place of the least value, the first of several; -1 when all are +Infinity. */
export function leastOf(values: readonly number[]): number {
  let least = -1;
  for (let place = 0; place < values.length; place += 1) {
    const isLess = (values[place] ?? 0) < (least < 0 ? Number.POSITIVE_INFINITY : (values[least] ?? 0));
    least = isLess ? place : least;
  }
  return least;
}
