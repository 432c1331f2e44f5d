import type { PodIndex } from '../indices.ts';
import { share } from '../load.ts';
import type { StrategyOptions } from '../options.ts';
import type { StateView } from '../state.ts';
import { createExclusions, type Exclusions } from './exclusions.ts';
import { lower } from './level.ts';
import { settle } from './local-search.ts';
import type { FindWay } from './search-terms.ts';
import type { Bounds, Proposal, Proposals, Strategy, Terms, Verdict } from './strategy.ts';
import { createTargets, type Targets } from './targets.ts';

type RefineOptions = Extract<StrategyOptions, { type: 'RefineLB' }>;

/**
 * RefineLB (algorithms.md 3; KSE 4, after Charm++): a node is heavy above mean x overload and light below the mean. Pods
 * are taken from heavy nodes only, so migrations are few by construction.
 *
 * Refinements None is the algorithm as published: the largest pod of any heavy node first, to the light node that it
 * fills best without passing mean x overload. A heavy node whose pods are too large for that stays as it is.
 *
 * Standard takes from the highest node first, by the move that lowers the squared deviations most, and to the light node that
 * ends up lowest. A heavy node whose pods are all too large for a light one may still give a pod to a node that then
 * ends up between mean x overload and what the heavy node was. The bound for the highest node is that of `lower`.
 */
export function refineLb(options: RefineOptions): Strategy {
  return {
    judgedBy: 'EachMove',
    bounds: (state) => boundsOf(state, options),
    keepsOrder: options.refinements === 'None',
    mayLeave: (state, node) => state.load(node) > boundsOf(state, options).sourceAbove,
    propose: (state, terms) =>
      options.refinements === 'None' ? proposePublished(state, terms, options) : proposeStandard(state, terms, options),
  };
}

function boundsOf({ cluster }: StateView, { overload, refinements }: RefineOptions): Bounds {
  const limit = Math.round(cluster.load.mean * overload);
  const published = refinements === 'None';
  return {
    sourceAbove: limit,
    belowCode: 'NotHeavy',
    rule: `mean ${share(cluster.load.mean)} x overload ${overload}`,
    targetBelow: published ? cluster.load.mean : Number.POSITIVE_INFINITY,
    targetUpTo: published ? limit : Number.POSITIVE_INFINITY,
  };
}

function proposeStandard(state: StateView, terms: Terms, options: RefineOptions): Proposals {
  const { sourceAbove } = boundsOf(state, options);
  const find: FindWay = (scratch, wayTerms) => {
    const moves: Proposal[] = [];
    lower(scratch, sourceAbove, wayTerms, moves);
    return { moves, isFinal: false };
  };
  return settle(state, terms, find, (at, node) => at.load(node) > sourceAbove);
}

/** Passes over the pods of the heavy nodes, the largest first, until a pass moves none. */
function* proposePublished(state: StateView, terms: Terms, options: RefineOptions): Proposals {
  const bounds = boundsOf(state, options);
  const targets = createTargets(state);
  const exclusions = createExclusions(state, terms);
  let moved: boolean;
  do {
    // A heavy node that becomes light is a new target, so what found none may find one in the next pass.
    moved = false;
    for (const pod of podsOfHeavyNodes(state, bounds.sourceAbove)) {
      moved = (yield* placePublished(state, terms, bounds, targets, exclusions, pod)) || moved;
      if (exclusions.isOver()) {
        return;
      }
    }
  } while (moved);
}

function* placePublished(
  state: StateView,
  { minGain }: Terms,
  { sourceAbove, targetBelow, targetUpTo }: Bounds,
  targets: Targets,
  exclusions: Exclusions,
  pod: PodIndex,
): Generator<Proposal, boolean, Verdict> {
  const load = state.load(state.nodeOf(pod));
  if (load <= sourceAbove || load - state.loadWithout(pod) < minGain || !exclusions.allows(pod)) {
    return false;
  }
  const to = targets.bestFit(pod, { below: targetBelow, upTo: Math.min(targetUpTo, load - minGain) });
  return to >= 0 && (yield* exclusions.offer({ pod, to }));
}

function podsOfHeavyNodes(state: StateView, above: number): readonly PodIndex[] {
  const heavy = [...state.cluster.nodes.keys()].filter((node) => state.load(node) > above);
  const sized = heavy.flatMap((node) =>
    state.movablePodsOn(node).map((pod) => ({ pod, size: state.load(node) - state.loadWithout(pod) })),
  );
  return sized.sort((left, right) => right.size - left.size || left.pod - right.pod).map(({ pod }) => pod);
}
