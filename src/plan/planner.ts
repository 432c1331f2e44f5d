import type { ClusterSnapshot } from '../model/snapshot.ts';
import { protectedForNow, unmovableMessage } from './blocked.ts';
import { budgetsInForce } from './budgets/in-force.ts';
import { createBudgets, type PlanBudgets } from './budgets/index.ts';
import type { Cluster } from './cluster.ts';
import { fallbacksOf } from './fallbacks.ts';
import { planHash } from './hash.ts';
import { expectedHitRatio } from './hit-ratio.ts';
import { at, indicesWhere, itemAt, type NodeIndex, type PodIndex } from './indices.ts';
import { toFraction, toLoad } from './load.ts';
import { emptyLedger } from './load-ledger.ts';
import {
  type BalancingOptions,
  balances,
  improvesService,
  type PackingOptions,
  type PolicyOptions,
  packs,
  reducesTraffic,
  type TrafficOptions,
} from './options.ts';
import {
  balancedMessage,
  type DescribedMove,
  describeMoves,
  exhaustedMessage,
  imbalanceOf,
  unhelpedMessage,
} from './outcome.ts';
import { overloadedAndLeftOut } from './overloaded-sources.ts';
import { type Packing, pack } from './pack/pack.ts';
import { explainPacking, packingOutcome, packingReport } from './pack/report.ts';
import type { Plan, PlanOutcome, Reason } from './plan.ts';
import { clusterOf, isFree, metricsProblem, type PlanningInput, planningInputOf } from './planning-input.ts';
import { type QosOptions, qosDriven } from './qos/qos-driven.ts';
import { NO_USAGE, onAbsentNode, rejectAll, type Stays } from './rejections.ts';
import { withFurtherMoves, withRepairs } from './repair/combine.ts';
import type { Relocation } from './repair/relocate.ts';
import { repairStage } from './repair/stage.ts';
import { residualImbalance } from './residual-imbalance.ts';
import { type SearchResult, search } from './search.ts';
import { initialState, type StateView } from './state.ts';
import { STRATEGY_TRAITS } from './strategies/traits.ts';
import { placedGraphs, podsOfApplications } from './traffic/applications.ts';
import { reduceTraffic } from './traffic/reduce-traffic.ts';
import { explainTraffic, trafficOutcome, trafficReport } from './traffic/report.ts';

/**
 * Decides which pods should run elsewhere. Pure: the same snapshot and options give the same plan, byte for byte, in
 * any order of nodes and pods; time is `snapshot.takenAt`. Never throws for what a cluster can look like; a plan
 * without moves says in `outcome` why.
 */
export function plan(snapshot: ClusterSnapshot, options: PolicyOptions): Plan {
  return planFrom(planningInputOf(snapshot, options), options);
}

/** `plan` for who has surveyed the snapshot already. */
export function planFrom(planningInput: PlanningInput, options: PolicyOptions): Plan {
  const stage = repairStage(planningInput, options);
  if (stage === undefined) {
    return byStrategy(planningInput, options, []);
  }
  const open = balances(options.strategy) ? stage.relocating?.open : undefined;
  return (
    (open && withFurtherMoves(byStrategy(open, options, stage.relocations), stage, planningInput)) ??
    withRepairs(byStrategy(stage.next, options, stage.relocations), stage, planningInput)
  );
}

/** `repaired` are the moves that the plan has already. */
function byStrategy(planningInput: PlanningInput, options: PolicyOptions, repaired: readonly Relocation[]): Plan {
  const { strategy } = options;
  if (improvesService(strategy)) {
    return byServiceLevel(planningInput, strategy, options, repaired);
  }
  if (packs(strategy)) {
    return byPacking(planningInput, strategy, options, repaired);
  }
  if (reducesTraffic(strategy)) {
    return withoutMetrics(planningInput, options) ?? byTraffic(planningInput, strategy, options, repaired);
  }
  return balances(strategy)
    ? (withoutMetrics(planningInput, options) ?? withMetrics(planningInput, strategy, options, repaired))
    : byNoStrategy(planningInput, options);
}

const NOTHING_WRONG: Reason = {
  code: 'NotNeeded',
  message: 'nothing that spec.repair names is wrong with it',
  numbers: {},
};

/** What there is to say of a cluster that is only repaired: how evenly it is loaded, if that is known. */
function byNoStrategy(planningInput: PlanningInput, options: PolicyOptions): Plan {
  const { pods, holds } = planningInput;
  const stays = rejectAll(pods, holds, nobody, () => NOTHING_WRONG);
  const outcome = { kind: 'NothingToRepair', message: 'no pod that may be moved runs where it should not' } as const;
  if (metricsProblem(planningInput, options) !== undefined) {
    return finish(planningInput, options, outcome, { stays });
  }
  const cluster = clusterOf(withoutMovable(planningInput), options);
  return finish(planningInput, options, outcome, { stays, cluster, state: initialState(cluster) });
}

/** Where no load is balanced, no pod need be known to add to one, nor where it would fit, but those that are placed all the same. */
function withoutMovable(planningInput: PlanningInput): PlanningInput {
  const { holds, pods } = planningInput;
  return { ...planningInput, holds: { ...holds, inScope: new Uint8Array(pods.length) } };
}

/** The budgets of what follows on the repairs: these have spent of them. */
function budgetsAfter(
  { snapshot, pdbs, history }: PlanningInput,
  options: PolicyOptions,
  cluster: Cluster,
  repaired: readonly Relocation[],
): PlanBudgets {
  const entries = budgetsInForce(options.budgets, snapshot.takenAt);
  const { movesInWaves } = STRATEGY_TRAITS[options.strategy.type];
  const budgets = createBudgets(entries, cluster, pdbs, history, movesInWaves);
  for (const { pod } of repaired) {
    budgets.spend(pod);
  }
  return { ...budgets, maxMoves: budgets.maxMoves - repaired.length };
}

/** Needs no metrics, unless pods are to be moved off overloaded nodes, and no second node. */
function byServiceLevel(
  planningInput: PlanningInput,
  strategy: QosOptions,
  options: PolicyOptions,
  repaired: readonly Relocation[],
): Plan {
  const { snapshot, participation } = planningInput;
  const cluster = clusterOf(withoutMovable(planningInput), options);
  const state = initialState(cluster);
  const budgets = budgetsAfter(planningInput, options, cluster, repaired);
  const { moves, stays, outcome, end } = qosDriven(planningInput, state, budgets, strategy, options);
  return {
    strategy: strategy.type,
    takenAt: snapshot.takenAt,
    outcome,
    moves,
    rejections: { pods: stays.pods, reasons: stays.reasons },
    coverage: participation.coverage,
    imbalance: {
      before: imbalanceOf(cluster.tables, cluster.measuredOn),
      planned: imbalanceOf(cluster.tables, end.placement),
    },
    spread: { before: toFraction(spreadAtStart(state)), planned: toFraction(spreadOf(end)) },
    expectedHitRatio: undefined,
    hash: planHash(strategy.type, moves),
  };
}

/** Needs no metrics: where pods can run, and which nodes an autoscaler removes, depends on requests. */
function byPacking(
  planningInput: PlanningInput,
  strategy: PackingOptions,
  options: PolicyOptions,
  repaired: readonly Relocation[],
): Plan {
  const { pods, holds } = planningInput;
  const free = indicesWhere(pods.length, (pod: PodIndex) => isFree(holds, pod));
  const cluster = clusterOf(planningInput, options, free);
  const packing = pack(planningInput, cluster, budgetsAfter(planningInput, options, cluster, repaired), strategy);
  const outcome = packingOutcome(cluster, packing, strategy);
  return {
    ...finishFound(planningInput, options, outcome, cluster, packing, explainPacking(cluster, packing)),
    packing: packingReport(cluster, packing),
  };
}

/** Brings applications together that run spread over domains, to nodes with room and little load. */
function byTraffic(
  planningInput: PlanningInput,
  strategy: TrafficOptions,
  options: PolicyOptions,
  repaired: readonly Relocation[],
): Plan {
  const graphs = placedGraphs(planningInput);
  const cluster = clusterOf(planningInput, options, podsOfApplications(graphs));
  const budgets = budgetsAfter(planningInput, options, cluster, repaired);
  const found = reduceTraffic(planningInput, graphs, cluster, budgets, strategy, options);
  const traffic = trafficReport(planningInput, found, strategy);
  const outcome = trafficOutcome(found, traffic, graphs);
  const explain = explainTraffic(found, traffic, graphs);
  return { ...finishFound(planningInput, options, outcome, cluster, found, explain), traffic };
}

/** The plan of a strategy that places any pods of `cluster`, whatever they use; `explain` says why those stay that run there. */
function finishFound(
  planningInput: PlanningInput,
  options: PolicyOptions,
  outcome: PlanOutcome,
  cluster: Cluster,
  { moves, fallbacks, start, end }: Pick<Packing, 'moves' | 'fallbacks' | 'start' | 'end'>,
  explain: (pod: PodIndex) => Reason,
): Plan {
  const { pods, holds, participation } = planningInput;
  const moved = new Set(moves.map(({ pod }) => pod));
  const why = (pod: PodIndex): Reason =>
    at(cluster.home, pod) < 0 ? onAbsentNode(participation, itemAt(pods, pod).nodeName ?? '') : explain(pod);
  const stays = rejectAll(pods, holds, (pod) => moved.has(pod), why);
  const result = { moves, fallbacks, state: end, placement: end.placement };
  return finish(planningInput, options, outcome, { stays, cluster, state: start, result });
}

/** The plan when the metrics do not suffice for one; `undefined` when they do, or none are needed. */
function withoutMetrics(planningInput: PlanningInput, options: PolicyOptions): Plan | undefined {
  const { pods, holds, participation } = planningInput;
  const { coverage } = participation;
  const gate = metricsProblem(planningInput, options);
  if (gate === undefined) {
    return undefined;
  }
  const message = `no node takes part: ${gate.message}`;
  const reason: Reason = { code: 'NodeNotParticipating', message, numbers: { ratio: coverage.ratio } };
  return finish(planningInput, options, gate, { stays: rejectAll(pods, holds, nobody, () => reason) });
}

function withMetrics(
  planningInput: PlanningInput,
  strategy: BalancingOptions,
  options: PolicyOptions,
  repaired: readonly Relocation[],
): Plan {
  const { pods, holds } = planningInput;
  const cluster = clusterOf(planningInput, options);
  const state = initialState(cluster);
  const early = earlyOutcome(planningInput, cluster, spreadOf(state), options);
  if (early !== undefined) {
    const explain = stayReason(planningInput, cluster, () => early.reason);
    const stays = rejectAll(pods, holds, nobody, explain);
    const outcome = withLeftOut(early.outcome, planningInput, state, options);
    return finish(planningInput, options, outcome, { stays, cluster, state });
  }
  const budgets = budgetsAfter(planningInput, options, cluster, repaired);
  const result = search(state, budgets, strategy, options);
  const explain = stayReason(planningInput, cluster, result.explain);
  const stays = rejectAll(pods, holds, (pod) => result.movedPods.has(pod), explain);
  const found = outcomeOf(result, cluster, planningInput, stays, options);
  const outcome = withLeftOut(found, planningInput, result.state, options);
  return finish(planningInput, options, outcome, { stays, cluster, state, result });
}

/** Says besides which nodes are overloaded and take no part: without them a cluster may look balanced that is not. */
function withLeftOut(
  outcome: PlanOutcome,
  { participation, subjects, usage }: PlanningInput,
  end: StateView,
  options: PolicyOptions,
): PlanOutcome {
  const highest = toFraction(end.cluster.nodes.reduce((most, _, node) => Math.max(most, end.load(node)), 0));
  const leftOut = overloadedAndLeftOut(participation, highest, subjects, usage, options);
  if (leftOut === undefined) {
    return outcome;
  }
  return outcome.kind === 'Moves'
    ? { ...outcome, obstacle: outcome.obstacle === undefined ? leftOut : `${outcome.obstacle}; ${leftOut}` }
    : { ...outcome, message: `${outcome.message}; ${leftOut}` };
}

function nobody(): boolean {
  return false;
}

/** Highest minus lowest load where the snapshot has the pods: before repairs, too. */
function spreadAtStart(state: StateView): number {
  const { measuredOn, home, load, nodes, pods } = state.cluster;
  if (measuredOn === home) {
    return spreadOf(state);
  }
  const ledger = emptyLedger(load, nodes.length, pods.length);
  measuredOn.forEach((node, pod) => {
    if (node >= 0) {
      ledger.add(node, pod);
    }
  });
  return rangeOf(nodes.map((_, node) => ledger.load(node)));
}

/** Highest minus lowest load. */
function spreadOf(state: StateView): number {
  return rangeOf(state.cluster.nodes.map((_, node) => state.load(node)));
}

function rangeOf(loads: readonly number[]): number {
  const highest = loads.reduce((most, load) => Math.max(most, load), 0);
  return loads.length === 0 ? 0 : highest - loads.reduce((least, load) => Math.min(least, load), highest);
}

interface EarlyOutcome {
  readonly outcome: PlanOutcome;
  /** Why the movable pods stay. */
  readonly reason: Reason;
}

function earlyOutcome(
  planningInput: PlanningInput,
  cluster: Cluster,
  spread: number,
  { thresholds }: PolicyOptions,
): EarlyOutcome | undefined {
  const nodes = cluster.nodes.length;
  if (nodes < 2) {
    const all = planningInput.snapshot.nodes.length;
    const message = `${nodes === 0 ? 'no node takes' : 'only one node takes'} part, of ${all} in the cluster: a plan needs two`;
    const reason = {
      code: 'NoFeasibleNode',
      message: `there is no other node: ${message}`,
      numbers: { nodes },
    } as const;
    return { outcome: { kind: 'NothingToBalance', message }, reason };
  }
  if (spread === 0 || spread < toLoad(thresholds.trigger)) {
    const message = balancedMessage(spread, thresholds.trigger);
    const numbers = { spread: toFraction(spread), trigger: thresholds.trigger };
    return { outcome: { kind: 'Balanced', message }, reason: { code: 'InBalance', message, numbers } };
  }
  if (!cluster.movable.includes(1)) {
    const message = unmovableMessage(planningInput.holds, cluster, planningInput.snapshot.takenAt);
    return { outcome: { kind: 'Blocked', message }, reason: { code: 'NoFeasibleNode', message, numbers: {} } };
  }
  return undefined;
}

/** Pods on nodes that take no part, and pods that use nothing, stay for that reason; others for what `explain` says. */
function stayReason(
  { participation }: PlanningInput,
  cluster: Cluster,
  explain: (pod: PodIndex) => Reason,
): (pod: PodIndex) => Reason {
  const reasons = new Map<string, Reason>();
  return (pod) => {
    if (cluster.movable[pod] === 1) {
      return explain(pod);
    }
    const name = itemAt(cluster.pods, pod).nodeName ?? '';
    if (at(cluster.home, pod) >= 0) {
      return NO_USAGE;
    }
    const reason = reasons.get(name) ?? onAbsentNode(participation, name);
    reasons.set(name, reason);
    return reason;
  };
}

function outcomeOf(
  result: SearchResult,
  cluster: Cluster,
  planningInput: PlanningInput,
  stays: Stays,
  options: PolicyOptions,
): PlanOutcome {
  if (result.moves.length > 0) {
    return { kind: 'Moves', obstacle: residualImbalance(result.state, options, stays) };
  }
  const { holds, snapshot } = planningInput;
  const message = unhelpedMessage(result, cluster, holds, stays);
  const exhausted = result.discarded === undefined ? exhaustedMessage(holds, stays) : undefined;
  if (exhausted !== undefined) {
    return { kind: 'BudgetExhausted', message: exhausted };
  }
  const protection = protectedForNow(holds, result.state, toLoad(options.thresholds.minGain), snapshot.takenAt);
  return protection === undefined
    ? { kind: 'NoBeneficialMove', message }
    : { kind: 'Blocked', message: `${message}; ${protection}` };
}

interface Findings {
  readonly stays: Stays;
  readonly cluster?: Cluster;
  /** As the snapshot has it. */
  readonly state?: StateView;
  readonly result?: Found;
}

/** What a strategy came to. */
interface Found extends Pick<SearchResult, 'state' | 'placement'> {
  readonly moves: readonly DescribedMove[];
  /** Nodes that would be good ones, too, for each move; `undefined`: the least loaded ones. */
  readonly fallbacks?: readonly (readonly NodeIndex[])[];
}

function finish(
  planningInput: PlanningInput,
  { strategy }: PolicyOptions,
  outcome: PlanOutcome,
  findings: Findings,
): Plan {
  const { cluster, state, result, stays } = findings;
  const accepted = result?.moves ?? [];
  const fallbacks = result?.fallbacks ?? (state === undefined ? [] : fallbacksOf(state, accepted));
  const moves = cluster === undefined ? [] : describeMoves(cluster, accepted, fallbacks, planningInput.history.startup);
  const end = result?.state ?? state;
  return {
    strategy: strategy.type,
    takenAt: planningInput.snapshot.takenAt,
    outcome,
    moves,
    rejections: { pods: stays.pods, reasons: stays.reasons },
    coverage: planningInput.participation.coverage,
    imbalance: {
      before: cluster === undefined ? {} : imbalanceOf(cluster.tables, cluster.measuredOn),
      planned: cluster === undefined ? {} : imbalanceOf(cluster.tables, result?.placement ?? cluster.home),
    },
    spread: {
      before: state === undefined ? 0 : toFraction(spreadAtStart(state)),
      planned: end === undefined ? 0 : toFraction(spreadOf(end)),
    },
    expectedHitRatio: state === undefined ? undefined : expectedHitRatio(state, accepted),
    hash: planHash(strategy.type, moves),
  };
}
