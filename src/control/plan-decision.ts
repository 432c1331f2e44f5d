import type { PlanPhase, RebalancePlan } from '../api/v1alpha1/rebalance-plan.ts';
import type { RebalancePolicy } from '../api/v1alpha1/rebalance-policy.ts';
import { openMoves } from '../execute/committed.ts';
import { entries } from '../execute/journal.ts';
import type { JournalEntry } from '../execute/move.ts';
import type { ClusterSnapshot } from '../model/snapshot.ts';
import type { Plan } from '../plan/plan.ts';

/** What becomes of the plan of a run. */
export type Proposal =
  /** Store it in this phase; open plans of the policy give way. */
  | { readonly kind: 'Store'; readonly phase: PlanPhase }
  /** An open plan stands for it already. */
  | { readonly kind: 'Keep'; readonly plan: RebalancePlan }
  /** Nothing is stored; open plans give way. */
  | { readonly kind: 'Drop' }
  /** Nothing is stored, and open plans stay. */
  | { readonly kind: 'Wait' };

/**
 * What becomes of a run's plan, by the policy's mode. `open` are the policy's plans that have not ended.
 * A plan that waits for approval is kept while its pods are where it says, so that people approve what they read; and one that is
 * being carried out while it would begin the same next. `stopped` is the last plan, if what has stopped it still holds: nothing is
 * gained by one that says the same.
 */
export function decide(
  policy: RebalancePolicy,
  plan: Plan,
  open: readonly RebalancePlan[],
  enough: boolean,
  snapshot: ClusterSnapshot,
  stopped?: RebalancePlan,
): Proposal {
  if (plan.outcome.kind === 'MetricsUnavailable' || plan.outcome.kind === 'MetricsIncomplete') {
    return { kind: 'Wait' };
  }
  if (plan.moves.length === 0) {
    return { kind: 'Drop' };
  }
  const current = open.find(({ spec }) => spec.policy.generation === policy.metadata.generation);
  switch (policy.spec.mode) {
    case 'DryRun':
      return current?.spec.hash === plan.hash ? { kind: 'Keep', plan: current } : { kind: 'Store', phase: 'Proposed' };
    case 'Approve':
      if (current !== undefined && stillApplies(current, snapshot)) {
        return { kind: 'Keep', plan: current };
      }
      return enough ? { kind: 'Store', phase: 'AwaitingApproval' } : { kind: 'Drop' };
    case 'Automatic': {
      const waiting = open.find(
        (known) => known.status?.phase === 'Executing' && isNext(plan, openMoves(known).pending),
      );
      if (waiting !== undefined) {
        return { kind: 'Keep', plan: waiting };
      }
      if (stopped !== undefined && isNext(plan, endedBeforeBegun(stopped))) {
        return { kind: 'Keep', plan: stopped };
      }
      return enough ? { kind: 'Store', phase: 'Executing' } : { kind: 'Drop' };
    }
    default:
      return policy.spec.mode satisfies never;
  }
}

function stillApplies({ spec, status }: RebalancePlan, snapshot: ClusterSnapshot): boolean {
  const nodeOf = new Map([...snapshot.pods, ...(snapshot.failedPods ?? [])].map((pod) => [pod.uid, pod.nodeName]));
  return status?.phase === 'AwaitingApproval' && spec.moves.every(({ pod, from }) => nodeOf.get(pod.uid) === from);
}

function endedBeforeBegun(plan: RebalancePlan): readonly JournalEntry[] {
  return entries(plan).filter(({ run }) => run.phase === 'Aborted');
}

/** Whether these are the moves of the plan, in its order. */
function isNext({ moves }: Plan, pending: readonly JournalEntry[]): boolean {
  return (
    moves.length === pending.length &&
    moves.every(({ pod, from, to }, place) => {
      const known = pending[place]?.move;
      return known?.pod.uid === pod.uid && known.from === from && known.to === to;
    })
  );
}
