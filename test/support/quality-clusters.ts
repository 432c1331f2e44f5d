import type { ClusterSnapshot } from '../../src/model/snapshot.ts';
import type { PolicyOptions } from '../../src/plan/options.ts';
import { plan } from '../../src/plan/planner.ts';
import { someOptions } from './builders/options.ts';
import { generateSnapshot } from './generate.ts';

/** How many clusters the quality of plans is measured on. */
export const QUALITY_CLUSTERS = 100;

/** Heterogeneous clusters of 5 to 50 nodes with log-normal usage; seeds from 1 to QUALITY_CLUSTERS give varied shapes. */
export function qualityCluster(seed: number): ClusterSnapshot {
  const snapshot = generateSnapshot({
    seed,
    nodes: 5 + ((seed * 7) % 46),
    podsPerNode: 5 + (seed % 26),
    replicas: 2 + (seed % 19),
    sigma: 0.4 + (seed % 10) / 6,
    load: 0.3 + (seed % 7) / 10,
    pool: (seed % 3) / 10,
  });
  return { ...snapshot, pdbs: [] };
}

/** What a strategy makes of a cluster: standard deviation of cpu load, a fraction, and moves. */
export interface Quality {
  readonly stddev: number;
  readonly moves: number;
  /** Share of the moves that kube-scheduler would make without steering; `undefined` without moves. */
  readonly hitRatio: number | undefined;
}

/** Plans without thresholds, so that every strategy shows all that it can do. */
export function qualityOf(cluster: ClusterSnapshot, strategy: PolicyOptions['strategy']): Quality {
  const thresholds = { trigger: 0, minGain: 0, minImprovement: 0, minReduction: 0 };
  const found = plan(cluster, someOptions({ strategy, thresholds }));
  return {
    stddev: found.imbalance.planned.cpu?.stddev ?? Number.NaN,
    moves: found.moves.length,
    hitRatio: found.expectedHitRatio,
  };
}

/**
 * No placement can have a lower standard deviation: usage is poured like water over what cannot be moved, without regard to
 * pods, pools or constraints.
 */
export function stddevBound(cluster: ClusterSnapshot): number {
  const moves = (owner: string | undefined): boolean => owner === 'ReplicaSet';
  const nodes = cluster.nodes.map(({ name, allocatable }) => {
    const own = cluster.pods.filter((pod) => pod.nodeName === name && moves(pod.owner?.kind));
    const usage = own.reduce(
      (sum, pod) => sum + (cluster.usage?.pods.get(`${pod.namespace}/${pod.name}`)?.cpu ?? 0),
      0,
    );
    const total = cluster.usage?.nodes.get(name)?.cpu ?? 0;
    return { capacity: allocatable.cpu, floor: Math.max(0, total - usage) / allocatable.cpu, usage };
  });
  const usage = nodes.reduce((sum, node) => sum + node.usage, 0);
  const level = waterLevel(nodes, usage);
  const loads = nodes.map(({ floor }) => Math.max(floor, level));
  const capacity = nodes.reduce((sum, node) => sum + node.capacity, 0);
  const mean = nodes.reduce((sum, node, place) => sum + (loads[place] ?? 0) * node.capacity, 0) / capacity;
  return Math.sqrt(loads.reduce((sum, load) => sum + (load - mean) ** 2, 0) / loads.length);
}

/** The load up to which `amount` fills the nodes above their floors. */
function waterLevel(nodes: readonly { readonly capacity: number; readonly floor: number }[], amount: number): number {
  let [low, high] = [0, 100];
  for (let step = 0; step < 100; step += 1) {
    const middle = (low + high) / 2;
    const poured = nodes.reduce((sum, { capacity, floor }) => sum + Math.max(0, middle - floor) * capacity, 0);
    [low, high] = poured < amount ? [middle, high] : [low, middle];
  }
  return low;
}
