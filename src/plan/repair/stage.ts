import type { PodInfo, PodRef } from '../../model/pod.ts';
import { budgetsInForce } from '../budgets/in-force.ts';
import { type Budgets, createBudgets } from '../budgets/index.ts';
import { isForReadiness } from '../budgets/protections.ts';
import { type Cluster, indexCluster } from '../cluster.ts';
import { expectedHitRatio } from '../hit-ratio.ts';
import { at, indicesWhere, itemAt, type NodeIndex, type PodIndex } from '../indices.ts';
import { type AcceptedMove, carryOut } from '../judge.ts';
import { NO_REPAIRS, type PolicyOptions, packs, planningOptions, type RepairOptions } from '../options.ts';
import { describeMoves, type Ended } from '../outcome.ts';
import type { Reason, Rejections, Removal, Transfer } from '../plan.ts';
import { isFree, metricsProblem, type PlanningInput } from '../planning-input.ts';
import { measurePods, type Subjects } from '../pod-usage.ts';
import type { Departure } from '../room/find-room.ts';
import { type MadeRoom, makeRoom, NO_ROOM_NEEDED, type RoomRun } from '../room/make-room.ts';
import { waitingPods } from '../room/waiting.ts';
import { withNeeds } from '../sequence.ts';
import { initialState, type State } from '../state.ts';
import { compareVictims } from '../victim-order.ts';
import type { RepairGuard } from './guard.ts';
import { type Relocation, relocated, type Seat } from './relocate.ts';
import { asUnderWay, type RemovalStage, removeFailed } from './removals.ts';
import type { RepairRule, RepairRun, Scene } from './rule.ts';
import { podsOnHosts, rulesOf, sceneOf } from './rules.ts';
import { createTargetSearch } from './targets.ts';

/** What the repairs of a plan came to. */
export interface RepairStage {
  /** Those from node to node, and then those that remove pods. */
  readonly moves: readonly (Transfer | Removal)[];
  /** The moves from node to node. */
  readonly relocations: readonly Relocation[];
  /** Why pods stay that run where they should not, by the pods of the snapshot themselves: no uids of all pods are hashed. */
  readonly unrepaired: ReadonlyMap<PodRef, Reason>;
  /** Failed pods that stay, and why. */
  readonly unremoved: Rejections;
  /** What there is to say of pods without a node that are pinned to full ones, and those of them that get no room. */
  readonly waiting: ReadonlyMap<PodRef, Reason>;
  readonly unserved: readonly PodInfo[];
  readonly expectedHitRatio: number | undefined;
  /** What the strategy plans from: pods where the repairs put them, and not moved again. */
  readonly next: PlanningInput;
  /** What the moves from node to node were found on; `undefined` when there are none. */
  readonly relocating: Relocating | undefined;
}

/** Moves from node to node, and what they were found on. */
export interface Relocating {
  /** All hosts. */
  readonly cluster: Cluster;
  /** Before the moves. */
  readonly start: State;
  readonly repairs: readonly RepairMove[];
  /** Pods where the repairs put them, to be moved again. */
  readonly open: PlanningInput;
}

/**
 * Makes room for pods that are pinned to full nodes, and repairs what the policy names, before its strategy has a turn (repair.md,
 * one plan in two stages); `undefined` when the policy asks for neither. Room comes first: a pod that waits does not serve at
 * all. Needs no metrics: without them targets are chosen by requests.
 */
export function repairStage(input: PlanningInput, policy: PolicyOptions): RepairStage | undefined {
  const { guard } = input;
  if (guard === undefined) {
    return undefined;
  }
  const repair = policy.repair ?? NO_REPAIRS;
  const relocating = relocate(input, policy, repair, guard);
  return withRemovals(relocating, removeFailed(input, policy, repair, relocating.moves));
}

/** What follows counts removals against its budgets. */
function withRemovals(stage: RelocationStage, { moves, kept }: RemovalStage): RepairStage {
  const { next, relocating } = stage;
  const counting = (input: PlanningInput): PlanningInput => {
    const underWay = [...input.history.underWay, ...moves.map(asUnderWay)];
    return moves.length === 0 ? input : { ...input, history: { ...input.history, underWay } };
  };
  return {
    ...stage,
    moves: [...stage.moves, ...moves],
    unremoved: kept,
    next: counting(next),
    relocating: relocating && { ...relocating, open: counting(relocating.open) },
  };
}

type RelocationStage = Omit<RepairStage, 'moves' | 'unremoved'> & { readonly moves: readonly Transfer[] };

const NOTHING_TO_RELOCATE: Omit<RelocationStage, 'next'> = {
  moves: [],
  relocations: [],
  unrepaired: new Map(),
  expectedHitRatio: undefined,
  relocating: undefined,
  waiting: new Map(),
  unserved: [],
};

/** The moves from node to node. */
function relocate(
  input: PlanningInput,
  policy: PolicyOptions,
  repair: RepairOptions,
  guard: RepairGuard,
): RelocationStage {
  const rules = rulesOf(repair, input);
  const asked = rules.length === 0 ? [] : ownedOnHosts(input);
  const first = rules.length === 0 ? [] : suspectsOf(input, rules, sceneOf(input, guard), asked);
  const waiting = policy.makesRoom ? waitingPods(input) : [];
  if (waiting.length === 0 && first.every(({ pods }) => pods.length === 0)) {
    return { ...NOTHING_TO_RELOCATE, next: input };
  }
  const cluster = repairCluster(input, policy, waiting);
  const start = initialState(cluster);
  const entries = budgetsInForce(policy.budgets, input.snapshot.takenAt);
  const budgets = createBudgets(entries, cluster, input.pdbs, input.history);
  const session = createSession(start.fork(), rules, guard, { budgets, prefersFull: packs(policy.strategy) }, input);
  const room = waiting.length === 0 ? NO_ROOM_NEEDED : makeRoom(waiting, session.room);
  // Pods that have left make room, and what had to be broken for something worse may be mended.
  for (let [before, suspects] = [-1, first]; before !== session.moves.length; ) {
    before = session.moves.length;
    for (const { rule, pods } of suspects.filter((each) => each.pods.length > 0)) {
      rule.repair(session.run, pods.toSorted(session.run.compare));
    }
    suspects = session.moves.length === before ? suspects : suspectsAgain(input, suspects, session.run.scene, asked);
  }
  return resultOf(input, cluster, start, session, room);
}

interface Suspects {
  readonly rule: RepairRule;
  readonly pods: readonly PodIndex[];
}

/** Pods with a controller that a repair could be about. */
function ownedOnHosts(input: PlanningInput): readonly PodIndex[] {
  const { ofPod } = input.subjects.owners;
  return podsOnHosts(input).filter((pod) => at(ofPod, pod) >= 0);
}

/** Those of `pods` with something wrong with where they are, by what it is. */
function suspectsOf(
  { subjects }: PlanningInput,
  rules: readonly RepairRule[],
  scene: Scene,
  pods: readonly PodIndex[],
): readonly Suspects[] {
  if (rules.length === 0) {
    return [];
  }
  const found = rules.map((rule, bit) => {
    return { rule, pods: [] as PodIndex[], bit: 1 << bit, ...concernedBy(rule, subjects, scene) };
  });
  // Most pods concern no rule: what is known of kinds and nodes is looked up for all rules at once.
  const ofKind = combined(found, ({ kinds }) => kinds);
  const onNode = combined(found, ({ nodes }) => nodes);
  for (const pod of pods) {
    const asked = at(ofKind, at(subjects.kinds.ofPod, pod)) & at(onNode, at(subjects.located, pod));
    if (asked !== 0) {
      for (const { rule, pods: wrong, bit } of found) {
        if ((asked & bit) !== 0 && rule.clauseOf(scene, pod) !== undefined) {
          wrong.push(pod);
        }
      }
    }
  }
  return found;
}

/** After moves: a pod that was moved is moved no more, and with others nothing new is wrong that depends on their nodes alone. */
function suspectsAgain(
  input: PlanningInput,
  known: readonly Suspects[],
  scene: Scene,
  pods: readonly PodIndex[],
): readonly Suspects[] {
  const rules = known.flatMap(({ rule }) => (rule.ofNodeAlone ? [] : [rule]));
  const found = new Map(suspectsOf(input, rules, scene, pods).map((suspects) => [suspects.rule, suspects]));
  return known.map((suspects) => found.get(suspects.rule) ?? suspects);
}

/** Kinds of pods, and nodes, with which something can be wrong by the rule. */
interface Concerned {
  readonly kinds: readonly boolean[];
  readonly nodes: readonly boolean[];
}

function concernedBy(
  { concerns = always, concernsNode = always }: RepairRule,
  { kinds, nodes }: Subjects,
  scene: Scene,
): Concerned {
  return {
    kinds: Array.from(kinds.firstOf, (pod) => concerns(scene, pod)),
    nodes: nodes.map((node) => concernsNode(node)),
  };
}

function always(): boolean {
  return true;
}

/** By place, a bit for each rule. */
function combined<Rule extends { readonly bit: number }>(
  rules: readonly Rule[],
  flagsOf: (rule: Rule) => readonly boolean[],
): Int32Array {
  const bits = new Int32Array(flagsOf(itemAt(rules, 0)).length);
  for (const rule of rules) {
    flagsOf(rule).forEach((isSet, place) => {
      bits[place] = at(bits, place) | (isSet ? rule.bit : 0);
    });
  }
  return bits;
}

/** All hosts, loaded by what is measured, or by requests where metrics do not suffice. */
function repairCluster(input: PlanningInput, policy: PolicyOptions, waiting: readonly PodIndex[]): Cluster {
  const { participation, hosts, subjects, snapshot, guard, holds } = input;
  const { participants, leftOut } = participation;
  const samples = new Map([...participants, ...leftOut].map(({ node, sample }) => [node, sample]));
  const isMeasured = metricsProblem(input, policy) === undefined;
  const wanted = planningOptions(policy);
  const options = isMeasured ? wanted : { ...wanted, load: { ...wanted.load, source: 'Requests' as const } };
  return indexCluster({
    participants: hosts.map((node) => ({ node, sample: isMeasured ? samples.get(node) : undefined })),
    sites: input.sites(),
    subjects,
    usage: isMeasured ? input.usage() : measurePods(subjects, snapshot, options),
    isFree: () => false,
    placeable: [
      ...waiting,
      ...indicesWhere(
        subjects.pods.length,
        (pod: PodIndex) => at(subjects.located, pod) >= 0 && holds.inScope[pod] === 1,
      ),
    ],
    shapes: input.shapes(),
    guard,
    options,
  });
}

/** A move with what it ends. */
export interface RepairMove extends AcceptedMove {
  readonly ended: Ended;
  readonly fallbacks: readonly NodeIndex[];
  /** Not where it runs is wrong, but for how long or how often it has started: it may not stay there. */
  readonly mustStartAnew: boolean;
  /** It ends something that refuses nodes, so it may break what only ranks them, wherever it goes. */
  readonly mayBreakSoft: boolean;
}

interface Session {
  readonly run: RepairRun;
  readonly room: RoomRun;
  readonly moves: readonly RepairMove[];
  /** Why pods stay that should not; some of them may be where they should by now. */
  readonly stays: ReadonlyMap<PodIndex, { readonly rule: RepairRule; readonly reason: Reason }>;
}

const OUT_OF_SCOPE: Reason = { code: 'OutOfScope', message: 'is not in the scope of the policy', numbers: {} };

function createSession(
  state: State,
  rules: readonly RepairRule[],
  guard: RepairGuard,
  { budgets, prefersFull }: { readonly budgets: Budgets; readonly prefersFull: boolean },
  { holds, pods, snapshot }: PlanningInput,
): Session {
  const moves: RepairMove[] = [];
  const moved = new Set<PodIndex>();
  const stays = new Map<PodIndex, { readonly rule: RepairRule; readonly reason: Reason }>();
  const scene: Scene = { where: state.whereabouts, guard, now: snapshot.takenAt };
  const search = createTargetSearch(state, budgets, prefersFull);
  const holdOf = (pod: PodIndex, { movesUnready }: RepairRule): Reason | undefined =>
    movesUnready ? holds.all(pod).find((hold) => !isForReadiness(hold, itemAt(pods, pod))) : holds.of(pod);
  const clausesOf = (pod: PodIndex) =>
    rules.flatMap((rule) => {
      const clause = rule.clauseOf(scene, pod);
      return clause === undefined ? [] : [{ rule, clause }];
    });
  const accept = (
    { pod, targets: [to, ...fallbacks] }: Departure,
    cause: RepairRule | { readonly makesRoomFor: string },
    mayBreakSoft: boolean,
  ): void => {
    const wrong = clausesOf(pod);
    const move = carryOut(state, { pod, to }, state.gain(pod, to));
    moved.add(pod);
    budgets.spend(pod);
    const ended = wrong.filter(
      ({ rule }) => rule === cause || rule.endsAnywhere || rule.clauseOf(scene, pod) === undefined,
    );
    const repairs = [...new Set(ended.map(({ rule }) => rule.name))];
    const clauses = ended.map(({ clause }) => clause);
    moves.push({
      ...move,
      partner: undefined,
      ended:
        'makesRoomFor' in cause
          ? { repairs, clauses: [`makes room for ${cause.makesRoomFor}`, ...clauses], ...cause }
          : { repairs, clauses },
      fallbacks,
      mustStartAnew: ended.some(({ rule }) => rule.endsAnywhere),
      mayBreakSoft,
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
    room: {
      state,
      budgets,
      search,
      holdOf: (pod) => (holds.inScope[pod] === 1 ? holds.of(pod) : OUT_OF_SCOPE),
      move: (departure, makesRoomFor) => accept(departure, { makesRoomFor }, false),
    },
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
        const targets = [best.node, ...others.map(({ node }) => node)] as const;
        accept({ pod, targets }, rule, (wish.lenientUpTo ?? -1) >= 0);
        return true;
      },
    },
  };
}

function resultOf(
  input: PlanningInput,
  cluster: Cluster,
  start: State,
  session: Session,
  room: MadeRoom,
): RelocationStage {
  const { moves, stays, run } = session;
  const { siteOf } = cluster;
  const relocations = moves.map(({ pod, from, to }) => ({ pod, from: at(siteOf, from), to: at(siteOf, to) }));
  const moved = new Set(moves.map(({ pod }) => pod));
  const unrepaired = [...stays].flatMap(([pod, { rule, reason }]) => {
    const isStillWrong = !moved.has(pod) && rule.clauseOf(run.scene, pod) !== undefined;
    return isStillWrong ? [[itemAt(cluster.pods, pod), reason] as const] : [];
  });
  const sequenced = withNeeds(start, moves).map((move, place) => ({ ...move, ended: itemAt(moves, place).ended }));
  const fallbacks = moves.map((move) => move.fallbacks);
  const seats = [...room.seats].map(([pod, node]) => ({ pod, to: at(siteOf, node) }));
  const isUnchanged = moves.length === 0 && seats.length === 0;
  const { open, next } = isUnchanged ? { open: input, next: input } : afterRepairs(input, relocations, seats);
  return {
    moves: describeMoves(cluster, sequenced, fallbacks, input.history.startup),
    relocations,
    unrepaired: new Map(unrepaired),
    waiting: new Map([...room.reasons].map(([pod, reason]) => [itemAt(cluster.pods, pod), reason])),
    unserved: room.unserved.map((pod) => itemAt(cluster.pods, pod)),
    expectedHitRatio: expectedHitRatio(start, moves),
    next,
    relocating: moves.length === 0 ? undefined : { cluster, start, repairs: moves, open },
  };
}

/**
 * The same input with pods where the repairs have put them, and room where pods without a node have seats, within the reach of what
 * follows and out of it.
 */
function afterRepairs(
  input: PlanningInput,
  relocations: readonly Relocation[],
  seats: readonly Seat[],
): { readonly open: PlanningInput; readonly next: PlanningInput } {
  const inScope = input.holds.inScope.slice();
  for (const { pod } of relocations) {
    inScope[pod] = 0;
  }
  const sites = relocated(input.sites(), relocations, seats);
  const open = { ...input, sites: () => sites };
  const isStill = (pod: PodIndex): boolean => inScope[pod] === 1;
  const next = {
    ...open,
    holds: { ...input.holds, inScope },
    mobile: input.mobile.filter(isStill),
    stranded: input.stranded.filter(isStill),
  };
  return { open, next };
}
