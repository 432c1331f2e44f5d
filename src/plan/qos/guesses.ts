import { oncePer } from '../../model/once-per.ts';
import type { ServiceClass } from '../../model/service-level.ts';
import { type Allocation, allocationScore } from '../../qos/allocation-score.ts';
import { compareCosts, NONE_BELOW, type PreemptionCost } from '../../qos/preemption-cost.ts';
import { at, itemAt, type NodeIndex, type PodIndex } from '../indices.ts';
import { once } from '../once.ts';
import { classOf } from '../shapes.ts';
import type { State } from '../state.ts';
import type { PotentialVictim, PotentialVictims } from './potential-victims.ts';
import type { BestCase, PreemptionRules, ServicePosition } from './rules.ts';

/** A node for a pod that waits, and who has to leave it first. */
export interface CandidateNode {
  readonly node: NodeIndex;
  /** Empty on a node that has room. */
  readonly victims: readonly PotentialVictim[];
  /** Claimants with a metric below this may have them; others can have none there. */
  readonly bound: number;
  readonly cost: PreemptionCost;
  /** 0 to 10. */
  readonly score: number;
}

/** A pod that waits. `standing` is `undefined` without a class or a ledger: it goes where there is room, or waits on. */
export interface Preemptor {
  readonly pod: PodIndex;
  readonly standing: ServicePosition | undefined;
}

/** A host as it is, or at best. */
export interface Entry extends CandidateNode {
  /** Nobody has looked yet: the node is no better, and may be no host at all. */
  readonly isGuess: boolean;
}

/** Nodes as they are at best. */
export interface Guesses {
  /** `undefined`: the pod can have no room there. */
  readonly on: (claimant: Preemptor, node: NodeIndex) => Entry | undefined;
  /** What evictions from a node cost at least, for claimants of this class; `undefined`: there are none. */
  readonly bestCaseOn: (node: NodeIndex, claimants: ServiceClass) => BestCase | undefined;
  /** The nodes from which claimants of this class might have pods evicted. */
  readonly ranked: (claimants: ServiceClass) => Ranking;
}

/** Nodes with the best of their victims alone. Those that the plan had not changed when it was made are right; others are not. */
export interface Ranking {
  /** Claimants with a metric that is not below this can have nobody evicted from any of them; -Infinity when there are none. */
  readonly bound: number;
  /** By place, the best node first; `undefined` after the last. */
  readonly at: (place: number) => Entry | undefined;
}

/** Remembers by class of the claimant what evictions cost at best. */
export function createGuesses(state: State, { on: residentsOf }: PotentialVictims, rules: PreemptionRules): Guesses {
  const { shapes, nodes } = state.cluster;
  const bestCasesFor = oncePer((claimants: ServiceClass) => createBestCases(residentsOf, rules, claimants));
  const evicting = (node: NodeIndex, { cost, bound, victims }: BestCase): Entry => {
    const score = highestScore(state, node, residentsOf(node), victims);
    return { node, victims: [], bound, cost, score, isGuess: true };
  };
  return {
    on: ({ pod, standing }, node) => {
      if (!shapes.allows(classOf(shapes, pod), node)) {
        return undefined;
      }
      if (state.couldHold(pod, node)) {
        return { ...OPEN, node, score: scoreOf(state, node, []) };
      }
      const best = standing && bestCasesFor(standing.serviceClass)(node);
      return best && evicting(node, best);
    },
    bestCaseOn: (node, claimants) => bestCasesFor(claimants)(node),
    ranked: oncePer((claimants) => {
      const cases = nodes.flatMap((_, node) => {
        const best = bestCasesFor(claimants)(node);
        return best === undefined ? [] : [{ node, best }];
      });
      return createRanking(cases, ({ node, best }) => evicting(node, best));
    }),
  };
}

/** A node as it is at best, without its score. */
interface NodeCase {
  readonly node: NodeIndex;
  readonly best: BestCase;
}

/** The entries by place, the best first. Only those are scored that cost as little as one that was asked for. */
function createRanking(cases: readonly NodeCase[], scored: (node: NodeCase) => Entry): Ranking {
  const sorted = once(() => cases.toSorted((left, right) => compareCosts(left.best.cost, right.best.cost)));
  const ranked: Entry[] = [];
  const at = (place: number): Entry | undefined => {
    const byCost = sorted();
    while (ranked.length <= place && ranked.length < byCost.length) {
      const { cost } = itemAt(byCost, ranked.length).best;
      let end = ranked.length + 1;
      while (end < byCost.length && compareCosts(itemAt(byCost, end).best.cost, cost) === 0) {
        end += 1;
      }
      ranked.push(...byCost.slice(ranked.length, end).map(scored).sort(compareHosts));
    }
    return ranked[place];
  };
  return { bound: cases.reduce((most, { best }) => Math.max(most, best.bound), Number.NEGATIVE_INFINITY), at };
}

/** The best score of the node without one of its residents at these places. Those of a kind request the same. */
function highestScore(
  state: State,
  node: NodeIndex,
  residents: readonly PotentialVictim[],
  places: readonly number[],
): number {
  const { list, ofPod } = state.cluster.sites.counts.topologyIndex.kinds;
  const allocated = allocatedOn(state, node);
  let highest = 0;
  let before = -1;
  for (const place of places) {
    const kind = at(ofPod, itemAt(residents, place).pod);
    if (kind !== before) {
      highest = Math.max(highest, scoreWithout(allocated, itemAt(list, kind).constraints.requests));
      before = kind;
    }
  }
  return highest;
}

/** Judges for the largest margin that a claimant of the class can have. */
function createBestCases(
  residentsOf: PotentialVictims['on'],
  rules: PreemptionRules,
  claimants: ServiceClass,
): (node: NodeIndex) => BestCase | undefined {
  const bestOf = rules.bestCaseFor(claimants);
  const known = new Map<NodeIndex, BestCase | undefined>();
  return (node) => {
    if (!known.has(node)) {
      known.set(node, bestOf(residentsOf(node)));
    }
    return known.get(node);
  };
}

/** Negative when `left` is better: room first, by allocation score; then the lower cost; then the score; then the order of the nodes. */
export function compareHosts(left: CandidateNode, right: CandidateNode): number {
  return compareCosts(left.cost, right.cost) || right.score - left.score || left.node - right.node;
}

/** Costs less than any other. */
export const FREE: PreemptionCost = { below: NONE_BELOW, above: Number.POSITIVE_INFINITY, victims: 0 };

const OPEN = { victims: [], bound: Number.POSITIVE_INFINITY, cost: FREE, isGuess: true } as const;

/** The allocation score of the node as it is without its victims; what it is scored for does not count (QoS 3). */
export function scoreOf(state: State, node: NodeIndex, victims: readonly PotentialVictim[]): number {
  const { pods } = state.cluster;
  const gone = { cpu: 0, memory: 0 };
  for (const { pod } of victims) {
    const { requests } = itemAt(pods, pod).constraints;
    gone.cpu += requests.cpu;
    gone.memory += requests.memory;
  }
  return scoreWithout(allocatedOn(state, node), gone);
}

/** What is counted of the requests of pods. */
interface ResourceAmounts {
  readonly cpu: number;
  readonly memory: number;
}

type Allocated = Readonly<Record<keyof ResourceAmounts, Allocation>>;

function allocatedOn({ cluster, whereabouts }: State, node: NodeIndex): Allocated {
  const { nodes, siteOf } = cluster;
  const { allocatable } = itemAt(nodes, node);
  const room = whereabouts.freeCapacityOf(at(siteOf, node));
  const of = (resource: keyof ResourceAmounts): Allocation => ({
    capacity: allocatable[resource],
    allocated: allocatable[resource] - room[resource],
  });
  return { cpu: of('cpu'), memory: of('memory') };
}

function scoreWithout({ cpu, memory }: Allocated, gone: ResourceAmounts): number {
  return allocationScore(
    { capacity: cpu.capacity, allocated: cpu.allocated - gone.cpu },
    { capacity: memory.capacity, allocated: memory.allocated - gone.memory },
  );
}
