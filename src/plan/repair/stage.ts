import { budgetsInForce } from '../budgets/in-force.ts';
import { type Budgets, createBudgets } from '../budgets/index.ts';
import { isForReadiness } from '../budgets/protections.ts';
import { type Cluster, indexCluster } from '../cluster.ts';
import { expectedHitRatio } from '../hit-ratio.ts';
import { at, itemAt, type NodeIndex, type PodIndex, type SiteIndex } from '../indices.ts';
import { type AcceptedMove, carryOut } from '../judge.ts';
import { type PolicyOptions, planningOptions, type RepairOptions } from '../options.ts';
import { describeMoves, type Ended } from '../outcome.ts';
import { ownerOf } from '../owners.ts';
import type { Reason, Transfer } from '../plan.ts';
import { isFree, metricsProblem, type PlanningInput } from '../planning-input.ts';
import { measurePods } from '../pod-usage.ts';
import { withNeeds } from '../sequence.ts';
import { initialState, type State } from '../state.ts';
import { compareVictims } from '../victim-order.ts';
import { duplicatesRule } from './duplicates.ts';
import type { RepairGuard } from './guard.ts';
import { maxLifetimeRule } from './max-lifetime.ts';
import { preferredNodeAffinityRule, requiredNodeAffinityRule } from './node-affinity.ts';
import { podAntiAffinityRule } from './pod-anti-affinity.ts';
import { type Relocation, relocated } from './relocate.ts';
import { restartsRule } from './restarts.ts';
import type { RepairRule, RepairRun, Scene } from './rule.ts';
import { taintRule } from './taints.ts';
import { createTargetSearch } from './targets.ts';
import { topologySpreadRule } from './topology-spread.ts';

/** What the repairs of a plan came to. */
export interface RepairStage {
  readonly moves: readonly Transfer[];
  readonly relocations: readonly Relocation[];
  /** Why pods stay that run where they should not, by uid. */
  readonly unrepaired: ReadonlyMap<string, Reason>;
  readonly expectedHitRatio: number | undefined;
  /** What the strategy plans from: pods where the repairs put them, and not moved again. */
  readonly next: PlanningInput;
}

/**
 * Repairs what the policy names before its strategy has a turn (repair.md, one plan in two stages); `undefined` when it names
 * nothing. Needs no metrics: without them targets are chosen by requests.
 */
export function repairStage(input: PlanningInput, policy: PolicyOptions): RepairStage | undefined {
  const { guard } = input;
  if (policy.repair === undefined || guard === undefined) {
    return undefined;
  }
  const rules = rulesOf(policy.repair, input);
  const first = suspectsOf(input, rules, sceneOf(input, guard));
  if (first.every(({ pods }) => pods.length === 0)) {
    return { moves: [], relocations: [], unrepaired: new Map(), expectedHitRatio: undefined, next: input };
  }
  const cluster = repairCluster(input, policy);
  const start = initialState(cluster);
  const entries = budgetsInForce(policy.budgets, input.snapshot.takenAt);
  const budgets = createBudgets(entries, cluster, input.pdbs, input.history);
  const session = createSession(start.fork(), rules, guard, budgets, input);
  // Pods that have left make room, and what had to be broken for something worse may be mended.
  for (let [before, suspects] = [-1, first]; before !== session.moves.length; ) {
    before = session.moves.length;
    for (const { rule, pods } of suspects) {
      rule.repair(session.run, pods.toSorted(session.run.compare));
    }
    suspects = session.moves.length === before ? suspects : suspectsOf(input, rules, session.run.scene);
  }
  return resultOf(input, cluster, start, session);
}

/** In the order in which they are repaired: what the scheduler would refuse first, and what it only ranks last. */
function rulesOf(options: RepairOptions, { hosts }: PlanningInput): readonly RepairRule[] {
  const { taints, nodeAffinity, podAntiAffinity, topologySpread, duplicates, restarts, maxLifetime } = options;
  return [
    ...(taints === undefined ? [] : [taintRule(taints)]),
    ...(nodeAffinity === undefined ? [] : [requiredNodeAffinityRule()]),
    ...(podAntiAffinity ? [podAntiAffinityRule()] : []),
    ...(topologySpread === undefined ? [] : [topologySpreadRule(topologySpread)]),
    ...(nodeAffinity === 'Preferred' ? [preferredNodeAffinityRule(hosts)] : []),
    ...(duplicates ? [duplicatesRule()] : []),
    ...(restarts === undefined ? [] : [restartsRule(restarts)]),
    ...(maxLifetime === undefined ? [] : [maxLifetimeRule(maxLifetime.age)]),
  ];
}

interface Suspects {
  readonly rule: RepairRule;
  readonly pods: readonly PodIndex[];
}

/** Where the snapshot has the pods. */
function sceneOf({ subjects, snapshot, sites: indexed }: PlanningInput, guard: RepairGuard): Scene {
  const sites = indexed();
  const siteOf = (pod: PodIndex): SiteIndex => at(subjects.located, pod);
  const freeCapacityOf = (site: SiteIndex) => itemAt(sites.rooms, site);
  return { where: { sites, counts: sites.counts, siteOf, freeCapacityOf }, guard, now: snapshot.takenAt };
}

/** Pods in scope on nodes that are Ready, in scope and stay, by what is wrong with where they are. */
function suspectsOf(input: PlanningInput, rules: readonly RepairRule[], scene: Scene): readonly Suspects[] {
  const { subjects, holds, hosts } = input;
  const isHost = new Set(hosts);
  const isHostAt = Uint8Array.from(subjects.nodes, (node) => (isHost.has(node) ? 1 : 0));
  const found = rules.map((rule) => ({ rule, pods: [] as PodIndex[] }));
  subjects.located.forEach((site, pod) => {
    if (site >= 0 && isHostAt[site] === 1 && holds.inScope[pod] === 1 && ownerOf(subjects.owners, pod) !== undefined) {
      for (const { rule, pods } of found) {
        if (rule.clauseOf(scene, pod) !== undefined) {
          pods.push(pod);
        }
      }
    }
  });
  return found;
}

/** All hosts, loaded by what is measured, or by requests where metrics do not suffice. */
function repairCluster(input: PlanningInput, policy: PolicyOptions): Cluster {
  const { participation, hosts, subjects, snapshot, guard, holds } = input;
  const { participants, leftOut } = participation;
  const samples = new Map([...participants, ...leftOut].map(({ node, sample }) => [node, sample]));
  const isMeasured = metricsProblem(input, policy) === undefined;
  const { load } = policy;
  const options = isMeasured ? planningOptions(policy) : { ...policy, load: { ...load, source: 'Requests' as const } };
  return indexCluster({
    participants: hosts.map((node) => ({ node, sample: isMeasured ? samples.get(node) : undefined })),
    sites: input.sites(),
    subjects,
    usage: isMeasured ? input.usage() : measurePods(subjects, snapshot, options),
    isFree: () => false,
    placeable: [...subjects.pods.keys()].filter((pod) => at(subjects.located, pod) >= 0 && holds.inScope[pod] === 1),
    guard,
    options,
  });
}

/** A move with what it ends. */
interface RepairMove extends AcceptedMove {
  readonly ended: Ended;
  readonly fallbacks: readonly NodeIndex[];
}

interface Session {
  readonly run: RepairRun;
  readonly moves: readonly RepairMove[];
  /** Why pods stay that should not; some of them may be where they should by now. */
  readonly stays: ReadonlyMap<PodIndex, { readonly rule: RepairRule; readonly reason: Reason }>;
}

function createSession(
  state: State,
  rules: readonly RepairRule[],
  guard: RepairGuard,
  budgets: Budgets,
  { holds, pods, snapshot }: PlanningInput,
): Session {
  const moves: RepairMove[] = [];
  const moved = new Set<PodIndex>();
  const stays = new Map<PodIndex, { readonly rule: RepairRule; readonly reason: Reason }>();
  const scene: Scene = { where: state.whereabouts, guard, now: snapshot.takenAt };
  const search = createTargetSearch(state, budgets);
  const holdOf = (pod: PodIndex, { movesUnready }: RepairRule): Reason | undefined =>
    movesUnready ? holds.all(pod).find((hold) => !isForReadiness(hold, itemAt(pods, pod))) : holds.of(pod);
  const clausesOf = (pod: PodIndex) =>
    rules.flatMap((rule) => {
      const clause = rule.clauseOf(scene, pod);
      return clause === undefined ? [] : [{ rule, clause }];
    });
  const accept = (pod: PodIndex, cause: RepairRule, [to, ...fallbacks]: readonly [NodeIndex, ...NodeIndex[]]): void => {
    const wrong = clausesOf(pod);
    const move = carryOut(state, { pod, to }, state.gain(pod, to));
    moved.add(pod);
    budgets.spend(pod);
    const ended = wrong.filter(
      ({ rule }) => rule === cause || rule.endsAnywhere || rule.clauseOf(scene, pod) === undefined,
    );
    const repairs = [...new Set(ended.map(({ rule }) => rule.name))];
    moves.push({
      ...move,
      partner: undefined,
      ended: { repairs, clauses: ended.map(({ clause }) => clause) },
      fallbacks,
    });
  };
  const stay = (pod: PodIndex, rule: RepairRule, { code, message, numbers }: Reason): false => {
    const clause = rule.clauseOf(scene, pod);
    stays.set(pod, {
      rule,
      reason: { code, message: clause === undefined ? message : `${clause}; ${message}`, numbers },
    });
    return false;
  };
  return {
    moves,
    stays,
    run: {
      state,
      scene,
      mayMove: (pod) => !moved.has(pod) && isFree(holds, pod) && budgets.check(pod) === undefined,
      compare: (left, right) => compareVictims(itemAt(pods, left), itemAt(pods, right)) || left - right,
      targetOf: (pod, wish) => search.best(pod, wish)[0],
      move: (pod, rule, wish) => {
        if (moved.has(pod)) {
          return false;
        }
        const refusal = holdOf(pod, rule) ?? budgets.check(pod);
        if (refusal !== undefined) {
          return stay(pod, rule, refusal);
        }
        const [best, ...others] = search.best(pod, wish);
        if (best === undefined) {
          return stay(pod, rule, search.whyNone(pod, wish));
        }
        accept(pod, rule, [best.node, ...others.map(({ node }) => node)]);
        return true;
      },
    },
  };
}

function resultOf(input: PlanningInput, cluster: Cluster, start: State, session: Session): RepairStage {
  const { moves, stays, run } = session;
  const { siteOf } = cluster;
  const relocations = moves.map(({ pod, from, to }) => ({ pod, from: at(siteOf, from), to: at(siteOf, to) }));
  const moved = new Set(moves.map(({ pod }) => pod));
  const unrepaired = [...stays].flatMap(([pod, { rule, reason }]) => {
    const isStillWrong = !moved.has(pod) && rule.clauseOf(run.scene, pod) !== undefined;
    return isStillWrong ? [[itemAt(cluster.pods, pod).uid, reason] as const] : [];
  });
  const sequenced = withNeeds(start, moves).map((move, place) => ({ ...move, ended: itemAt(moves, place).ended }));
  const fallbacks = moves.map((move) => move.fallbacks);
  return {
    moves: describeMoves(cluster, sequenced, fallbacks, input.history.startup),
    relocations,
    unrepaired: new Map(unrepaired),
    expectedHitRatio: expectedHitRatio(start, moves),
    next: moves.length === 0 ? input : afterRepairs(input, relocations),
  };
}

/** The same input with pods where the repairs have put them; these are out of the reach of everything that follows. */
function afterRepairs(input: PlanningInput, relocations: readonly Relocation[]): PlanningInput {
  const inScope = input.holds.inScope.slice();
  for (const { pod } of relocations) {
    inScope[pod] = 0;
  }
  const sites = relocated(input.sites(), relocations);
  const isStill = (pod: PodIndex): boolean => inScope[pod] === 1;
  return {
    ...input,
    holds: { ...input.holds, inScope },
    mobile: input.mobile.filter(isStill),
    stranded: input.stranded.filter(isStill),
    sites: () => sites,
  };
}
