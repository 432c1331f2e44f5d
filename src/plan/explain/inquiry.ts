import { kindOf } from '../../model/move.ts';
import type { NodeInfo } from '../../model/node.ts';
import type { OwnerRef, PodInfo, PodRef } from '../../model/pod.ts';
import type { ClusterSnapshot } from '../../model/snapshot.ts';
import { budgetsInForce } from '../budgets/in-force.ts';
import { type Budgets, createBudgets } from '../budgets/index.ts';
import type { Cluster } from '../cluster.ts';
import { describeRefusal, refusalNumbers } from '../filters/refusal.ts';
import { at, itemAt, type PodIndex, type SiteIndex } from '../indices.ts';
import { toFraction } from '../load.ts';
import type { PolicyOptions } from '../options.ts';
import { ownerOf } from '../owners.ts';
import type { Plan, Reason } from '../plan.ts';
import { planFrom } from '../planner.ts';
import { clusterOf, isFree, metricsProblem, type PlanningInput, planningInputOf } from '../planning-input.ts';
import type { FilterName } from '../rejection-codes.ts';
import { NO_USAGE, onAbsentNode } from '../rejections.ts';
import type { Finding } from '../repair/finding.ts';
import { type FailedSuspect, failedSuspects } from '../repair/removals.ts';
import { findings } from '../repair/violations.ts';
import { initialState, type State } from '../state.ts';
import { STRATEGY_TRAITS } from '../strategies/traits.ts';
import { refusalsAt } from '../verdicts.ts';

/** Why a filter refuses a pod on a node. */
export interface FilterRejection {
  readonly filter: FilterName;
  /** A clause without a subject, such as `is cordoned`. */
  readonly message: string;
  /** The numbers of the message, by name, base units. */
  readonly numbers: Readonly<Record<string, number>>;
}

/** What the plan of this moment does with a pod. */
export type Decision =
  | { readonly kind: 'Moves'; readonly to: string | undefined; readonly gain: number; readonly message: string }
  /** It has failed. */
  | { readonly kind: 'Removed'; readonly message: string }
  | ({ readonly kind: 'Stays' } & Reason)
  | { readonly kind: 'NotConsidered' };

/** How a pod stands towards any plan and this one. */
export interface PodStanding {
  readonly pod: PodRef;
  readonly owner: OwnerRef | undefined;
  /** Node that it is bound to. */
  readonly node: string | undefined;
  /** Its phase is Failed. */
  readonly failed: boolean;
  /** Whether a strategy may propose to move it, or a repair may move or remove it. */
  readonly movable: boolean;
  /** Everything that keeps it where it is whatever the balance and the rules that it violates; empty when it is movable. */
  readonly protections: readonly Reason[];
  /** The rules of `spec.repair` that it violates. */
  readonly violations: readonly Finding[];
  /** What it adds to the load of its node, a fraction of that node's allocatable; `undefined`: not known. */
  readonly load: number | undefined;
  readonly decision: Decision;
}

/** A snapshot, looked at in all detail for one policy. Nodes and pods are named by their place. */
export interface Inquiry {
  readonly planningInput: PlanningInput;
  readonly cluster: Cluster;
  /** As the snapshot has it. */
  readonly state: State;
  /** Unspent. */
  readonly budgets: Budgets;
  readonly plan: Plan;
  /** Why loads are not known; `undefined` when they are. */
  readonly unmeasured: string | undefined;
  readonly standingOf: (pod: PodIndex) => PodStanding;
  /** Failed pods that the policy would remove, in the order in which they are removed. */
  readonly failed: readonly PodStanding[];
}

type Known = Omit<Inquiry, 'standingOf' | 'failed'>;

/** Plans, and keeps what the plan was made from. */
export function inquire(snapshot: ClusterSnapshot, options: PolicyOptions): Inquiry {
  const planningInput = planningInputOf(snapshot, options);
  const cluster = clusterOf(planningInput, options);
  const state = initialState(cluster);
  const entries = budgetsInForce(options.budgets, snapshot.takenAt);
  const budgets = createBudgets(entries, cluster, planningInput.pdbs, planningInput.history);
  const problem = metricsProblem(planningInput, options);
  const known = {
    planningInput,
    cluster,
    state,
    budgets,
    plan: planFrom(planningInput, options),
    unmeasured: problem?.message,
  };
  const decisionOf = createDecisions(known.plan);
  const findingsOf = findings(planningInput, options);
  const suspects = options.repair === undefined ? [] : failedSuspects(snapshot, options.repair, options);
  return {
    ...known,
    standingOf: (pod) => standing(known, pod, findingsOf(pod), decisionOf),
    failed: suspects.map((suspect) => standingOfFailed(suspect, decisionOf)),
  };
}

function standingOfFailed({ pod, findings: violations, hold }: FailedSuspect, decisionOf: Decisions): PodStanding {
  const { namespace, name, uid, owner, nodeName } = pod;
  return {
    pod: { namespace, name, uid },
    owner,
    node: nodeName,
    failed: true,
    movable: hold === undefined,
    protections: hold === undefined ? [] : [hold],
    violations,
    load: undefined,
    decision: decisionOf(pod),
  };
}

type Decisions = (pod: PodInfo) => Decision;

function createDecisions({ moves, rejections }: Plan): Decisions {
  const moved = new Map(moves.map((move) => [move.pod.uid, move]));
  const stays = new Map(rejections.pods.map(({ uid }, position) => [uid, rejections.reasons[position]]));
  return ({ uid }) => {
    const move = moved.get(uid);
    if (move !== undefined) {
      return kindOf(move) === 'Removal'
        ? { kind: 'Removed', message: move.reason }
        : { kind: 'Moves', to: move.to, gain: move.gain, message: move.reason };
    }
    const reason = stays.get(uid);
    return reason === undefined
      ? { kind: 'NotConsidered' }
      : { kind: 'Stays', code: reason.code, message: reason.message, numbers: reason.numbers };
  };
}

function standing(inquiry: Known, pod: PodIndex, violations: readonly Finding[], decisionOf: Decisions): PodStanding {
  const { planningInput, state, unmeasured } = inquiry;
  const info = itemAt(planningInput.pods, pod);
  const { namespace, name, uid, owner, nodeName } = info;
  const decision = decisionOf(info);
  const isRepaired = violations.length > 0;
  // A repair asks neither for loads nor for all that holds pods which run well.
  const protections =
    isRepaired && decision.kind === 'Moves'
      ? []
      : [...planningInput.holds.all(pod), ...(isRepaired ? [] : outsideOfBalance(inquiry, pod, info))];
  const isPlaced = unmeasured === undefined && state.nodeOf(pod) >= 0;
  return {
    pod: { namespace, name, uid },
    owner,
    node: nodeName,
    failed: false,
    movable: isRepaired ? protections.length === 0 : isMovable(inquiry, pod) && unmeasured === undefined,
    protections,
    violations,
    load: isPlaced ? toFraction(state.load(state.nodeOf(pod)) - state.loadWithout(pod)) : undefined,
    decision,
  };
}

/** Why the balance does not reckon with the pod. */
function outsideOfBalance(inquiry: Known, pod: PodIndex, { nodeName }: PodInfo): readonly Reason[] {
  const { planningInput, cluster, unmeasured } = inquiry;
  if (unmeasured !== undefined) {
    return [{ code: 'NodeNotParticipating', message: `no node takes part: ${unmeasured}`, numbers: {} }];
  }
  if (nodeName === undefined) {
    return [];
  }
  if (at(cluster.home, pod) < 0) {
    return [onAbsentNode(planningInput.participation, nodeName)];
  }
  return planningInput.holds.all(pod).length > 0 || isMovable(inquiry, pod) ? [] : [NO_USAGE];
}

/** What adds no load is moved to empty its node, or for the sake of its traffic, and not for the balance. */
function isMovable({ planningInput, cluster, plan }: Known, pod: PodIndex): boolean {
  const { improves } = STRATEGY_TRAITS[plan.strategy];
  const countsUsage = improves !== 'Packing' && improves !== 'Traffic';
  return countsUsage ? cluster.movable[pod] === 1 : at(cluster.home, pod) >= 0 && isFree(planningInput.holds, pod);
}

/** What every filter that refuses says to the pod on a node, with every other pod where it is; empty: it fits. */
export function rejectionsOf({ cluster, state }: Inquiry, pod: PodIndex, site: SiteIndex): readonly FilterRejection[] {
  const { sites, owners } = cluster;
  const subject = sites.subjectOf(pod, ownerOf(owners, pod)?.workload?.pinnedNode);
  return refusalsAt(state.whereabouts, pod, subject, site).map((refusal) => ({
    filter: refusal.filter,
    message: describeRefusal(refusal),
    numbers: refusalNumbers(refusal),
  }));
}

/** Load of a node as a fraction of its capacity; `undefined` when it takes no part or loads are not known. */
export function loadOf({ cluster, state, unmeasured }: Inquiry, site: SiteIndex): number | undefined {
  const node = at(cluster.nodeAt, site);
  return node < 0 || unmeasured !== undefined ? undefined : toFraction(state.load(node));
}

/**
 * Points of node capacity by which the higher of the two nodes falls when the pod moves there from where it is; `undefined`
 * when it is there, or one of the two takes no part.
 */
export function gainOf({ cluster, state, unmeasured }: Inquiry, pod: PodIndex, site: SiteIndex): number | undefined {
  const node = at(cluster.nodeAt, site);
  const home = state.nodeOf(pod);
  const isMove = node >= 0 && home >= 0 && node !== home;
  return isMove && unmeasured === undefined ? toFraction(state.gain(pod, node)) : undefined;
}

/** The node at a place among all of the cluster. Throws for a place that there is not. */
export function nodeInfoAt({ cluster }: Inquiry, site: SiteIndex): NodeInfo {
  return itemAt(cluster.sites.nodes, site);
}
