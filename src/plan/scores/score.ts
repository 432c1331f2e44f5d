import type { IndexTable, PodIndex, SiteIndex } from '../indices.ts';
import type { ScoreContext } from './score-index.ts';

/** The best score of a node (framework.MaxNodeScore). */
export const MAX_SCORE = 100;

/**
 * How much kube-scheduler would like each feasible node for a pod, in the order of `feasible`: whole numbers from 0 to
 * MAX_SCORE, after the plugin's own normalisation over these nodes. Nodes and pods are named by their place among all of the
 * cluster; `pod` counts nowhere on the ground.
 */
export type Score = (pod: PodIndex, feasible: IndexTable<number, SiteIndex>, ground: ScoreContext) => Int32Array;

/**
 * Scales counts so that the largest becomes MAX_SCORE, and turns them around where less is better
 * (helper.DefaultNormalizeScore). Counts are not negative.
 */
export function normalize(counts: Int32Array, isReverse: boolean): Int32Array {
  const most = counts.reduce((largest, count) => Math.max(largest, count), 0);
  const share = (count: number): number => (most === 0 ? 0 : Math.trunc((MAX_SCORE * count) / most));
  return counts.map((count) => (isReverse ? MAX_SCORE - share(count) : share(count)));
}
