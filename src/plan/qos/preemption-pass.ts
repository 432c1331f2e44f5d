import type { ServiceLedger } from '../../model/service-level.ts';
import type { BudgetRefusal, PreemptionBudget } from '../budgets/budget.ts';
import type { Cluster } from '../cluster.ts';
import type { Evictability } from '../evictability.ts';
import type { NodeIndex, PodIndex } from '../indices.ts';
import { shapeOf } from '../shapes.ts';
import type { State } from '../state.ts';
import { createNeeds } from './admission-needs.ts';
import { type Arena, type CandidateTable, createCandidateTable } from './candidates.ts';
import { type CandidateNode, createGuesses, type Preemptor } from './guesses.ts';
import { createPotentialVictims } from './potential-victims.ts';
import { createReplicaCount } from './replica-count.ts';
import type { PreemptionRules, ServicePosition } from './rules.ts';
import type { ServicePositions } from './service-position.ts';
import type { PreemptionPassStep } from './steps.ts';

/** Replicas of a Concurrent request that are let in together. */
export interface HeldBack {
  /** How many have no node; infinite where nobody knows. */
  readonly lacking: number;
  /** How many of these have come to the gate. */
  readonly waiting: number;
}

/** What a pass over those who wait came to. */
export interface PreemptionPassResult {
  /** In sequence. */
  readonly steps: readonly PreemptionPassStep[];
  /** Those who wait on, in the order in which it was their turn. */
  readonly unplaced: readonly Preemptor[];
  /** Those of them who wait on for the sake of others of their request. */
  readonly heldBack: ReadonlyMap<PodIndex, HeldBack>;
  /** What kept pods from being evicted, by code; the last of each. */
  readonly refusals: ReadonlyMap<BudgetRefusal['code'], BudgetRefusal>;
}

/** What a pass works on; `state` and `budgets` are spent. */
export interface PreemptionPassInput {
  readonly state: State;
  readonly queue: readonly PodIndex[];
  readonly budgets: PreemptionBudget;
  readonly holds: Evictability;
  readonly standings: ServicePositions;
  readonly rules: PreemptionRules;
  /** Steps that the plan has room for. */
  readonly maxSteps: number;
}

/**
 * One pass (algorithms.md 6): each who waits, in its turn, gets the best node that has room, or else the one on which room
 * costs least. Who cannot be placed does not stop the pass, nobody is evicted twice, and who is evicted waits for the next.
 * Replicas of a Concurrent request have their turn together, and are let in together or not at all (T 7.2.5).
 */
export function preemptionPass(input: PreemptionPassInput): PreemptionPassResult {
  const draft = createDraft(input);
  const heldBack = new Map<PodIndex, HeldBack>();
  const unplaced: Preemptor[] = [];
  for (const claimants of inTurn(input, draft.changeOf)) {
    const lacking = lackingOf(claimants, input);
    const isComplete = claimants.length >= lacking;
    const stuck = isComplete ? draft.admitAll(claimants) : undefined;
    if (stuck !== undefined || !isComplete) {
      unplaced.push(...claimants);
      for (const { pod } of claimants.filter((claimant) => claimant !== stuck)) {
        heldBack.set(pod, { lacking, waiting: claimants.length });
      }
    }
  }
  return { steps: draft.steps, unplaced, heldBack, refusals: draft.refusals };
}

/** How many have to come in together: of a Concurrent request without a ledger nobody knows. */
function lackingOf([first]: readonly Preemptor[], { standings }: PreemptionPassInput): number {
  if (first === undefined || first.standing !== undefined) {
    return first?.standing?.lacking ?? 0;
  }
  return standings.classOf(first.pod)?.mode === 'Concurrent' ? Number.POSITIVE_INFINITY : 0;
}

/** The steps of a pass while it is made. */
interface Draft {
  readonly steps: readonly PreemptionPassStep[];
  readonly refusals: ReadonlyMap<BudgetRefusal['code'], BudgetRefusal>;
  /** Places all of them, or none: then it returns the first for whom there is no place. */
  readonly admitAll: (claimants: readonly Preemptor[]) => Preemptor | undefined;
  /** So many more replicas of a request run after the pass than before it, or fewer; 0 where replicas are not added up. */
  readonly changeOf: (position: ServicePosition) => number;
}

function createDraft({ state, rules, budgets, holds, standings, maxSteps }: PreemptionPassInput): Draft {
  const steps: PreemptionPassStep[] = [];
  const evicted = new Set<PodIndex>();
  const touched: NodeIndex[] = [];
  const rejudged: ServiceLedger[] = [];
  const refusals = new Map<BudgetRefusal['code'], BudgetRefusal>();
  const potentialVictims = createPotentialVictims(state.cluster, holds, standings);
  const [evictions, admissions] = [createReplicaCount(), createReplicaCount()];
  const arena: Arena = {
    state,
    rules,
    budgets,
    potentialVictims,
    guesses: createGuesses(state, potentialVictims, rules),
    wasEvicted: (pod) => evicted.has(pod),
    evictions,
    judgedWithout: createJudgedWithout(standings),
    touched,
    rejudged,
    onRefusal: (refusal) => refusals.set(refusal.code, refusal),
  };
  const tableOf = createTables(arena);
  const needs = createNeeds(state, steps);
  const place = (claimant: Preemptor, host: CandidateNode): void => {
    for (const { pod, standing } of host.victims) {
      state.lift(pod);
      evicted.add(pod);
      evictions.add(standing, 1);
      if (evictions.of(standing) > 0) {
        rejudged.push(standing.request);
      }
      steps.push({ kind: 'Preemption', pod, node: host.node, standing, beneficiary: claimant });
      budgets.spend(pod);
    }
    const { pod, standing } = claimant;
    const own = needs.of(pod, host.node);
    state.place(pod, host.node);
    steps.push({ kind: 'Admission', pod, node: host.node, standing, needs: own, score: host.score });
    if (standing !== undefined) {
      admissions.add(standing, 1);
    }
    touched.push(host.node);
  };
  const admits = (claimant: Preemptor): boolean => {
    const host = steps.length < maxSteps ? tableOf(claimant).bestFor(claimant) : undefined;
    if (host === undefined || steps.length + host.victims.length >= maxSteps) {
      return false;
    }
    place(claimant, host);
    return true;
  };
  const takeBack = (step: PreemptionPassStep): void => {
    const { kind, pod, node, standing } = step;
    touched.push(node);
    if (standing !== undefined) {
      (kind === 'Admission' ? admissions : evictions).add(standing, -1);
    }
    if (kind === 'Admission') {
      state.lift(pod);
    } else {
      state.place(pod, node);
      evicted.delete(pod);
      budgets.refund(pod);
    }
  };
  return {
    steps,
    refusals,
    changeOf: (position) => admissions.of(position) - evictions.of(position),
    admitAll: (claimants) => {
      const before = steps.length;
      const stuck = claimants.find((claimant) => !admits(claimant));
      const made = steps.splice(before);
      if (stuck === undefined) {
        steps.push(...(claimants.length > 1 ? together(made, before) : made));
        budgets.close();
      } else {
        made.reverse().forEach(takeBack);
        needs.forget();
      }
      return stuck;
    },
  };
}

/** The steps from place `first` on with the evictions first, all of which every admission waits for. */
function together(steps: readonly PreemptionPassStep[], first: number): readonly PreemptionPassStep[] {
  const evictions = steps.filter(({ kind }) => kind === 'Preemption');
  const places = evictions.map((_, place) => first + place);
  const admissions = steps.flatMap((step) =>
    step.kind === 'Admission' ? [{ ...step, needs: [...step.needs.filter((need) => need < first), ...places] }] : [],
  );
  return [...evictions, ...admissions];
}

/** Remembers positions by what they were before: replicas that are judged alike share theirs. */
function createJudgedWithout(standings: ServicePositions): Arena['judgedWithout'] {
  const known = new Map<ServicePosition, Map<number, ServicePosition>>();
  return ({ pod, standing }, gone) => {
    const own = known.get(standing) ?? new Map<number, ServicePosition>();
    known.set(standing, own);
    const found = own.get(gone) ?? standings.of(pod, -gone) ?? standing;
    own.set(gone, found);
    return { pod, standing: found, gone };
  };
}

/** Who waits, in the order of the rules; ties in the order of the pods; who was promised nothing that is known comes last. */
function inOrder({ queue, standings, rules }: PreemptionPassInput): readonly Preemptor[] {
  const claimants = queue.map((pod): Preemptor => ({ pod, standing: standings.of(pod) }));
  return claimants.sort((left, right) => compareClaimants(left, right, rules));
}

function compareClaimants(left: Preemptor, right: Preemptor, rules: PreemptionRules): number {
  if (left.standing === undefined || right.standing === undefined) {
    return Number(left.standing === undefined) - Number(right.standing === undefined);
  }
  return rules.compare(left.standing, right.standing);
}

/** Who has a turn together, in order: those of a Concurrent request that lacks nodes, else each alone. */
function turnsOf(input: PreemptionPassInput): readonly (readonly Preemptor[])[] {
  const claimants = inOrder(input);
  const groups = Map.groupBy(
    claimants.filter(({ standing }) => (standing?.lacking ?? 0) > 0),
    ({ standing }) => standing?.request,
  );
  return claimants.flatMap((claimant) => {
    const group = groups.get(claimant.standing?.request);
    if (group === undefined) {
      return [[claimant]];
    }
    return group[0] === claimant ? [group] : [];
  });
}

/**
 * Turns in order, each judged when it comes: a replica of which others were let in can wait longer, and has its turn later; one of
 * which others were evicted can wait less long.
 */
function* inTurn(input: PreemptionPassInput, changeOf: Draft['changeOf']): Generator<readonly Preemptor[]> {
  const queue = [...turnsOf(input)];
  const judgedAt = new Map<PodIndex, number>();
  for (let turn = queue.shift(); turn !== undefined; turn = queue.shift()) {
    const now = rejudged(turn, input, changeOf, judgedAt);
    const [claimant] = now;
    if (now === turn || claimant === undefined) {
      yield turn;
    } else {
      const place = queue.findIndex(
        ([other]) => other !== undefined && compareClaimants(claimant, other, input.rules) < 0,
      );
      queue.splice(place < 0 ? queue.length : place, 0, now);
    }
  }
}

function rejudged(
  turn: readonly Preemptor[],
  { standings }: PreemptionPassInput,
  changeOf: Draft['changeOf'],
  judgedAt: Map<PodIndex, number>,
): readonly Preemptor[] {
  const [claimant] = turn;
  if (claimant?.standing === undefined) {
    return turn;
  }
  const { pod, standing } = claimant;
  const change = changeOf(standing);
  if (change === (judgedAt.get(pod) ?? 0)) {
    return turn;
  }
  judgedAt.set(pod, change);
  return [{ pod, standing: standings.of(pod, change) }];
}

/** One table for the claimants whom neither filters nor victims can tell apart. */
function createTables(arena: Arena): (claimant: Preemptor) => CandidateTable {
  const { shapes } = arena.state.cluster;
  const tables = new Map<string, CandidateTable>();
  return ({ pod, standing }) => {
    const request = (standing?.lacking ?? 0) > 0 ? standing?.request.owner.uid : undefined;
    const { serviceClass, safetyMargin } = standing ?? {};
    const key = `${shapeOf(shapes, pod)} ${serviceClass?.name ?? ''} ${safetyMargin ?? ''} ${request ?? ''}`;
    const table = tables.get(key) ?? createCandidateTable(arena);
    tables.set(key, table);
    return table;
  };
}

/** Pods whose gate was opened to a node on which kube-scheduler has not bound them yet: their room is taken. */
export function promisedPlaces({ pods, nodes, home }: Cluster): readonly (readonly [pod: PodIndex, node: NodeIndex])[] {
  const places = new Map(nodes.map(({ name }, node) => [name, node]));
  const promised: (readonly [pod: PodIndex, node: NodeIndex])[] = [];
  pods.forEach(({ nodeName, waiting, terminating }, pod) => {
    const node = waiting?.gated === false ? places.get(waiting.pinnedTo ?? '') : undefined;
    if (node !== undefined && nodeName === undefined && !terminating && home[pod] === -1) {
      promised.push([pod, node]);
    }
  });
  return promised;
}
