import { type Labels, matches, type Selector } from '../../model/selector.ts';

/** Values found by the labels that their selectors match, without trying every selector on every pod. */
export interface SelectorIndex<Value> {
  readonly add: (selector: Selector, value: Value) => void;
  /** The values whose selectors match, in the order in which they were added within one key. */
  readonly find: (labels: Labels) => readonly Value[];
}

interface Entry<Value> {
  readonly selector: Selector;
  readonly value: Value;
}

const NOTHING: readonly never[] = [];

/**
 * An empty index. Selectors with an In requirement are filed under its key and values, which is nearly all of them in
 * practice; the others are tried one by one. What is found is remembered by the identity of the labels, which pods of one
 * template share.
 */
export function createSelectorIndex<Value>(): SelectorIndex<Value> {
  const filed = new Map<string, Map<string, Entry<Value>[]>>();
  const others: Entry<Value>[] = [];
  const known = new Map<Labels, readonly Value[]>();
  return {
    add: (selector, value) => {
      const entry = { selector, value };
      known.clear();
      const anchor = selector.requirements.find(({ operator }) => operator === 'In');
      if (anchor === undefined) {
        others.push(entry);
        return;
      }
      const byValue = getOrCreate(filed, anchor.key, () => new Map<string, Entry<Value>[]>());
      for (const text of new Set(anchor.values)) {
        getOrCreate(byValue, text, (): Entry<Value>[] => []).push(entry);
      }
    },
    find: (labels) => {
      const remembered = known.get(labels);
      if (remembered !== undefined) {
        return remembered;
      }
      let found: Value[] | undefined;
      for (const [key, byValue] of filed) {
        const text = labels.get(key);
        const candidates = text === undefined ? undefined : byValue.get(text);
        found = candidates === undefined ? found : collect(candidates, labels, found);
      }
      const all = collect(others, labels, found) ?? NOTHING;
      known.set(labels, all);
      return all;
    },
  };
}

function collect<Value>(
  entries: readonly Entry<Value>[],
  labels: Labels,
  into: Value[] | undefined,
): Value[] | undefined {
  let found = into;
  for (const { selector, value } of entries) {
    if (matches(selector, labels)) {
      found ??= [];
      found.push(value);
    }
  }
  return found;
}

function getOrCreate<Key, Value>(map: Map<Key, Value>, key: Key, create: () => Value): Value {
  const known = map.get(key);
  if (known !== undefined) {
    return known;
  }
  const value = create();
  map.set(key, value);
  return value;
}
