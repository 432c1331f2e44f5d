import type { PodInfo } from '../../model/pod.ts';
import type { BudgetOptions } from '../options.ts';
import { type Budget, createTally, isSpent } from './budget.ts';

/** Pods of one namespace that a plan moves; `undefined` when no entry limits them. */
export function perNamespace(entries: readonly BudgetOptions[], pods: readonly PodInfo[]): Budget | undefined {
  const limit = Math.min(Number.POSITIVE_INFINITY, ...entries.flatMap((entry) => entry.perNamespace ?? []));
  if (limit === Number.POSITIVE_INFINITY) {
    return undefined;
  }
  const tally = createTally<string>();
  const namespaceOf = (pod: number): string => pods[pod]?.namespace ?? '';
  return {
    reach: 'Pod',
    check: (pod) => {
      const moved = tally.of(namespaceOf(pod));
      if (!isSpent(moved, limit)) {
        return undefined;
      }
      const message = `the plan moves ${limit} pods of namespace ${namespaceOf(pod)}, perNamespace allows no more`;
      return { code: 'PerNamespace', message, numbers: { moved, limit } };
    },
    spend: (pod) => tally.add(namespaceOf(pod)),
    refund: (pod) => tally.remove(namespaceOf(pod)),
  };
}
