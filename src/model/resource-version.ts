const DECIMAL = /^[1-9]\d*$/;

/**
 * Negative when `left` is older than `right`, 0 when they are equal, positive when it is newer; undefined when one of them is
 * no decimal number, and only equality means anything (KEP-5504, comparable resource versions).
 */
export function compareVersions(left: string, right: string): number | undefined {
  if (left === right) {
    return 0;
  }
  if (!DECIMAL.test(left) || !DECIMAL.test(right)) {
    return undefined;
  }
  return left.length - right.length || (left < right ? -1 : 1);
}
