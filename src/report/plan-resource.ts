import {
  MAX_MESSAGE,
  MAX_NAMED_NODES,
  MAX_NEEDS,
  type PlanPhase,
  type RebalancePlan,
  type RebalancePlanStatus,
} from '../api/v1alpha1/rebalance-plan.ts';
import type { ImbalanceStatus, RebalancePolicy } from '../api/v1alpha1/rebalance-policy.ts';
import { REPAIR_NAMES } from '../api/v1alpha1/repair.ts';
import { API_VERSION } from '../api/v1alpha1/schema.ts';
import { formatDecimal } from '../model/decimal.ts';
import { escapeText } from '../model/escape.ts';
import { formatInstant } from '../model/instant.ts';
import { kindOf } from '../model/move.ts';
import type { PodInfo } from '../model/pod.ts';
import type { ClusterSnapshot } from '../model/snapshot.ts';
import { count, roundPercent } from '../plan/format.ts';
import { labelsHash } from '../plan/hash.ts';
import { controllerAbove } from '../plan/owners.ts';
import { removableText } from '../plan/pack/report.ts';
import type { Imbalance, ImbalanceByResource, Move, PackingReport, Plan, Rejection, Rejections } from '../plan/plan.ts';
import { isBudgetCode } from '../plan/rejection-codes.ts';
import { countCodes, listRejections } from '../plan/rejections.ts';
import { trafficChange, trafficSpec } from './plan-traffic.ts';

/** Label that names a plan's policy. */
const POLICY_LABEL = 'evenkeel.dev/policy';

const NO_OBJECTS: Pick<ClusterSnapshot, 'pods' | 'workloads'> = { pods: [], workloads: new Map() };

/**
 * The RebalancePlan that says what `plan` says: the same from the operator and from the command line. `attempt` above 1 tells
 * apart plans with equal moves; of the snapshot come the labels of the pods, which the live check compares, and their workloads.
 */
export function toRebalancePlan(
  plan: Plan,
  policy: RebalancePolicy,
  attempt = 1,
  { pods, failedPods = [], workloads }: Pick<ClusterSnapshot, 'pods' | 'failedPods' | 'workloads'> = NO_OBJECTS,
): RebalancePlan {
  const { name, uid = '', generation = 0 } = policy.metadata;
  const hashOf = labelsHashes(plan, [...pods, ...failedPods]);
  return {
    apiVersion: API_VERSION,
    kind: 'RebalancePlan',
    metadata: { name: planName(name, plan.hash, attempt), ...belonging(policy) },
    spec: {
      policy: { name, uid, generation },
      strategy: plan.strategy,
      takenAt: formatInstant(plan.takenAt),
      outcome: plan.outcome.kind,
      message: outcomeMessage(plan),
      ...(plan.expectedHitRatio === undefined ? {} : { expectedHitRatio: formatDecimal(plan.expectedHitRatio) }),
      hash: plan.hash,
      approved: false,
      moves: plan.moves.map((move) => moveSpec(move, hashOf.get(move.pod.uid), workloads)),
      ...(plan.packing === undefined ? {} : { packing: packingSpec(plan.packing) }),
      ...(plan.traffic === undefined ? {} : { traffic: trafficSpec(plan.traffic) }),
      rejections: examplesOf(plan.rejections).map(rejectionSpec),
      rejectionCounts: rejectionCounts(plan.rejections),
    },
    status: { imbalance: imbalanceStatus(plan) },
  };
}

/** `policy-0123456789`, with a suffix from the second attempt on; at most 253 characters. */
export function planName(policy: string, hash: string, attempt: number): string {
  return `${policy.slice(0, 230)}-${hash.slice(0, 10)}${attempt > 1 ? `-${attempt}` : ''}`;
}

/**
 * The policy as a label, and not as an owner: the garbage collector would delete a plan with its policy while moves are in
 * flight, and the journal with it. The operator deletes plans without a policy, once their moves have ended.
 */
function belonging({ metadata }: RebalancePolicy): Partial<RebalancePlan['metadata']> {
  return metadata.uid === undefined
    ? {}
    : { labels: { [POLICY_LABEL]: metadata.name.slice(0, 63).replace(/[^a-z0-9]+$/, '') } };
}

function labelsHashes({ moves }: Plan, pods: readonly PodInfo[]): ReadonlyMap<string, string> {
  const moved = new Set(moves.map(({ pod }) => pod.uid));
  return new Map(pods.filter(({ uid }) => moved.has(uid)).map(({ uid, labels }) => [uid, labelsHash(labels)]));
}

function moveSpec(
  move: Move,
  hash: string | undefined,
  workloads: ClusterSnapshot['workloads'],
): RebalancePlan['spec']['moves'][number] {
  const { pod, owner, from, to, fallbacks, load, gain, cost, reason, repairs, after, partner, application } = move;
  const top = controllerAbove(workloads.get(owner.uid), workloads);
  return {
    pod: { namespace: pod.namespace, name: pod.name, uid: pod.uid },
    owner: { kind: owner.kind, name: owner.name, uid: owner.uid },
    ...(top === undefined ? {} : { workload: { kind: top.kind, name: top.name, uid: top.uid } }),
    ...(hash === undefined ? {} : { labelsHash: hash }),
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
    ...(kindOf(move) === 'Failover' ? { failover: true } : {}),
    ...(kindOf(move) === 'Removal' ? { removal: true } : {}),
    ...(fallbacks.length === 0 ? {} : { fallbacks: [...fallbacks] }),
    load: formatDecimal(load),
    gain: formatDecimal(gain),
    cost: formatDecimal(cost),
    reason: escapeText(reason).slice(0, 512),
    ...(repairs.length === 0 ? {} : { repairs: [...repairs] }),
    ...(move.makesRoomFor === undefined ? {} : { makesRoomFor: move.makesRoomFor }),
    ...(after.length === 0 ? {} : { after: after.slice(-MAX_NEEDS) }),
    ...(partner === undefined ? {} : { partner }),
    ...(application === undefined ? {} : { application }),
  };
}

function packingSpec({ emptied, removable, kept }: PackingReport): NonNullable<RebalancePlan['spec']['packing']> {
  return {
    emptied: [...emptied],
    removable: removable.slice(0, MAX_NAMED_NODES),
    removableTotal: removable.length,
    kept: kept.slice(0, MAX_NAMED_NODES).map(({ node, pod, reason: { code, message } }) => ({
      node,
      ...(pod === undefined ? {} : { pod: { namespace: pod.namespace, name: pod.name, uid: pod.uid } }),
      code,
      message: escapeText(message).slice(0, 512),
    })),
  };
}

/** Rejections that are stored: every write of the journal writes the whole plan, and `explain` works all of them out anew. */
const EXAMPLES = 50;

/** At most EXAMPLES rejections in the order of the pods, as many of each code as there is room for. */
function examplesOf(rejections: Rejections): readonly Rejection[] {
  const { reasons } = rejections;
  const byCode = [...Map.groupBy(reasons.keys(), (place) => reasons[place]?.code).values()];
  const chosen: number[] = [];
  for (let round = 0; chosen.length < Math.min(EXAMPLES, reasons.length); round += 1) {
    chosen.push(...byCode.flatMap((places) => places[round] ?? []));
  }
  const places = chosen.slice(0, EXAMPLES).sort((left, right) => left - right);
  return listRejections({
    pods: places.flatMap((place) => rejections.pods[place] ?? []),
    reasons: places.flatMap((place) => reasons[place] ?? []),
  });
}

function rejectionSpec({ pod, code, message, numbers }: Rejection): RebalancePlan['spec']['rejections'][number] {
  const entries = Object.entries(numbers).map(([name, value]) => [name, formatDecimal(value)] as const);
  return {
    pod: { namespace: pod.namespace, name: pod.name, uid: pod.uid },
    code,
    message: escapeText(message).slice(0, 512),
    numbers: Object.fromEntries(entries),
  };
}

function rejectionCounts({ reasons }: Rejections): Record<string, number> {
  return Object.fromEntries(countCodes(reasons).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** The outcome in one sentence, with the budgets that kept pods from being moved as well. */
export function outcomeMessage(plan: Plan): string {
  const { outcome, moves, spread } = plan;
  if (outcome.kind !== 'Moves') {
    return outcome.message;
  }
  const obstacle = outcome.obstacle === undefined ? '' : `; ${outcome.obstacle}`;
  if (plan.packing !== undefined) {
    const { emptied, removable } = plan.packing;
    const verb = moves.length === 1 ? 'empties' : 'empty';
    const names = emptied.length === 0 ? '' : ` ${verb} ${count(emptied.length, 'node')} (${firstOf(emptied)})`;
    const effect = `${count(moves.length, 'move')}${names}: ${removableText(removable.length)}`;
    return `${effect}${roomNote(plan)}${repairNote(plan)}${budgetNote(plan)}${obstacle}`.slice(0, MAX_MESSAGE);
  }
  if (plan.traffic !== undefined) {
    const effect = `${count(moves.length, 'move')} ${trafficChange(plan.traffic, moves.length === 1)}`;
    return `${effect}${roomNote(plan)}${repairNote(plan)}${budgetNote(plan)}${obstacle}`.slice(0, MAX_MESSAGE);
  }
  const isMeasured = Object.keys(plan.imbalance.before).length > 0;
  const effect = isMeasured ? ` ${spreadChange(spread, moves.length === 1)}` : '';
  const all = count(moves.length, 'move');
  return `${all}${effect}${roomNote(plan)}${repairNote(plan)}${budgetNote(plan)}${obstacle}`.slice(0, MAX_MESSAGE);
}

/** What one move or several do to the spread: `narrow the spread from 40 % to 31 %`. */
function spreadChange({ before, planned }: Plan['spread'], isOne: boolean): string {
  const [from, to] = [roundPercent(before), roundPercent(planned)];
  const verb = from === to ? 'leave' : planned < before ? 'narrow' : 'widen';
  return `${verb}${isOne ? 's' : ''} the spread ${from === to ? `at ${to}` : `from ${from} to ${to}`}`;
}

/** Nodes that are named in a sentence. */
const FEW_NODES = 5;

function firstOf(names: readonly string[]): string {
  const more = names.length > FEW_NODES ? ' and more' : '';
  return `${names.slice(0, FEW_NODES).join(', ')}${more}`;
}

/** `; 3 moves make room for 2 pinned pods`; empty without any. */
function roomNote({ moves }: Plan): string {
  const making = moves.flatMap(({ makesRoomFor }) => makesRoomFor ?? []);
  const verb = making.length === 1 ? 'makes' : 'make';
  return making.length === 0
    ? ''
    : `; ${count(making.length, 'move')} ${verb} room for ${count(new Set(making).size, 'pinned pod')}`;
}

/** `; 3 repairs: Taints 2, TopologySpread 1`; empty without any. */
function repairNote({ moves }: Plan): string {
  const named = moves.filter(({ repairs }) => repairs.length > 0);
  const counts = REPAIR_NAMES.flatMap((name) => {
    const times = named.filter(({ repairs }) => repairs.includes(name)).length;
    return times === 0 ? [] : [`${name} ${times}`];
  });
  return named.length === 0 ? '' : `; ${count(named.length, 'repair')}: ${counts.join(', ')}`;
}

/** `; budgets block 12 more pods: MaxMoves 10, PerNode 2`; empty when they block none. */
export function budgetNote({ rejections }: Plan): string {
  const refused = rejections.reasons.filter(({ code }) => isBudgetCode(code));
  const parts = countCodes(refused).map(([code, times]) => `${code} ${times}`);
  const verb = parts.length === 1 ? 'a budget blocks' : 'budgets block';
  return refused.length === 0 ? '' : `; ${verb} ${count(refused.length, 'more pod')}: ${parts.join(', ')}`;
}

/** Imbalance before and as planned, as decimal strings. */
export function imbalanceStatus({ imbalance }: Plan): ImbalanceStatus {
  return { before: byResource(imbalance.before), planned: byResource(imbalance.planned) };
}

/** Imbalance of each resource as decimal strings. */
export function byResource(measured: ImbalanceByResource): NonNullable<ImbalanceStatus['before']> {
  return Object.fromEntries(Object.entries(measured).map(([resource, imbalance]) => [resource, decimals(imbalance)]));
}

function decimals({ mean, ema, stddev, range, max }: Imbalance): NonNullable<ImbalanceStatus['before']>[string] {
  return {
    mean: formatDecimal(mean),
    ema: formatDecimal(ema),
    stddev: formatDecimal(stddev),
    range: formatDecimal(range),
    max: formatDecimal(max),
  };
}

/** The plan as it enters a phase for the first time. */
export function inPhase(plan: RebalancePlan, phase: PlanPhase, status: Partial<RebalancePlanStatus>): RebalancePlan {
  return { ...plan, status: { ...plan.status, ...status, phase } };
}
