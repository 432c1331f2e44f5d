import type { RepairName } from '../../api/v1alpha1/repair.ts';
import type { NodeInfo } from '../../model/node.ts';
import type { SchedulingConstraints } from '../../model/pod.ts';
import type { EpochSeconds } from '../../model/units.ts';
import { itemAt, type NodeIndex, type PodIndex } from '../indices.ts';
import type { State } from '../state.ts';
import type { TopologyNeeds } from '../topology/needs.ts';
import type { Whereabouts } from '../verdicts.ts';
import type { RepairGuard } from './guard.ts';

/** Where pods are at one moment, and what it is judged by whether they may be there. */
export interface Scene {
  readonly where: Whereabouts;
  readonly guard: RepairGuard;
  readonly now: EpochSeconds;
}

/** One field of `spec.repair`. */
export interface RepairRule {
  readonly name: RepairName;
  /** Whether anything can be wrong with a pod of the same kind as `pod`, as pods are counted now; absent: with every pod. */
  readonly concerns?: (scene: Scene, pod: PodIndex) => boolean;
  /** Whether anything can be wrong with pods on a node; absent: on every node. */
  readonly concernsNode?: (node: NodeInfo) => boolean;
  /** What is wrong depends on the pod and its node alone, so no move makes it wrong for another pod. */
  readonly ofNodeAlone: boolean;
  /** What is wrong with where the pod is, as a clause; `undefined`: nothing. */
  readonly clauseOf: (scene: Scene, pod: PodIndex) => string | undefined;
  /** Any move ends it, wherever the pod goes. */
  readonly endsAnywhere: boolean;
  /** Moves pods that are not Ready, too. */
  readonly movesUnready: boolean;
  /** Moves pods until nothing is wrong any more, or nothing helps. `suspects` are those with a clause at the start. */
  readonly repair: (run: RepairRun, suspects: readonly PodIndex[]) => void;
}

/** How good a target is. */
export interface Wish {
  /** The lower the better, before the load is looked at; +Infinity: not at all. Default 0 everywhere. */
  readonly rankOf?: (node: NodeIndex) => number;
  /** No node ranks lower: the search ends sooner. Default 0. */
  readonly bestRank?: number;
  /** A target of this rank or a better one may break soft rules when none keeps them. Default -Infinity: it may not. */
  readonly lenientUpTo?: number;
}

/** A target and its rank. */
export interface Found {
  readonly node: NodeIndex;
  readonly rank: number;
}

/** What rules repair with. Every move is within the budgets, feasible where it is made, and kept by the guard. */
export interface RepairRun {
  readonly state: State;
  readonly scene: Scene;
  /** Whether the plan may still move the pod, as far as scope, protections and earlier moves go. */
  readonly mayMove: (pod: PodIndex) => boolean;
  /** Negative when `left` is moved before `right` where either would do. */
  readonly compare: (left: PodIndex, right: PodIndex) => number;
  /** The best target; `undefined` when there is none. */
  readonly targetOf: (pod: PodIndex, wish: Wish) => Found | undefined;
  /** Moves the pod to the best target, or records why not; whether it was moved. */
  readonly move: (pod: PodIndex, rule: RepairRule, wish: Wish) => boolean;
}

/** What the pod asks of nodes. */
export function constraintsOf({ where }: Scene, pod: PodIndex): SchedulingConstraints {
  return itemAt(where.sites.pods, pod).constraints;
}

/** What the pod asks of other pods, the same for all of its kind. */
export function needsOf({ where }: Scene, pod: PodIndex): TopologyNeeds {
  return where.counts.topologyIndex.needsOf(pod);
}

/** Name of the node of a pod that has one. */
export function nodeOf({ where: { sites, siteOf } }: Scene, pod: PodIndex): string {
  return itemAt(sites.nodes, siteOf(pod)).name;
}

/** Tries each suspect. */
export function moveEach(
  run: RepairRun,
  rule: RepairRule,
  suspects: readonly PodIndex[],
  wishOf: (pod: PodIndex) => Wish,
): void {
  for (const pod of suspects) {
    if (rule.clauseOf(run.scene, pod) !== undefined) {
      run.move(pod, rule, wishOf(pod));
    }
  }
}
