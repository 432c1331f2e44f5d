/** Compares by code unit, the same on every machine; localeCompare is not. */
export function compareText(left: string, right: string): number {
  if (left === right) {
    return 0;
  }
  return left < right ? -1 : 1;
}
