import type { Cluster } from '../cluster.ts';
import type { BudgetOptions } from '../options.ts';
import { type Budget, createTally, isSpent } from './budget.ts';

/** Pods that a plan takes from one node; `undefined` when no entry limits them. */
export function perNode(
  entries: readonly BudgetOptions[],
  { home, nodes }: Pick<Cluster, 'home' | 'nodes'>,
): Budget | undefined {
  const limit = Math.min(Number.POSITIVE_INFINITY, ...entries.flatMap((entry) => entry.perNode ?? []));
  if (limit === Number.POSITIVE_INFINITY) {
    return undefined;
  }
  const tally = createTally<number>();
  const nodeOf = (pod: number): number => home[pod] ?? -1;
  return {
    reach: 'Node',
    check: (pod) => {
      const taken = tally.of(nodeOf(pod));
      if (!isSpent(taken, limit)) {
        return undefined;
      }
      const message = `the plan takes ${limit} pods from ${nodes[nodeOf(pod)]?.name}, perNode allows no more`;
      return { code: 'PerNode', message, numbers: { taken, limit } };
    },
    spend: (pod) => tally.add(nodeOf(pod)),
    refund: (pod) => tally.remove(nodeOf(pod)),
  };
}
