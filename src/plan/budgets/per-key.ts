import type { PodInfo } from '../../model/pod.ts';
import type { Cluster } from '../cluster.ts';
import { at, itemAt, type NodeIndex, type OwnerIndex, type PodIndex } from '../indices.ts';
import type { BudgetOptions, Limit } from '../options.ts';
import type { Owners } from '../owners.ts';
import { type Budget, type BudgetRefusal, createTally, isSpent } from './budget.ts';

/** Pods that a plan takes from one node; `undefined` when no entry limits them. */
export function perNode(
  entries: readonly BudgetOptions[],
  { home, nodes }: Pick<Cluster, 'home' | 'nodes'>,
): Budget | undefined {
  const nodeOf = (pod: PodIndex): NodeIndex => at(home, pod);
  return perKey(smallest(entries, 'perNode'), nodeOf, (node, taken, limit) => {
    const message = `the plan takes ${limit} pods from ${itemAt(nodes, node).name}, perNode allows no more`;
    return { code: 'PerNode', message, numbers: { taken, limit } };
  });
}

/** Pods of one namespace that a plan moves; `undefined` when no entry limits them. */
export function perNamespace(entries: readonly BudgetOptions[], pods: readonly PodInfo[]): Budget | undefined {
  const namespaceOf = (pod: PodIndex): string => itemAt(pods, pod).namespace;
  return perKey(smallest(entries, 'perNamespace'), namespaceOf, (namespace, moved, limit) => {
    const message = `the plan moves ${limit} pods of namespace ${namespace}, perNamespace allows no more`;
    return { code: 'PerNamespace', message, numbers: { moved, limit } };
  });
}

function smallest(entries: readonly BudgetOptions[], limit: 'perNode' | 'perNamespace'): number {
  return Math.min(Number.POSITIVE_INFINITY, ...entries.flatMap((entry) => entry[limit] ?? []));
}

/** As many pods of each key as the limit allows; `undefined` without a limit. */
function perKey<Key extends NodeIndex | string>(
  limit: number,
  keyOf: (pod: PodIndex) => Key,
  refusal: (key: Key, spent: number, limit: number) => BudgetRefusal,
): Budget | undefined {
  if (limit === Number.POSITIVE_INFINITY) {
    return undefined;
  }
  const tally = createTally<Key>();
  return {
    check: (pod) => {
      const spent = tally.of(keyOf(pod));
      return isSpent(spent, limit) ? refusal(keyOf(pod), spent, limit) : undefined;
    },
    spend: (pod) => tally.add(keyOf(pod)),
    refund: (pod) => tally.remove(keyOf(pod)),
  };
}

/** Keeps products such as 0.07 x 100 = 7.000000000000001 from being rounded up to 8. */
const ROUNDING = 1e-9;

/**
 * Pods of one controller that a plan moves, a share of its replicas rounded up; `undefined` when no entry limits them.
 */
export function perOwner(entries: readonly BudgetOptions[], owners: Owners): Budget | undefined {
  const limits = entries.flatMap((entry) => entry.perOwner ?? []);
  if (limits.length === 0) {
    return undefined;
  }
  const tally = createTally<OwnerIndex>();
  return {
    check: (pod) => {
      const owner = at(owners.ofPod, pod);
      const { ref, replicas } = itemAt(owners.list, owner);
      const limit = Math.min(...limits.map((entry) => countOf(entry, replicas)));
      const moved = tally.of(owner);
      if (!isSpent(moved, limit)) {
        return undefined;
      }
      const text = `${ref.kind} ${ref.name} with ${replicas} replicas has its ${limit} moves`;
      return { code: 'PerOwner', message: text, numbers: { moved, limit, replicas } };
    },
    spend: (pod) => tally.add(at(owners.ofPod, pod)),
    refund: (pod) => tally.remove(at(owners.ofPod, pod)),
  };
}

function countOf(limit: Limit, replicas: number): number {
  return limit.kind === 'Count' ? limit.count : Math.ceil(limit.share * replicas - ROUNDING);
}
