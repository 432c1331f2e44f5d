import { hash } from 'node:crypto';
import type { SchedulingConstraints } from '../model/pod.ts';
import { parseQuantity, type Quantity, type QuantityError } from '../model/quantity.ts';
import type { Labels } from '../model/selector.ts';

/**
 * Shares equal values within one snapshot or cache: pods of one template have the same labels, requests and constraints, so that
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

/** Most texts and quantities that are remembered; a cluster has a few thousand at a time. */
const MAX_REMEMBERED = 100_000;

/**
 * An empty interner. It holds labels and constraints only while somebody else does, and keys as digests, so that it may live
 * as long as a cache of a changing cluster.
 */
export function createInterner(): Interner {
  const labels = createWeakTable<Labels>();
  const byKey = createWeakTable<SchedulingConstraints>();
  const byContent = createWeakTable<SchedulingConstraints>();
  const parts = createWeakTable<object>();
  const texts = new Map<string, string>();
  const quantities = new Map<string, Quantity | QuantityError>();
  return {
    labels: (entries) => labels(JSON.stringify(entries), () => new Map(entries)),
    text: (text) => remember(texts, text, () => text),
    constraints: (key, make) =>
      byKey(key, () => {
        const constraints = make();
        return byContent(canonicalKey(constraints), () => shareParts(constraints, parts));
      }),
    quantity: (text) => remember(quantities, text, () => parseQuantity(text)),
  };
}

/** The constraints with those of their parts that others have too: each pod of a DaemonSet has a node affinity of its own. */
function shareParts(constraints: SchedulingConstraints, parts: WeakTable<object>): SchedulingConstraints {
  const share = <Part extends object>(part: Part, key: unknown = part): Part =>
    parts(JSON.stringify(key), () => part) as Part;
  const { requests } = constraints;
  return {
    ...constraints,
    requests: share(requests, { ...requests, extended: [...requests.extended] }),
    preferredNodeAffinity: share(constraints.preferredNodeAffinity),
    tolerations: share(constraints.tolerations),
    hostPorts: share(constraints.hostPorts),
    podAffinity: share(constraints.podAffinity),
    podAntiAffinity: share(constraints.podAntiAffinity),
    preferredPodAffinity: share(constraints.preferredPodAffinity),
    spread: share(constraints.spread),
    images: share(constraints.images),
  };
}

type WeakTable<Value> = (key: string, make: () => Value) => Value;

/** Shares values by key as long as they are in use. */
function createWeakTable<Value extends object>(): WeakTable<Value> {
  const table = new Map<string, WeakRef<Value>>();
  const unused = new FinalizationRegistry<string>((digest) => {
    if (table.get(digest)?.deref() === undefined) {
      table.delete(digest);
    }
  });
  return (key, make) => {
    const digest = digestOf(key);
    const known = table.get(digest)?.deref();
    if (known !== undefined) {
      return known;
    }
    const value = make();
    table.set(digest, new WeakRef(value));
    unused.register(value, digest);
    return value;
  };
}

/** Short keys stand for themselves; of two long ones, nobody can make the same digest on purpose. */
function digestOf(key: string): string {
  return key.length <= 64 ? key : hash('sha256', key, 'base64');
}

function remember<Value>(table: Map<string, Value>, key: string, make: () => Value): Value {
  const known = table.get(key);
  if (known !== undefined) {
    return known;
  }
  if (table.size >= MAX_REMEMBERED) {
    table.clear();
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
