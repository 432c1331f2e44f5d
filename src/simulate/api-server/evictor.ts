import { matches } from '../../model/selector.ts';
import type { EvictionAnswer, Evictor } from '../../ports.ts';
import type { Cluster } from '../cluster.ts';
import type { SimulatedPod } from '../world.ts';

/** Answers evictions as registry/core/pod does. `accepted` is told of each one, before the pod begins to go. */
export function createEvictor(cluster: Cluster, accepted: (pod: SimulatedPod) => void): Evictor {
  const { world } = cluster;
  return {
    async evict(ref, { dryRun }) {
      const pod = world.podOf(ref.uid);
      if (pod === undefined) {
        return { kind: 'Gone' };
      }
      const answer = pod.info.terminating ? ({ kind: 'Accepted' } as const) : answerTo(pod, cluster);
      if (answer.kind === 'Accepted' && !dryRun && !pod.info.terminating) {
        accepted(pod);
        cluster.terminate(pod);
      }
      return answer;
    },
  };
}

function answerTo({ info: { namespace, labels, ready } }: SimulatedPod, { world }: Cluster): EvictionAnswer {
  const budgets = world
    .pdbs()
    .filter((pdb) => pdb.namespace === namespace && pdb.selector !== undefined && matches(pdb.selector, labels));
  const [budget] = budgets;
  if (budgets.length > 1) {
    return {
      kind: 'Refused',
      message: 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    };
  }
  if (budget === undefined || budget.disruptionsAllowed > 0 || (!ready && budget.allowsUnready)) {
    return { kind: 'Accepted' };
  }
  const { healthy, needed } = budget.health ?? { healthy: 0, needed: 1 };
  const message = `The disruption budget ${budget.name} needs ${needed} healthy pods and has ${healthy} currently`;
  return { kind: 'RefusedByBudget', message };
}
