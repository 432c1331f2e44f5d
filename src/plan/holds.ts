import type { PodInfo } from '../model/pod.ts';
import type { ClusterSnapshot } from '../model/snapshot.ts';
import type { BudgetRefusal } from './budgets/budget.ts';
import type { Cooldowns } from './budgets/cooldown.ts';
import { type PdbLookup, pdbHold } from './budgets/pod-disruption-budget.ts';
import { type Protection, protectionOf } from './budgets/protections.ts';
import { rolloutTest } from './budgets/rollout.ts';
import type { PolicyOptions } from './options.ts';
import type { Owners } from './owners.ts';
import { scopeTest } from './scope.ts';

/** Why no plan moves a pod: a protection, or a PodDisruptionBudget that allows nothing. */
export type Hold = Protection | BudgetRefusal;

/** What can be said of the pods before anything is known of loads. Pods are named by their place. */
export interface Holds {
  /** 1 for the pods that the policy is about. */
  readonly inScope: Uint8Array;
  /** Of pods in scope. */
  readonly of: (pod: number) => Hold | undefined;
}

/** Judges every pod once. */
export function findHolds(
  snapshot: ClusterSnapshot,
  pods: readonly PodInfo[],
  owners: Owners,
  pdbs: PdbLookup,
  { scope, protections }: PolicyOptions,
  cooldowns: Cooldowns,
): Holds {
  const isInScope = scopeTest(scope, snapshot);
  const rollout = rolloutTest(snapshot, protections.stabilization);
  const context = { options: protections, now: snapshot.takenAt, rollout, cooldowns };
  const inScope = new Uint8Array(pods.length);
  const holds: (Hold | undefined)[] = pods.map((pod, place) => {
    if (!isInScope(pod)) {
      return undefined;
    }
    inScope[place] = 1;
    return protectionOf(pod, owners.list[owners.ofPod[place] ?? -1], context) ?? pdbHold(pdbs(pod));
  });
  return { inScope, of: (pod) => holds[pod] };
}
