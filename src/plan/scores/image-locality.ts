import { MAX_SCORE, type Score } from './score.ts';
import { podAt } from './score-index.ts';

const MIB = 2 ** 20;
/** Images below this do not matter (imagelocality.minThreshold). */
const LEAST = 23 * MIB;
/** What one container's image counts at most (imagelocality.maxContainerThreshold). */
const MOST_PER_CONTAINER = 1000 * MIB;

/**
 * kube-scheduler's ImageLocality: the bytes of the pod's images that the node has, each weighted by the share of nodes that
 * have it, so that pods do not pile up where an image happens to be. Images that are volumes are not counted.
 */
export const imageLocality: Score = (pod, feasible, { index }) => {
  const { constraints } = podAt(index, pod);
  const { images } = constraints;
  const shares = images.map((image) => index.nodesWith(image) / index.nodes.length);
  if (shares.every((share) => share === 0)) {
    return new Int32Array(feasible.length);
  }
  const most = MOST_PER_CONTAINER * images.length;
  return feasible.map((site) => {
    const there = index.nodes[site]?.images;
    const sum = images.reduce(
      (bytes, image, place) => bytes + Math.trunc((there?.get(image) ?? 0) * (shares[place] ?? 0)),
      0,
    );
    return Math.trunc((MAX_SCORE * (Math.min(most, Math.max(LEAST, sum)) - LEAST)) / (most - LEAST));
  });
};
