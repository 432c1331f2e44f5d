import { percent } from '../format.ts';
import { toFraction } from '../load.ts';
import type { StrategyOptions } from '../options.ts';
import type { StateView } from '../state.ts';
import { bestMoveFrom } from './best-move.ts';
import { createExclusions, type Exclusions } from './exclusions.ts';
import { createNodeHeap } from './node-heap.ts';
import type { Bounds, Proposal, Proposals, Strategy } from './strategy.ts';
import { createTargets, type TargetLimits, type Targets } from './targets.ts';

/** Settings of RefineLB. */
export type RefineOptions = Extract<StrategyOptions, { type: 'RefineLB' }>;

/**
 * RefineLB (KSE 4, after Charm++): a node is heavy above mean x overload and light below the mean; pods move from heavy
 * nodes to light ones, and no move takes its target above mean x overload, so that a target never becomes heavy, a moved
 * pod never moves again, and the next plan is empty. Few migrations by construction.
 *
 * Refinements None: as published, the largest pod of any heavy node first, to the light node that it fills best.
 * Standard: the highest node first, by the move that lowers the objective most, to the light node that ends up lowest.
 */
export function refineLb(options: RefineOptions): Strategy {
  return {
    judgedBy: 'EachMove',
    bounds: (state) => boundsOf(state, options),
    propose: (state, minGain) => propose(state, minGain, options),
  };
}

function boundsOf({ cluster }: StateView, { overload }: RefineOptions): Bounds {
  const limit = Math.round(cluster.load.mean * overload);
  return {
    sourceAbove: limit,
    belowCode: 'NotHeavy',
    rule: `mean ${percent(toFraction(cluster.load.mean))} x overload ${overload}`,
    targetBelow: cluster.load.mean,
    targetUpTo: limit,
  };
}

function* propose(state: StateView, minGain: number, options: RefineOptions): Proposals {
  const { sourceAbove, targetBelow, targetUpTo } = boundsOf(state, options);
  const search: Search = {
    state,
    minGain,
    heavyAbove: sourceAbove,
    limits: { below: targetBelow, upTo: targetUpTo },
    targets: createTargets(state),
    exclusions: createExclusions(state),
  };
  const pass = options.refinements === 'None' ? publishedPass : standardPass;
  // A node that stops being heavy may become light, and its room lets pods in that were refused before.
  let moved: boolean;
  do {
    moved = yield* pass(search);
  } while (moved && !search.exclusions.isOver());
}

interface Search {
  readonly state: StateView;
  readonly minGain: number;
  readonly heavyAbove: number;
  readonly limits: TargetLimits;
  readonly targets: Targets;
  readonly exclusions: Exclusions;
}

type Pass = (search: Search) => Generator<Proposal, boolean, Parameters<Exclusions['note']>[2]>;

/** The highest node first, move by move; a node that has no move left is put aside until the next pass. */
const standardPass: Pass = function* standardPass(search) {
  const { state, heavyAbove, minGain, targets, limits, exclusions } = search;
  const heap = createNodeHeap(state, heavyNodes(state, heavyAbove));
  let moved = false;
  for (let node = heap.pop(); node >= 0 && !exclusions.isOver(); node = heap.pop()) {
    const proposal = bestMoveFrom(state, node, targets, limits, minGain, exclusions.allows);
    if (proposal !== undefined) {
      moved = (yield* offer(search, proposal, node)) || moved;
    }
    if (proposal !== undefined && state.load(node) > heavyAbove) {
      heap.push(node);
    }
  }
  return moved;
};

/** The pods of the heavy nodes, the largest first; each goes to the light node that it fills best. */
const publishedPass: Pass = function* publishedPass(search) {
  const { state, heavyAbove, minGain, targets, limits, exclusions } = search;
  let moved = false;
  for (const pod of podsOfHeavyNodes(state, heavyAbove)) {
    const node = state.nodeOf(pod);
    const load = state.load(node);
    if (load <= heavyAbove || !exclusions.allows(pod) || load - state.loadWithout(pod) < minGain) {
      continue;
    }
    const to = targets.bestFit(pod, { below: limits.below, upTo: Math.min(limits.upTo, load - minGain) });
    if (to >= 0) {
      moved = (yield* offer(search, { pod, to }, node)) || moved;
    }
    if (exclusions.isOver()) {
      break;
    }
  }
  return moved;
};

function* offer({ exclusions }: Search, proposal: Proposal, from: number): ReturnType<Pass> {
  const verdict = yield proposal;
  exclusions.note(proposal, from, verdict);
  return verdict.accepted;
}

function heavyNodes(state: StateView, above: number): readonly number[] {
  const heavy = [...state.cluster.nodes.keys()].filter((node) => state.load(node) > above);
  return heavy.sort((left, right) => state.load(right) - state.load(left) || left - right);
}

function podsOfHeavyNodes(state: StateView, above: number): readonly number[] {
  const pods = heavyNodes(state, above).flatMap((node) => state.movablePodsOn(node));
  const size = (pod: number): number => state.load(state.nodeOf(pod)) - state.loadWithout(pod);
  const sized = pods.map((pod) => ({ pod, load: size(pod) }));
  return sized.sort((left, right) => right.load - left.load || left.pod - right.pod).map(({ pod }) => pod);
}
