import type { RebalancePlan } from '../../../src/api/v1alpha1/rebalance-plan.ts';
import type { RebalancePolicy } from '../../../src/api/v1alpha1/rebalance-policy.ts';
import type { Replacement } from '../../../src/execute/move.ts';
import type { PodInfo } from '../../../src/model/pod.ts';
import { seconds } from '../../../src/model/units.ts';

type PlannedMove = RebalancePlan['spec']['moves'][number];

/** The move of a pod to `to`. */
export function aMove({ namespace, name, uid, owner, nodeName }: PodInfo, to: string): PlannedMove {
  return {
    pod: { namespace, name, uid },
    owner: { kind: owner?.kind ?? '', name: owner?.name ?? '', uid: owner?.uid ?? '' },
    from: nodeName ?? '',
    to,
    load: '0.05',
    gain: '0.05',
    reason: 'a test wants it so',
  };
}

/** The pod leaves a node that has failed for `to`, once the moves at `after` have left their nodes. */
export function aFailover(pod: PodInfo, to: string, after: readonly number[] = []): PlannedMove {
  return { ...aMove(pod, to), failover: true, after: [...after] };
}

/** The pod goes back to the queue, so that another gets its room. */
export function aPreemption(pod: PodInfo): PlannedMove {
  const { to: _, ...rest } = aMove(pod, '');
  return rest;
}

/** The pod has failed, and is removed. */
export function aRemoval(pod: PodInfo): PlannedMove {
  return { ...aPreemption(pod), removal: true };
}

/** A pod at our gate is let through to `to`, once the moves at `after` have left their nodes. */
export function anAdmission(pod: PodInfo, to: string, after: readonly number[] = []): PlannedMove {
  const { from: _, ...rest } = aMove(pod, to);
  return { ...rest, after: [...after] };
}

/** A plan of `policy` in phase Executing, nothing done yet. */
export function aPlan(
  policy: RebalancePolicy,
  moves: readonly PlannedMove[],
  status: NonNullable<RebalancePlan['status']> = {},
): RebalancePlan {
  const { name, uid = '', generation = 0 } = policy.metadata;
  return {
    apiVersion: 'evenkeel.dev/v1alpha1',
    kind: 'RebalancePlan',
    metadata: { name: `${name}-0123456789` },
    spec: {
      policy: { name, uid, generation },
      strategy: 'RefineLB',
      takenAt: '2026-01-01T11:59:00Z',
      outcome: 'Moves',
      message: 'moves',
      hash: '0123456789abcdef',
      approved: false,
      moves: [...moves],
      rejections: [],
      rejectionCounts: {},
    },
    status: { phase: 'Executing', ...status },
  };
}

/** A pod without a node that a controller made in the place of another a moment ago. */
export function aReplacement(fields: Partial<Replacement> = {}): Replacement {
  return {
    name: 'new',
    uid: 'new',
    node: undefined,
    available: false,
    readySince: undefined,
    age: seconds(0),
    waiting: undefined,
    miss: undefined,
    ...fields,
  };
}
