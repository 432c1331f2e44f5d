import type { BudgetRefusal, PreemptionBudget } from '../budgets/budget.ts';
import type { Cluster } from '../cluster.ts';
import type { Evictability } from '../evictability.ts';
import type { NodeIndex, PodIndex } from '../indices.ts';
import { shapeOf, subjectOf } from '../shapes.ts';
import type { State } from '../state.ts';
import { NO_NEEDS } from '../topology/needs.ts';
import {
  type Arena,
  type CandidateNode,
  type CandidateTable,
  createCandidateTable,
  type Preemptor,
} from './candidates.ts';
import { createPotentialVictims, type PotentialVictimsOf } from './potential-victims.ts';
import type { BestCase, PreemptionRules, ServicePosition } from './rules.ts';
import type { ServicePositions } from './service-position.ts';

/** A running pod makes room for another. */
export interface PreemptionStep {
  readonly kind: 'Preemption';
  readonly pod: PodIndex;
  readonly node: NodeIndex;
  readonly standing: ServicePosition;
  readonly beneficiary: Preemptor;
}

/** A pod that waited gets a node. */
export interface AdmissionStep {
  readonly kind: 'Admission';
  readonly pod: PodIndex;
  readonly node: NodeIndex;
  readonly standing: ServicePosition | undefined;
  /** Places in the sequence of the preemptions that make room for it; ascending. */
  readonly needs: readonly number[];
  /** 0 to 10. */
  readonly score: number;
}

/** What happens to one pod of those who wait, and of those whose places they take. */
export type PreemptionPassStep = PreemptionStep | AdmissionStep;

/** What a pass over those who wait came to. */
export interface PreemptionPassResult {
  /** In sequence. */
  readonly steps: readonly PreemptionPassStep[];
  /** Those who wait on, in the order in which it was their turn. */
  readonly unplaced: readonly Preemptor[];
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
 */
export function preemptionPass(input: PreemptionPassInput): PreemptionPassResult {
  const { state, rules, budgets, holds, standings, maxSteps } = input;
  const steps: PreemptionPassStep[] = [];
  const unplaced: Preemptor[] = [];
  const evicted = new Set<PodIndex>();
  const touched: NodeIndex[] = [];
  const refusals = new Map<BudgetRefusal['code'], BudgetRefusal>();
  const residentsOf = createPotentialVictims(state.cluster, holds, standings);
  const arena: Arena = {
    state,
    rules,
    budgets,
    residentsOf,
    bestCaseOn: createBestCases(residentsOf, rules),
    wasEvicted: (pod) => evicted.has(pod),
    touched,
    onRefusal: (refusal) => refusals.set(refusal.code, refusal),
  };
  const tableOf = createTables(arena);
  const needsOf = createNeeds(state, steps);
  const place = (claimant: Preemptor, host: CandidateNode): void => {
    for (const { pod, standing } of host.victims) {
      state.lift(pod);
      evicted.add(pod);
      steps.push({ kind: 'Preemption', pod, node: host.node, standing, beneficiary: claimant });
      budgets.spend(pod);
    }
    budgets.close();
    const needs = needsOf(claimant.pod, host.node);
    const { pod, standing } = claimant;
    state.place(pod, host.node);
    steps.push({ kind: 'Admission', pod, node: host.node, standing, needs, score: host.score });
    touched.push(host.node);
  };
  for (const claimant of inOrder(input)) {
    const host = steps.length < maxSteps ? tableOf(claimant).bestFor(claimant) : undefined;
    if (host !== undefined && steps.length + host.victims.length < maxSteps) {
      place(claimant, host);
    } else {
      unplaced.push(claimant);
    }
  }
  return { steps, unplaced, refusals };
}

/** Remembers what evictions from a node cost at best, by class of the claimant. */
function createBestCases(residentsOf: PotentialVictimsOf, rules: PreemptionRules): Arena['bestCaseOn'] {
  const byClass = new Map<string, Map<NodeIndex, BestCase | undefined>>();
  return (node, claimant) => {
    const { name } = claimant.serviceClass;
    const known = byClass.get(name) ?? new Map<NodeIndex, BestCase | undefined>();
    byClass.set(name, known);
    if (!known.has(node)) {
      const residents = residentsOf(node).map(({ standing }) => standing);
      known.set(node, rules.bestCase(residents, claimant));
    }
    return known.get(node);
  };
}

/** Who waits, in the order of the rules; ties in the order of the pods; who was promised nothing that is known comes last. */
function inOrder({ queue, standings, rules }: PreemptionPassInput): readonly Preemptor[] {
  const claimants = queue.map((pod): Preemptor => ({ pod, standing: standings.of(pod) }));
  return claimants.sort((left, right) => {
    if (left.standing === undefined || right.standing === undefined) {
      return Number(left.standing === undefined) - Number(right.standing === undefined) || left.pod - right.pod;
    }
    return rules.compare(left.standing, right.standing) || left.pod - right.pod;
  });
}

/** One table for the claimants whom neither filters nor victims can tell apart. */
function createTables(arena: Arena): (claimant: Preemptor) => CandidateTable {
  const { shapes } = arena.state.cluster;
  const tables = new Map<string, CandidateTable>();
  return ({ pod, standing }) => {
    const key = `${shapeOf(shapes, pod)} ${standing?.serviceClass.name ?? ''}`;
    const table = tables.get(key) ?? createCandidateTable(arena);
    tables.set(key, table);
    return table;
  };
}

/**
 * The preemptions that an admission needs: none if the pod fits without any of them, beside those admitted so far that need
 * none either; else all on its node so far, and under affinity or spread all there were.
 */
function createNeeds(
  state: State,
  steps: readonly PreemptionPassStep[],
): (pod: PodIndex, node: NodeIndex) => readonly number[] {
  const { shapes } = state.cluster;
  const before = createWithoutPreemptions(state, steps);
  const isTied = (pod: PodIndex): boolean => subjectOf(shapes, pod).topology !== NO_NEEDS;
  return (pod, node) => {
    if (before.admits(pod, node)) {
      return [];
    }
    const tied = isTied(pod);
    return steps.flatMap((step, place) => (step.kind === 'Preemption' && (tied || step.node === node) ? [place] : []));
  };
}

/** The cluster as it would be if nobody were evicted; made when somebody first is. */
function createWithoutPreemptions(
  state: State,
  steps: readonly PreemptionPassStep[],
): { readonly admits: (pod: PodIndex, node: NodeIndex) => boolean } {
  let without: State | undefined;
  return {
    admits: (pod, node) => {
      if (without === undefined) {
        if (!steps.some(({ kind }) => kind === 'Preemption')) {
          return true;
        }
        without = state.fork();
        for (const step of steps) {
          if (step.kind === 'Preemption') {
            without.place(step.pod, step.node);
          }
        }
      }
      const fits = without.fits(pod, node);
      if (fits) {
        without.place(pod, node);
      }
      return fits;
    },
  };
}

/** Pods whose gate was opened to a node on which kube-scheduler has not bound them yet: their room is taken. */
export function promisedPlaces({ pods, nodes, home }: Cluster): readonly (readonly [pod: PodIndex, node: NodeIndex])[] {
  const places = new Map(nodes.map(({ name }, node) => [name, node]));
  return pods.flatMap(({ nodeName, waiting, terminating }, pod) => {
    const node = places.get(waiting?.pinnedTo ?? '');
    const isPromised = nodeName === undefined && waiting?.gated === false && !terminating && home[pod] === -1;
    return isPromised && node !== undefined ? [[pod, node] as const] : [];
  });
}
