import { at, type IndexTable, type PodIndex, type SiteIndex } from '../indices.ts';
import { imageLocality } from './image-locality.ts';
import { interPodAffinity } from './inter-pod-affinity.ts';
import { nodeAffinity } from './node-affinity.ts';
import { nodeResourcesBalancedAllocation } from './node-resources-balanced-allocation.ts';
import { nodeResourcesFit } from './node-resources-fit.ts';
import { podTopologySpread } from './pod-topology-spread.ts';
import type { Score } from './score.ts';
import type { ScoreContext } from './score-index.ts';
import { taintToleration } from './taint-toleration.ts';

/** Every score plugin under kube-scheduler's name, with its default weight (apis/config default plugins). */
export const SCORES = {
  TaintToleration: { weight: 3, score: taintToleration },
  NodeAffinity: { weight: 2, score: nodeAffinity },
  NodeResourcesFit: { weight: 1, score: nodeResourcesFit },
  PodTopologySpread: { weight: 2, score: podTopologySpread },
  InterPodAffinity: { weight: 2, score: interPodAffinity },
  NodeResourcesBalancedAllocation: { weight: 1, score: nodeResourcesBalancedAllocation },
  ImageLocality: { weight: 1, score: imageLocality },
} satisfies Readonly<Record<string, { readonly weight: number; readonly score: Score }>>;

/** A kube-scheduler score plugin that the planner evaluates. */
export type ScoreName = keyof typeof SCORES;

const ALL = Object.values(SCORES);

/** The weighted sum by which the scheduler would rank each feasible node, in the order of `feasible`: up to 1200. */
export function rank(pod: PodIndex, feasible: IndexTable<number, SiteIndex>, ground: ScoreContext): Int32Array {
  const totals = new Int32Array(feasible.length);
  for (const { weight, score } of ALL) {
    const values = score(pod, feasible, ground);
    for (let place = 0; place < totals.length; place += 1) {
      totals[place] = at(totals, place) + weight * at(values, place);
    }
  }
  return totals;
}

/** What each plugin contributes to `rank`: its score times its weight, in the order of `feasible`. */
export function scoresOf(
  pod: PodIndex,
  feasible: IndexTable<number, SiteIndex>,
  ground: ScoreContext,
): Readonly<Record<ScoreName, readonly number[]>> {
  const entries = Object.entries(SCORES).map(([name, { weight, score }]) => [
    name,
    Array.from(score(pod, feasible, ground), (value) => weight * value),
  ]);
  return Object.fromEntries(entries) as Record<ScoreName, readonly number[]>;
}
