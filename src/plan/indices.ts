declare const index: unique symbol;
declare const table: unique symbol;

/** A plain number is any index, and an index is no index of another kind: those of pods and nodes cannot be mixed up. */
type Index<Name extends string> = number & { readonly [index]?: Name };

/** Place of a pod among those of the cluster; -1 for none. */
export type PodIndex = Index<'pod'>;
/** Place of a node among those that take part; -1 for none. */
export type NodeIndex = Index<'node'>;
/** Place of a node among all of the cluster; -1 for none. */
export type SiteIndex = Index<'site'>;
/** Place of a controller among those of the pods; -1 for none. */
export type OwnerIndex = Index<'owner'>;
/** Place of a kind of pods (see pod-kinds.ts). */
export type KindIndex = Index<'kind'>;
/** Place of a shape (see shapes.ts); -1 for none. */
export type ShapeIndex = Index<'shape'>;
/** Place of a tracker (see topology/trackers.ts). */
export type TrackerIndex = Index<'tracker'>;
/** Place of a domain of a topology key (see topology/domains.ts); -1 for none. */
export type DomainIndex = Index<'domain'>;
/** Place of a size of shapes (see shapes.ts). */
export type SizeIndex = Index<'size'>;
/** Place of a class of shapes (see shapes.ts). */
export type ClassIndex = Index<'class'>;

/** An index for each index of another kind, in a typed array. */
export type IndexTable<Key extends number, Value extends number> = Int32Array & {
  readonly [table]?: (key: Key) => Value;
};

/** What a table has for `key`. Throws RangeError for a key outside of it, such as the -1 that stands for none. */
export function at<Key extends number, Value extends number>(values: IndexTable<Key, Value>, key: NoInfer<Key>): Value {
  const value = values[key];
  if (value === undefined) {
    throw new RangeError(`no index ${key} in a table of ${values.length}`);
  }
  return value as Value;
}

/** What a table has for `key`, and -1 for none. Throws RangeError for any other key outside of the table. */
export function atOrNone<Key extends number, Value extends number>(
  values: IndexTable<Key, Value>,
  key: NoInfer<Key>,
): Value {
  return key === -1 ? (-1 as Value) : at(values, key);
}

/** The amount at `key`. Throws RangeError when there is none. */
export function amountAt(amounts: Float64Array, key: number): number {
  const amount = amounts[key];
  if (amount === undefined) {
    throw new RangeError(`no index ${key} among ${amounts.length} amounts`);
  }
  return amount;
}

/** The number at `key` of a list. Throws RangeError when there is none. */
export function numberAt<Value extends number>(values: readonly Value[], key: number): Value {
  const value = values[key];
  if (value === undefined) {
    throw new RangeError(`no index ${key} among ${values.length} numbers`);
  }
  return value;
}

/** The indices from 0 to `size` that `passes` lets through, ascending. */
export function indicesWhere<Key extends number>(size: number, passes: (key: Key) => boolean): readonly Key[] {
  const found: Key[] = [];
  for (let key = 0; key < size; key += 1) {
    if (passes(key as Key)) {
      found.push(key as Key);
    }
  }
  return found;
}

/**
 * The item at `key`. Throws RangeError when there is none. Not for numbers: V8 keeps lists of numbers in several other ways,
 * and a function that reads them all reads none of them fast.
 */
export function itemAt<Item extends object | string>(items: readonly Item[], key: number): Item {
  const item = items[key];
  if (item === undefined) {
    throw new RangeError(`no index ${key} among ${items.length}`);
  }
  return item;
}
