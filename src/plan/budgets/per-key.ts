import type { MoveUnderWay } from '../../model/past-move.ts';
import type { PodInfo } from '../../model/pod.ts';
import type { Cluster } from '../cluster.ts';
import { count } from '../format.ts';
import { at, itemAt, type NodeIndex, type OwnerIndex, type PodIndex } from '../indices.ts';
import type { BudgetOptions, Limit } from '../options.ts';
import type { Owners } from '../owners.ts';
import { type Budget, type BudgetRefusal, createTally, isSpent, type PreemptionBudget, type Tally } from './budget.ts';

/** A budget by some key of the pods, for moves and for preemptions, which spend the same. */
export interface KeyedBudget extends Budget {
  readonly ofPreemptions: PreemptionBudget;
}

/** Pods that a plan takes from one node, and those of `underWay`; `undefined` when no entry limits them. */
export function perNode(
  entries: readonly BudgetOptions[],
  { home, nodes }: Pick<Cluster, 'home' | 'nodes'>,
  underWay: readonly MoveUnderWay[] = [],
): KeyedBudget | undefined {
  const limit = smallest(entries, 'perNode');
  if (limit === Number.POSITIVE_INFINITY) {
    return undefined;
  }
  const nodeOf = (pod: PodIndex): NodeIndex => at(home, pod);
  return perKey(
    nodeOf,
    () => limit,
    (node, taken) => {
      const message = `the plan takes ${count(limit, 'pod')} from ${itemAt(nodes, node).name}, perNode allows no more`;
      return { code: 'PerNode', message, numbers: { taken, limit } };
    },
    keysOf(underWay, ({ from }) => nodes.findIndex(({ name }) => name === from)),
  );
}

/** Pods of one namespace that a plan moves, and those of `underWay`; `undefined` when no entry limits them. */
export function perNamespace(
  entries: readonly BudgetOptions[],
  pods: readonly PodInfo[],
  underWay: readonly MoveUnderWay[] = [],
): KeyedBudget | undefined {
  const limit = smallest(entries, 'perNamespace');
  if (limit === Number.POSITIVE_INFINITY) {
    return undefined;
  }
  const namespaceOf = (pod: PodIndex): string => itemAt(pods, pod).namespace;
  return perKey(
    namespaceOf,
    () => limit,
    (namespace, moved) => {
      const message = `the plan moves ${count(limit, 'pod')} of namespace ${namespace}, perNamespace allows no more`;
      return { code: 'PerNamespace', message, numbers: { moved, limit } };
    },
    keysOf(underWay, ({ namespace }) => namespace),
  );
}

function smallest(entries: readonly BudgetOptions[], limit: 'perNode' | 'perNamespace'): number {
  return Math.min(Number.POSITIVE_INFINITY, ...entries.flatMap((entry) => entry[limit] ?? []));
}

/** Keys of what is under way, each once for one purpose. */
function keysOf<Key>(underWay: readonly MoveUnderWay[], keyOf: (move: MoveUnderWay) => Key): readonly Key[] {
  const byPurpose = Map.groupBy(underWay, ({ purpose }) => purpose);
  return [...byPurpose.values()].flatMap((moves) => [...new Set(moves.map(keyOf))]);
}

/** As many pods of each key as its limit allows, beside those with the keys `spent`. */
function perKey<Key extends NodeIndex | string>(
  keyOf: (pod: PodIndex) => Key,
  limitOf: (key: Key) => number,
  refusal: (key: Key, spent: number, limit: number) => BudgetRefusal,
  spent: readonly Key[],
): KeyedBudget {
  const tally = createTally<Key>();
  spent.forEach(tally.add);
  const refusalOf = (key: Key): BudgetRefusal | undefined => {
    const limit = limitOf(key);
    return isSpent(tally.of(key), limit) ? refusal(key, tally.of(key), limit) : undefined;
  };
  return {
    check: (pod) => refusalOf(keyOf(pod)),
    spend: (pod) => tally.add(keyOf(pod)),
    refund: (pod) => tally.remove(keyOf(pod)),
    ofPreemptions: forPreemptions(keyOf, refusalOf, tally),
  };
}

/** Counts each key once for all pods that make room for one pod. */
function forPreemptions<Key>(
  keyOf: (pod: PodIndex) => Key,
  refusalOf: (key: Key) => BudgetRefusal | undefined,
  tally: Tally<Key>,
): PreemptionBudget {
  const open = new Map<Key, number>();
  const opened = (key: Key): number => open.get(key) ?? 0;
  return {
    check: (pod) => (opened(keyOf(pod)) > 0 ? undefined : refusalOf(keyOf(pod))),
    spend: (pod) => {
      const key = keyOf(pod);
      if (opened(key) === 0) {
        tally.add(key);
      }
      open.set(key, opened(key) + 1);
    },
    refund: (pod) => {
      const key = keyOf(pod);
      open.set(key, opened(key) - 1);
      if (opened(key) === 0) {
        tally.remove(key);
      }
    },
    close: () => open.clear(),
  };
}

/** Keeps products such as 0.07 x 100 = 7.000000000000001 from being rounded up to 8. */
const ROUNDING = 1e-9;

/**
 * Pods of one controller that a plan moves, a share of its replicas rounded up, and those of `underWay`; `undefined` when no entry
 * limits them.
 */
export function perOwner(
  entries: readonly BudgetOptions[],
  owners: Owners,
  underWay: readonly MoveUnderWay[] = [],
): KeyedBudget | undefined {
  const limits = entries.flatMap((entry) => entry.perOwner ?? []);
  if (limits.length === 0) {
    return undefined;
  }
  const ownerOf = (pod: PodIndex): OwnerIndex => at(owners.ofPod, pod);
  const limitOf = (owner: OwnerIndex): number =>
    Math.min(...limits.map((entry) => countOf(entry, itemAt(owners.list, owner).replicas)));
  return perKey(
    ownerOf,
    limitOf,
    (owner, moved, limit) => {
      const { ref, replicas } = itemAt(owners.list, owner);
      const text = `the plan moves ${count(limit, 'pod')} of ${ref.kind} ${ref.name}, which has ${count(replicas, 'replica')}, perOwner allows no more`;
      return { code: 'PerOwner', message: text, numbers: { moved, limit, replicas } };
    },
    keysOf(underWay, ({ owner }) => owners.list.findIndex(({ ref }) => ref.uid === owner)),
  );
}

function countOf(limit: Limit, replicas: number): number {
  return limit.kind === 'Count' ? limit.count : Math.ceil(limit.share * replicas - ROUNDING);
}
