import type { SchedulingConstraints } from '../model/pod.ts';
import { parseQuantity, type Quantity, type QuantityError } from '../model/quantity.ts';
import type { Labels } from '../model/selector.ts';

/**
 * Shares equal values within one snapshot: pods of one template have the same labels, requests and constraints, so that
 * 150,000 pods take the room of a few thousand, and verdicts can be memoised by identity.
 */
export interface Interner {
  /** The one map of these entries, which must be sorted by key. */
  labels(entries: readonly (readonly [string, string])[]): Labels;
  /** The one string of this content: those of two JSON texts are two. */
  text(text: string): string;
  /** The one object with this content. `key` stands for all that `make` reads: for a known key it is not called. */
  constraints(key: string, make: () => SchedulingConstraints): SchedulingConstraints;
  /** parseQuantity, remembered. */
  quantity(text: string): Quantity | QuantityError;
}

/** An empty interner. It keeps what it has seen until it is dropped, so make one per snapshot. */
export function createInterner(): Interner {
  const labels = new Map<string, Labels>();
  const texts = new Map<string, string>();
  const byKey = new Map<string, SchedulingConstraints>();
  const byContent = new Map<string, SchedulingConstraints>();
  const quantities = new Map<string, Quantity | QuantityError>();
  return {
    labels: (entries) => remember(labels, JSON.stringify(entries), () => new Map(entries)),
    text: (text) => remember(texts, text, () => text),
    constraints: (key, make) =>
      remember(byKey, key, () => {
        const constraints = make();
        return remember(byContent, canonicalKey(constraints), () => constraints);
      }),
    quantity: (text) => remember(quantities, text, () => parseQuantity(text)),
  };
}

function remember<Value>(table: Map<string, Value>, key: string, make: () => Value): Value {
  const known = table.get(key);
  if (known !== undefined) {
    return known;
  }
  const value = make();
  table.set(key, value);
  return value;
}

/** JSON of everything in the constraints; maps as their entries, which the projection has sorted. */
function canonicalKey({ requests, nodeSelector, ...rest }: SchedulingConstraints): string {
  return JSON.stringify([
    requests.cpu,
    requests.memory,
    requests.ephemeralStorage,
    [...requests.extended],
    [...nodeSelector],
    rest,
  ]);
}
