/**
 * Sets of `size` of the places 0 to `count` - 1, each ascending. A set comes before another when the last place in which they
 * differ is lower in it: where places are in order of what they cost, the set whose most expensive member costs least comes first.
 * Of places that `isTwin` says equal the one before them, only the first ones are taken: others would give the same again.
 */
export function* subsets(
  count: number,
  size: number,
  isTwin: (place: number) => boolean,
  mustHaveLast = false,
): Generator<readonly number[]> {
  if (size === 0) {
    if (!mustHaveLast) {
      yield [];
    }
    return;
  }
  for (let last = mustHaveLast ? count - 1 : size - 1; last < count; last += 1) {
    for (const others of subsets(last, size - 1, isTwin, isTwin(last))) {
      yield [...others, last];
    }
  }
}
