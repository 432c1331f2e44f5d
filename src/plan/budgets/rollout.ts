import type { ClusterSnapshot } from '../../model/snapshot.ts';
import { type EpochSeconds, elapsed, type Seconds } from '../../model/units.ts';
import type { WorkloadInfo } from '../../model/workload.ts';
import { inSeconds } from '../format.ts';
import type { Owner } from '../owners.ts';

/** Why a controller is left alone. */
export interface Unrest {
  readonly code: 'Rollout';
  readonly message: string;
  readonly numbers: Readonly<Record<string, number>>;
}

/** What the judgement is made by. */
export interface RolloutContext {
  /** `protections.stabilization`; 0 switches the rule off. */
  readonly stabilization: Seconds;
  readonly now: EpochSeconds;
  /**
   * Whether the replicas in its status count. Not within a plan that is being carried out: there they say what its own
   * evictions have done, and lag behind the pods.
   */
  readonly countsReplicas: boolean;
  /** Creation of the newest pod of a controller, by uid, that is not the replacement of a move. */
  readonly newestPod: (owner: string) => EpochSeconds | undefined;
}

/** `rolloutOf` as the snapshot has it, judged once per controller; pods of one controller mostly come in a row. */
export function rolloutTest(snapshot: ClusterSnapshot, stabilization: Seconds): (owner: Owner) => Unrest | undefined {
  const known = new Map<Owner, Unrest | undefined>();
  let last: { readonly owner: Owner; readonly unrest: Unrest | undefined } | undefined;
  const newest = newestPods(snapshot, stabilization);
  const context: RolloutContext = {
    stabilization,
    now: snapshot.takenAt,
    countsReplicas: true,
    newestPod: (owner) => newest.get(owner),
  };
  return (owner) => {
    if (last?.owner !== owner) {
      const unrest = known.has(owner) ? known.get(owner) : rolloutOf(owner, context);
      known.set(owner, unrest);
      last = { owner, unrest };
    }
    return last.unrest;
  };
}

/** By uid of the controller, of pods younger than `stabilization` that did not come by a move of ours. */
function newestPods(
  { pods, pastMoves, takenAt }: ClusterSnapshot,
  stabilization: Seconds,
): ReadonlyMap<string, EpochSeconds> {
  const replacements = new Set(pastMoves.flatMap(({ replacement }) => replacement?.uid ?? []));
  const newest = new Map<string, EpochSeconds>();
  for (const { owner, uid, createdAt } of pods) {
    const isYoung = owner !== undefined && createdAt > takenAt - stabilization;
    if (isYoung && createdAt > (newest.get(owner.uid) ?? Number.NEGATIVE_INFINITY) && !replacements.has(uid)) {
      newest.set(owner.uid, createdAt);
    }
  }
  return newest;
}

/**
 * Why a controller is left alone (execution.md, anti-thrash: owners with a rollout or a scale change under 10 minutes
 * old): it, or the Deployment above it, has not reached its spec, or changed less than `stabilization` ago. A change is
 * its creation, which of a ReplicaSet is a rollout; an update of a Deployment's condition Progressing, which only rollouts
 * and rollbacks bring about (deployment controller, syncRolloutStatus); and a pod younger than its controller that no
 * plan asked for: a scale-up, or somebody else who moves pods. A scale-down that is over leaves no trace in objects as
 * `kubectl get -o yaml` prints them (metadata.managedFields would have it), and counts only while it lasts.
 */
export function rolloutOf(owner: Owner, context: RolloutContext): Unrest | undefined {
  if (!(context.stabilization > 0)) {
    return undefined;
  }
  return (
    (owner.top === undefined ? undefined : unrestOf(owner.top, context)) ??
    (owner.workload === undefined
      ? undefined
      : (unrestOf(owner.workload, context) ?? scaledUp(owner.workload, context)))
  );
}

function unrestOf(workload: WorkloadInfo, context: RolloutContext): Unrest | undefined {
  const name = `${workload.kind} ${workload.name}`;
  const age = elapsed(workload.changedAt, context.now);
  return (
    short(workload, name, context) ??
    (age < context.stabilization ? recent(`${name} changed`, age, context) : undefined)
  );
}

function short({ rollout, replicas = 0 }: WorkloadInfo, name: string, context: RolloutContext): Unrest | undefined {
  if (rollout === undefined) {
    return undefined;
  }
  const { observed, updated, toUpdate, current, ready, available } = rollout;
  if (!observed) {
    return {
      code: 'Rollout',
      message: `the controller of ${name} has not seen its newest spec`,
      numbers: { replicas },
    };
  }
  if (!context.countsReplicas) {
    return undefined;
  }
  if (updated !== undefined && updated < toUpdate) {
    return {
      code: 'Rollout',
      message: `${name}: ${updated} of ${toUpdate} replicas are updated`,
      numbers: { updated, toUpdate },
    };
  }
  if (current !== replicas) {
    return {
      code: 'Rollout',
      message: `${name} has ${current} of ${replicas} replicas`,
      numbers: { current, replicas },
    };
  }
  const least = Math.min(ready, available);
  return least >= replicas
    ? undefined
    : {
        code: 'Rollout',
        message: `${name}: ${ready} of ${replicas} replicas are ready, ${available} available`,
        numbers: { ready, available, replicas },
      };
}

function scaledUp({ kind, name, uid, changedAt }: WorkloadInfo, context: RolloutContext): Unrest | undefined {
  const newest = context.newestPod(uid);
  const age = newest === undefined ? Number.POSITIVE_INFINITY : elapsed(newest, context.now);
  return newest !== undefined && newest > changedAt && age < context.stabilization
    ? recent(`${kind} ${name} got a pod that no plan asked for`, age, context)
    : undefined;
}

function recent(what: string, age: number, { stabilization }: RolloutContext): Unrest {
  const known = Math.max(0, Math.round(age));
  const message = `${what} ${inSeconds(known)} ago, protections.stabilization is ${inSeconds(stabilization)}`;
  return {
    code: 'Rollout',
    message,
    numbers: { age: known, stabilization, remaining: Math.ceil(stabilization - known) },
  };
}
