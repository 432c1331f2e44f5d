import type { MoveUnderWay } from '../../model/past-move.ts';
import type { PodInfo } from '../../model/pod.ts';
import type { ClusterSnapshot } from '../../model/snapshot.ts';
import { type EpochSeconds, seconds } from '../../model/units.ts';
import { NO_COOLDOWNS } from '../budgets/cooldown.ts';
import { budgetsInForce } from '../budgets/in-force.ts';
import { removalBudgets } from '../budgets/index.ts';
import { failedPodProtections, type ProtectionContext } from '../budgets/protections.ts';
import { itemAt, type NodeIndex } from '../indices.ts';
import type { PolicyOptions, RepairOptions } from '../options.ts';
import { locatePods, sortPods } from '../order.ts';
import { indexOwners, type Owners, ownerOf } from '../owners.ts';
import type { Reason, Rejections, Removal, Transfer } from '../plan.ts';
import type { PlanningInput } from '../planning-input.ts';
import { sortIntoKinds } from '../pod-kinds.ts';
import { scopeTest } from '../scope.ts';
import { failedClause } from './failed.ts';
import type { Finding } from './finding.ts';
import { lifetimeClause } from './max-lifetime.ts';

/** What a plan does about pods in phase Failed. */
export interface RemovalStage {
  readonly moves: readonly Removal[];
  /** Those that the policy would remove, and that stay. */
  readonly kept: Rejections;
}

/** What is wrong with a pod in phase Failed. */
function findingsOfFailed(
  pod: PodInfo,
  { failed, maxLifetime }: Pick<RepairOptions, 'failed' | 'maxLifetime'>,
  now: EpochSeconds,
): readonly Finding[] {
  const old = maxLifetime?.states === undefined ? undefined : lifetimeClause(pod, maxLifetime, now);
  const over = failed && failedClause(pod, failed, now);
  return [
    ...(over === undefined ? [] : [{ rule: 'Failed', detail: over } as const]),
    ...(old === undefined ? [] : [{ rule: 'MaxLifetime', detail: old } as const]),
  ];
}

/** A failed pod that the policy would remove. */
export interface FailedSuspect {
  readonly pod: PodInfo;
  readonly findings: readonly Finding[];
  /** What holds it whatever the budgets; `undefined`: it may be removed. */
  readonly hold: Reason | undefined;
}

/** The failed pods in scope that a repair is about, the oldest first. */
export function failedSuspects(
  snapshot: ClusterSnapshot,
  repair: RepairOptions,
  { scope, protections }: PolicyOptions,
): readonly FailedSuspect[] {
  const pods = sortPods(snapshot.failedPods ?? []);
  const owners = ownersOf(pods, snapshot);
  const isInScope = scopeTest(scope, snapshot);
  const context = contextOf(snapshot, protections);
  return [...pods.keys()]
    .flatMap((place): readonly FailedSuspect[] => {
      const pod = itemAt(pods, place);
      const findings =
        pod.nodeName !== undefined && isInScope(pod) ? findingsOfFailed(pod, repair, snapshot.takenAt) : [];
      const [hold] = findings.length === 0 ? [] : failedPodProtections(pod, ownerOf(owners, place), context);
      return findings.length === 0 ? [] : [{ pod, findings, hold }];
    })
    .sort((left, right) => left.pod.createdAt - right.pod.createdAt);
}

/**
 * Removes the failed pods that the policy is about, as far as budgets allow that beside what is `planned` already: a removal counts
 * like any eviction, but costs no service.
 */
export function removeFailed(
  { snapshot, history, subjects }: PlanningInput,
  policy: PolicyOptions,
  repair: RepairOptions,
  planned: readonly Transfer[],
): RemovalStage {
  const suspects = failedSuspects(snapshot, repair, policy);
  const pods = suspects.map(({ pod }) => pod);
  const { nodes } = subjects;
  const owners = ownersOf(pods, snapshot);
  const entries = budgetsInForce(policy.budgets, snapshot.takenAt);
  const underWay = [...history.underWay, ...planned.map(asUnderWay)];
  const budgets = removalBudgets(entries, { pods, nodes, owners, home: locatePods<NodeIndex>(pods, nodes) }, underWay);
  const moves: Removal[] = [];
  const kept = { pods: [] as PodInfo[], reasons: [] as Reason[] };
  suspects.forEach(({ pod, findings, hold }, place) => {
    const refusal = hold ?? budgets.check(place);
    if (refusal === undefined && pod.owner !== undefined && pod.nodeName !== undefined) {
      budgets.spend(place);
      moves.push(removalOf(pod, pod.owner, pod.nodeName, findings));
    } else if (refusal !== undefined) {
      const { code, message, numbers } = refusal;
      kept.pods.push(pod);
      kept.reasons.push({ code, message: `${clausesIn(findings)}; ${message}`, numbers });
    }
  });
  return { moves, kept };
}

/** How a move counts against the budgets of what is planned after it. */
export function asUnderWay({ pod, owner, from }: Transfer | Removal): MoveUnderWay {
  const { namespace, uid } = pod;
  return { purpose: `move of ${uid}`, from, namespace, owner: owner.uid, isSent: false, cost: seconds(0) };
}

function removalOf(
  { namespace, name, uid }: PodInfo,
  owner: NonNullable<PodInfo['owner']>,
  from: string,
  findings: readonly Finding[],
): Removal {
  return {
    pod: { namespace, name, uid },
    owner: { kind: owner.kind, name: owner.name, uid: owner.uid },
    from,
    to: undefined,
    removal: true,
    load: 0,
    gain: 0,
    fallbacks: [],
    cost: seconds(0),
    reason: clausesIn(findings),
    repairs: findings.map(({ rule }) => rule),
    after: [],
    partner: undefined,
  };
}

function clausesIn(findings: readonly Finding[]): string {
  return findings.map(({ detail }) => detail).join('; ');
}

function ownersOf(pods: readonly PodInfo[], { workloads }: ClusterSnapshot): Owners {
  return indexOwners(sortIntoKinds(pods), workloads);
}

/** What the rules about failed pods do not ask for says nothing. */
function contextOf({ takenAt, storage }: ClusterSnapshot, options: PolicyOptions['protections']): ProtectionContext {
  const guards = { storage, isCovered: () => true };
  return { options, now: takenAt, rollout: () => undefined, cooldowns: NO_COOLDOWNS, guards };
}
