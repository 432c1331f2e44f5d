import type { ServiceLedger } from '../../model/service-level.ts';
import type { Budget, BudgetRefusal } from '../budgets/budget.ts';
import { capacityRefusal } from '../filters/index.ts';
import { copyCapacity, occupy, vacate } from '../free-capacity.ts';
import { createHeap } from '../heap.ts';
import { at, indicesWhere, type NodeIndex, type PodIndex } from '../indices.ts';
import { classOf, subjectOf } from '../shapes.ts';
import type { State } from '../state.ts';
import { NO_NEEDS } from '../topology/needs.ts';
import {
  type CandidateNode,
  compareHosts,
  type Entry,
  FREE,
  type Guesses,
  type Preemptor,
  scoreOf,
} from './guesses.ts';
import { isIdleSibling } from './idle-replicas.ts';
import { compareVictims, type PotentialVictim, type PotentialVictims } from './potential-victims.ts';
import { createReplicaCount, type ReplicaCount } from './replica-count.ts';
import { compareNumbers, type PreemptionRules, type ServicePosition } from './rules.ts';

/** What hosts are looked for in; it changes as the plan grows. */
export interface Arena {
  readonly state: State;
  readonly rules: PreemptionRules;
  readonly budgets: Budget;
  readonly potentialVictims: PotentialVictims;
  readonly guesses: Guesses;
  readonly wasEvicted: (pod: PodIndex) => boolean;
  /** Evictions of this pass by request. */
  readonly evictions: ReplicaCount;
  /** A potential victim, judged as one of whose request so many others have gone. */
  readonly judgedWithout: (victim: PotentialVictim, gone: number) => PotentialVictim;
  /** Nodes that the plan has changed, oldest first. */
  readonly touched: readonly NodeIndex[];
  /** Requests whose other pods are judged otherwise since a replica was evicted, oldest first. */
  readonly rejudged: readonly ServiceLedger[];
  /** Told which budget keeps a pod from being evicted. */
  readonly onRefusal: (refusal: BudgetRefusal) => void;
}

/** The best host for claimants of one shape, class and margin; quickest when they come in the order of their metrics. */
export interface CandidateTable {
  /** `undefined`: there is none. */
  readonly bestFor: (claimant: Preemptor) => CandidateNode | undefined;
}

/**
 * Looks at the nodes in the order of what they cost at best, until one that it has looked at comes first; so of thousands it
 * looks at a few. Nodes that the plan has not changed, and that have no room, are ranked once for all tables of a class. A node
 * is guessed at anew when the plan has changed it or how its pods are judged, or when the claimant at hand may no longer have
 * its victims. All are, when the claimant may have more victims than the one before it; and for pods under affinity or spread
 * when pods that matter to them have moved.
 */
export function createCandidateTable(arena: Arena): CandidateTable {
  const { state, touched, rejudged, guesses } = arena;
  const { shapes } = state.cluster;
  const entries: (Entry | undefined)[] = new Array(state.cluster.nodes.length);
  const best = createHeap<Entry>(compareHosts);
  const expiring = createHeap<Entry>(compareBounds);
  const seen = new Set<NodeIndex>();
  /** Nodes where it mattered how pods of a request are judged. */
  const judgedOn = new Map<ServiceLedger, Set<NodeIndex>>();
  /** 1 for the nodes whose entry is not the one that all tables share. */
  const isOwn = new Uint8Array(entries.length);
  let shared = 0;
  let caughtUp: { readonly touched: number; readonly rejudged: number } | undefined;
  let surroundings = Number.NaN;
  let metric = Number.NEGATIVE_INFINITY;
  const file = (node: NodeIndex, entry: Entry | undefined): void => {
    entries[node] = entry;
    isOwn[node] = 1;
    if (entry !== undefined) {
      best.push(entry);
    }
  };
  const guess = (nodes: Iterable<NodeIndex>, claimant: Preemptor): void => {
    for (const node of nodes) {
      file(node, guesses.on(claimant, node));
    }
  };
  const forget = (nodes: Iterable<NodeIndex>, claimant: Preemptor): void => {
    guess(
      [...nodes].filter((node) => seen.delete(node)),
      claimant,
    );
  };
  const look = (node: NodeIndex, claimant: Preemptor): void => {
    const host = hostOn(arena, claimant, node, ({ standing: { request } }) => {
      const nodes = judgedOn.get(request) ?? new Set<NodeIndex>();
      judgedOn.set(request, nodes.add(node));
    });
    const entry = host === undefined ? undefined : { ...host, isGuess: false };
    seen.add(node);
    file(node, entry);
    if (entry !== undefined && entry.victims.length > 0) {
      expiring.push(entry);
    }
  };
  const isCurrent = (entry: Entry): boolean => entries[entry.node] === entry;
  const catchUp = (claimant: Preemptor): void => {
    if (caughtUp === undefined) {
      guess(withRoomFor(claimant.pod, state), claimant);
    }
    guess(new Set(touched.slice(caughtUp?.touched)), claimant);
    const before = metric;
    metric = claimant.standing?.metric ?? Number.POSITIVE_INFINITY;
    if (state.surroundings(claimant.pod) !== surroundings || metric < before) {
      forget(seen, claimant);
    }
    for (const request of new Set(rejudged.slice(caughtUp?.rejudged))) {
      forget(judgedOn.get(request) ?? [], claimant);
      judgedOn.delete(request);
    }
    caughtUp = { touched: touched.length, rejudged: rejudged.length };
  };
  const dropExpired = (claimant: Preemptor): void => {
    for (let entry = expiring.peek(); entry !== undefined && !(metric < entry.bound); entry = expiring.peek()) {
      expiring.pop();
      if (isCurrent(entry)) {
        guess([entry.node], claimant);
      }
    }
  };
  const isFirst = (entry: Entry): boolean => {
    const first = best.peek();
    return first === undefined || compareHosts(entry, first) < 0;
  };
  const takeOn = (entry: Entry, { pod, standing }: Preemptor): void => {
    const { node, bound } = entry;
    if (isOwn[node] === 0 && shapes.allows(classOf(shapes, pod), node)) {
      const isOpen = standing !== undefined && standing.metric < bound;
      if (!isOpen) {
        seen.add(node);
      }
      file(node, isOpen ? entry : undefined);
    }
  };
  const peekBest = (claimant: Preemptor): Entry | undefined => {
    const { standing } = claimant;
    if (standing !== undefined && best.peek()?.cost !== FREE) {
      const ranking = guesses.ranked(standing.serviceClass);
      const next = (): Entry | undefined => (standing.metric < ranking.bound ? ranking.at(shared) : undefined);
      for (let entry = next(); entry !== undefined && isFirst(entry); entry = next()) {
        shared += 1;
        takeOn(entry, claimant);
      }
    }
    return best.peek();
  };
  const takeBest = (claimant: Preemptor): CandidateNode | undefined => {
    for (let entry = peekBest(claimant); entry !== undefined; entry = peekBest(claimant)) {
      if (isCurrent(entry) && !entry.isGuess && isWithinBudgets(arena, entry)) {
        return entry;
      }
      best.pop();
      if (isCurrent(entry)) {
        look(entry.node, claimant);
      }
    }
    return undefined;
  };
  return {
    bestFor: (claimant) => {
      catchUp(claimant);
      dropExpired(claimant);
      const host = takeBest(claimant);
      // Trials move pods as well, and put them back.
      surroundings = state.surroundings(claimant.pod);
      return host;
    },
  };
}

function compareBounds(left: CandidateNode, right: CandidateNode): number {
  return compareNumbers(left.bound, right.bound) || left.node - right.node;
}

function withRoomFor(pod: PodIndex, { cluster, couldHold }: State): readonly NodeIndex[] {
  return indicesWhere(cluster.nodes.length, (node) => couldHold(pod, node));
}

/** Tells `onJudged` of every pod on whose judgement it depends. */
function hostOn(
  arena: Arena,
  claimant: Preemptor,
  node: NodeIndex,
  onJudged: (resident: PotentialVictim) => void,
): CandidateNode | undefined {
  const { state, rules, guesses } = arena;
  const { shapes } = state.cluster;
  const { pod, standing } = claimant;
  if (!shapes.allows(classOf(shapes, pod), node)) {
    return undefined;
  }
  if (state.fits(pod, node)) {
    return { node, victims: [], bound: Number.POSITIVE_INFINITY, cost: FREE, score: scoreOf(state, node, []) };
  }
  const best = standing && guesses.bestCaseOn(node, standing.serviceClass);
  if (standing === undefined || best === undefined || !(standing.metric < best.bound)) {
    return undefined;
  }
  const victims = victimsOn(arena, standing, node, createTrial(state, pod, node), onJudged);
  return victims === undefined
    ? undefined
    : {
        node,
        victims,
        bound: victims.reduce((least, victim) => Math.min(least, rules.boundOf(victim.standing, standing)), FREE.above),
        cost: rules.costOf(victims.map((victim) => victim.standing)),
        score: scoreOf(state, node, victims),
      };
}

/** Who leaves the node so that the claimant fits, each only if it may be evicted for it; `undefined`: it would not suffice. */
function victimsOn(
  arena: Arena,
  claimant: ServicePosition,
  node: NodeIndex,
  trial: Trial,
  onJudged: (resident: PotentialVictim) => void,
): readonly PotentialVictim[] | undefined {
  const { budgets, rules } = arena;
  const removed: PotentialVictim[] = [];
  const evictions = createReplicaCount(arena.evictions);
  let fits = false;
  for (const resident of inTurn(arena, arena.potentialVictims.inTurn(node), evictions, onJudged)) {
    if (mayGo(arena, resident, claimant) && isAllowed(arena, resident.pod)) {
      budgets.spend(resident.pod);
      trial.remove(resident.pod);
      removed.push(resident);
      evictions.add(resident.standing, 1);
      fits = trial.fits();
      if (fits) {
        break;
      }
    }
  }
  const spared = fits && rules.spares ? sparedOf(removed, trial) : new Set<PotentialVictim>();
  for (const resident of removed) {
    budgets.refund(resident.pod);
    if (!spared.has(resident)) {
      trial.restore(resident.pod);
    }
  }
  const victims = removed.filter((resident) => !spared.has(resident));
  return fits ? judgedInTurn(arena, victims) : undefined;
}

/**
 * The pods of a node in the order in which they make room, each judged when it is its turn: with every replica that goes the
 * others of its request can do less long without running.
 */
function* inTurn(
  arena: Arena,
  residents: readonly PotentialVictim[],
  evictions: ReplicaCount,
  onJudged: (resident: PotentialVictim) => void,
): Generator<PotentialVictim> {
  const current = (victim: PotentialVictim): PotentialVictim => {
    const gone = evictions.of(victim.standing);
    return gone === victim.gone ? victim : arena.judgedWithout(victim, gone);
  };
  // Nobody can do longer without running than the snapshot says, so those further back need no look yet.
  const queue = [...residents];
  for (let first = queue.shift(); first !== undefined; first = queue.shift()) {
    onJudged(first);
    const now = current(first);
    if (now === first) {
      yield now;
    } else {
      const place = queue.findIndex((other) => compareVictims(now, other) < 0);
      queue.splice(place < 0 ? queue.length : place, 0, now);
    }
  }
}

/** Victims, each judged without those before it. */
function judgedInTurn(arena: Arena, victims: readonly PotentialVictim[]): readonly PotentialVictim[] {
  const evictions = createReplicaCount(arena.evictions);
  return victims.map((victim) => {
    const gone = evictions.of(victim.standing);
    evictions.add(victim.standing, 1);
    return gone === victim.gone ? victim : arena.judgedWithout(victim, gone);
  });
}

function mayGo({ rules, wasEvicted }: Arena, { pod, standing }: PotentialVictim, claimant: ServicePosition): boolean {
  const isOpen = claimant.metric < rules.boundOf(standing, claimant) && !isIdleSibling(standing, claimant);
  return isOpen && !wasEvicted(pod);
}

/** Those without whose leaving there is room as well, the one that can do without running for the shortest time first. */
function sparedOf(removed: readonly PotentialVictim[], trial: Trial): ReadonlySet<PotentialVictim> {
  const spared = new Set<PotentialVictim>();
  for (const resident of removed.toReversed()) {
    trial.restore(resident.pod);
    if (trial.fits()) {
      spared.add(resident);
    } else {
      trial.remove(resident.pod);
    }
  }
  return spared;
}

function isAllowed({ budgets, onRefusal }: Arena, pod: PodIndex): boolean {
  const refusal = budgets.check(pod);
  if (refusal !== undefined) {
    onRefusal(refusal);
  }
  return refusal === undefined;
}

function isWithinBudgets(arena: Arena, { victims }: CandidateNode): boolean {
  const counted: PotentialVictim[] = [];
  for (const victim of victims) {
    if (!isAllowed(arena, victim.pod)) {
      break;
    }
    arena.budgets.spend(victim.pod);
    counted.push(victim);
  }
  for (const { pod } of counted) {
    arena.budgets.refund(pod);
  }
  return counted.length === victims.length;
}

/** Tries out who would have to leave a node so that a pod fits there; nothing of it lasts. */
interface Trial {
  readonly remove: (victim: number) => void;
  readonly restore: (victim: number) => void;
  readonly fits: () => boolean;
}

/**
 * A trial of `pod` on `node`, which the filters of nodes allow. Where only what runs on the node matters to the pod a copy of
 * its room will do; else pods leave `state`, and must be restored in the end.
 */
function createTrial(state: State, pod: PodIndex, node: NodeIndex): Trial {
  const { shapes, sites, nodes, siteOf, pods, headroom } = state.cluster;
  const subject = subjectOf(shapes, pod);
  const info = nodes[node];
  if (subject === undefined || info === undefined) {
    throw new RangeError(`no shape for pod ${pod}, or no node ${node}`);
  }
  if (subject.topology !== NO_NEEDS || sites.nominees.size > 0 || headroom !== undefined) {
    return {
      remove: state.lift,
      restore: (victim) => state.place(victim, node),
      fits: () => state.fits(pod, node),
    };
  }
  const room = copyCapacity(state.whereabouts.freeCapacityOf(at(siteOf, node)));
  const update = (change: typeof occupy, victim: number): void => {
    const constraints = pods[victim]?.constraints;
    if (constraints !== undefined) {
      change(room, constraints, sites.attachmentsOf(victim));
    }
  };
  return {
    remove: (victim) => update(vacate, victim),
    restore: (victim) => update(occupy, victim),
    fits: () => capacityRefusal(subject, info, room) === undefined,
  };
}
