import type { PodIndex } from '../indices.ts';

/** Two pods of which one has to go. */
export type Edge = readonly [PodIndex, PodIndex];

/** Pods of one component beyond which the smallest cover is not looked for: it may take exponential time. */
const MOST_EXACT = 20;

/**
 * The fewest pods with at least one of each pair, of those that may go; pairs of which neither may are left out. Exact for groups
 * of up to MOST_EXACT pods that hang together, else the pod in most pairs first. In the order of `compare`, which also decides
 * between covers of one size.
 */
export function fewestThatTouchAll(
  edges: readonly Edge[],
  mayGo: (pod: PodIndex) => boolean,
  compare: (left: PodIndex, right: PodIndex) => number,
): readonly PodIndex[] {
  const chosen = new Set<PodIndex>();
  for (const [left, right] of edges) {
    if (mayGo(left) !== mayGo(right)) {
      chosen.add(mayGo(left) ? left : right);
    }
  }
  const open = edges.filter(([left, right]) => mayGo(left) && mayGo(right) && !chosen.has(left) && !chosen.has(right));
  for (const component of componentsOf(open)) {
    const pods = [...new Set(component.flat())].sort(compare);
    const cover = pods.length <= MOST_EXACT ? smallest(component, pods) : byDegree(component, pods);
    for (const pod of cover) {
      chosen.add(pod);
    }
  }
  return [...chosen].sort(compare);
}

function componentsOf(edges: readonly Edge[]): readonly (readonly Edge[])[] {
  const parent = new Map<PodIndex, PodIndex>();
  const rootOf = (pod: PodIndex): PodIndex => {
    let root = pod;
    for (let next = parent.get(root); next !== undefined && next !== root; next = parent.get(root)) {
      root = next;
    }
    parent.set(pod, root);
    return root;
  };
  for (const [left, right] of edges) {
    parent.set(rootOf(left), rootOf(right));
  }
  return [...Map.groupBy(edges, ([left]) => rootOf(left)).values()];
}

/** Branches on a pair: one of the two is in every cover. `pods` come in the order in which they are preferred. */
function smallest(edges: readonly Edge[], pods: readonly PodIndex[]): readonly PodIndex[] {
  const rank = new Map(pods.map((pod, place) => [pod, place]));
  const rankOf = (pod: PodIndex): number => rank.get(pod) ?? 0;
  const cost = (cover: readonly PodIndex[]): number => cover.reduce((sum, pod) => sum + rankOf(pod), 0);
  let best: readonly PodIndex[] = pods;
  const extend = (cover: readonly PodIndex[], open: readonly Edge[]): void => {
    if (cover.length > best.length) {
      return;
    }
    const [first] = open;
    if (first === undefined) {
      best = cover.length < best.length || cost(cover) < cost(best) ? cover : best;
      return;
    }
    if (cover.length === best.length) {
      return;
    }
    for (const pod of first.toSorted((left, right) => rankOf(left) - rankOf(right))) {
      extend(
        [...cover, pod],
        open.filter((edge) => !edge.includes(pod)),
      );
    }
  };
  extend([], edges);
  return best;
}

function byDegree(edges: readonly Edge[], pods: readonly PodIndex[]): readonly PodIndex[] {
  const degrees = new Map<PodIndex, Set<PodIndex>>(pods.map((pod) => [pod, new Set()]));
  for (const [left, right] of edges) {
    degrees.get(left)?.add(right);
    degrees.get(right)?.add(left);
  }
  const degreeOf = (pod: PodIndex): number => degrees.get(pod)?.size ?? 0;
  const cover: PodIndex[] = [];
  for (;;) {
    const next = pods.reduce<PodIndex>((most, pod) => (degreeOf(pod) > degreeOf(most) ? pod : most), -1);
    if (next < 0) {
      return cover;
    }
    cover.push(next);
    for (const other of degrees.get(next) ?? []) {
      degrees.get(other)?.delete(next);
    }
    degrees.get(next)?.clear();
  }
}
