import { nodeRefusal } from './filters/index.ts';
import type { Subject } from './filters/refusal.ts';
import { at, type IndexTable, itemAt, type NodeIndex, type PodIndex, type SiteIndex } from './indices.ts';
import type { AcceptedMove } from './judge.ts';
import { rank } from './scores/index.ts';
import { SCHEDULER_ASSUMES } from './scores/score-index.ts';
import { subjectOf } from './shapes.ts';
import type { StateView } from './state.ts';
import { refusalsAt } from './verdicts.ts';

/** Moves that are judged at most, and nodes that are looked at for all of them together. */
const MOST_JUDGED = 32;
const MOST_EVALUATIONS = 25_000;

/**
 * The share of the moves whose replacement kube-scheduler would put on the planned node by itself, in [0, 1]; `undefined`
 * without moves. `start` is where the moves begin. Each move is looked at in its position of the plan: the pod is gone, and
 * among all nodes of the cluster that its filters let it run on, its old one included, the scheduler takes one of those with
 * the highest score at random (schedule_one selectHost). Plans of more moves than MOST_JUDGED, or of more than come to
 * MOST_EVALUATIONS looks at nodes, are judged by evenly spaced ones.
 */
export function expectedHitRatio(start: StateView, moves: readonly AcceptedMove[]): number | undefined {
  if (moves.length === 0) {
    return undefined;
  }
  const state = start.fork();
  const most = Math.max(1, Math.floor(MOST_EVALUATIONS / state.cluster.sites.nodes.length));
  const judged = Math.min(moves.length, most, MOST_JUDGED);
  let sum = 0;
  let done = 0;
  moves.forEach(({ pod, to }, position) => {
    state.lift(pod);
    if (position === Math.floor((done * moves.length) / judged)) {
      sum += chanceOf(state, pod, to);
      done += 1;
    }
    state.place(pod, to);
  });
  return sum / judged;
}

/**
 * The chance that the scheduler puts a lifted pod on `to`: that it scores the node at all, times that it chooses it then. In
 * a large cluster it scores only some of the feasible nodes, from where it happens to stand; evenly spaced ones stand for
 * them.
 */
function chanceOf(state: StateView, pod: PodIndex, to: NodeIndex): number {
  const { siteOf, scores, sites } = state.cluster;
  const feasible = feasibleSites(state, pod);
  const site = at(siteOf, to);
  const target = feasible.indexOf(site);
  if (target < 0) {
    return 0;
  }
  const scored = evenlyFrom(feasible, target, nodesToScore(sites.nodes.length));
  const totals = rank(pod, scored, { ...state.whereabouts, index: scores, assumed: SCHEDULER_ASSUMES });
  const best = totals.reduce((highest, other) => Math.max(highest, other), 0);
  const total = at(totals, scored.indexOf(site));
  const ties = totals.reduce((sum, other) => sum + (other === best ? 1 : 0), 0);
  return total === best ? scored.length / feasible.length / ties : 0;
}

/**
 * How many feasible nodes the scheduler looks for in a cluster of `nodes` before it scores them, unless it is configured
 * otherwise (schedule_one numFeasibleNodesToFind): all of fewer than 100, else a share that falls from 50 % to 5 %.
 */
export function nodesToScore(nodes: number): number {
  const percentage = Math.max(5, 50 - Math.trunc(nodes / 125));
  return nodes < 100 ? nodes : Math.max(100, Math.trunc((nodes * percentage) / 100));
}

/** `most` of the values, evenly spaced, the one at `start` among them; all of them when there are no more. */
function evenlyFrom(values: Int32Array, start: number, most: number): Int32Array {
  if (values.length <= most) {
    return values;
  }
  const chosen = new Int32Array(most);
  for (let index = 0; index < most; index += 1) {
    chosen[index] = at(values, (start + Math.floor((index * values.length) / most)) % values.length);
  }
  return chosen;
}

/** Places of the nodes on which the filters let a lifted pod run, those included that take no part in the plan. */
function feasibleSites(state: StateView, pod: PodIndex): IndexTable<number, SiteIndex> {
  const { shapes, nodeAt } = state.cluster;
  const subject = subjectOf(shapes, pod);
  const found: number[] = [];
  nodeAt.forEach((node, site) => {
    if (node >= 0 ? state.passes(pod, node) : fitsOutside(state, pod, subject, site)) {
      found.push(site);
    }
  });
  return Int32Array.from(found);
}

function fitsOutside({ whereabouts }: StateView, pod: PodIndex, subject: Subject, site: SiteIndex): boolean {
  const { nodes, storage } = whereabouts.sites;
  const isRefused = nodeRefusal(subject, itemAt(nodes, site), storage) !== undefined;
  return !isRefused && refusalsAt(whereabouts, pod, subject, site).length === 0;
}
