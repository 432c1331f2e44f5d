import { compareText } from '../model/compare-text.ts';

/** Compares by namespace, then name. */
export function compareNames(
  left: { readonly namespace: string; readonly name: string },
  right: { readonly namespace: string; readonly name: string },
): number {
  return compareText(left.namespace, right.namespace) || compareText(left.name, right.name);
}

/** The entries of `map` in the order of their keys. */
export function sortByKey<Value>(map: ReadonlyMap<string, Value>): ReadonlyMap<string, Value> {
  return new Map([...map].sort(([left], [right]) => compareText(left, right)));
}
