import type { PodInfo } from '../model/pod.ts';
import { isMeasured, offeredOf } from '../model/resources.ts';
import { percent } from './format.ts';
import { amountAt, at, type IndexTable, itemAt, type NodeIndex, numberAt, type PodIndex } from './indices.ts';
import type { PolicyOptions } from './options.ts';
import type { Participant } from './participation.ts';
import type { PodUsage } from './pod-usage.ts';

/**
 * Loads are whole billionths of a node's allocatable. Whole numbers add up exactly, so a load does not depend on the
 * order of the pods, a pod that moves there and back leaves no trace, and writing 1000m as 1 changes nothing
 * (quality.md 6, 7).
 */
export const WHOLE_NODE = 1e9;

/** `fraction` of a node's capacity as a load. */
export function toLoad(fraction: number): number {
  return Math.round(fraction * WHOLE_NODE);
}

/** A load as a fraction of a node's capacity. */
export function toFraction(load: number): number {
  return load / WHOLE_NODE;
}

/** A load as a percentage of a node's capacity, for people. */
export function share(load: number): string {
  return percent(toFraction(load));
}

/** How usage becomes load on the nodes that take part. Nodes and pods are named by their place. */
export interface LoadModel {
  /**
   * Weighted: 1, since a weighted mean of fractions adds up pod by pod. Dominant: one per resource, and the load of a
   * node is the largest of its sums.
   */
  readonly dimensions: number;
  /** What the pod adds to `node` in one dimension: its usage over *that* node's allocatable. */
  readonly ofPod: (pod: PodIndex, node: NodeIndex, dimension: number) => number;
  /** What no known pod accounts for on `node`: daemons outside of pods. Fixed. */
  readonly ofFloor: (node: NodeIndex, dimension: number) => number;
  /** Equal for nodes whose sizes differ by less than a tenth in every resource. */
  readonly sizeClass: (node: NodeIndex) => string;
  /** Bounds of what a pod adds to the load of any of `nodes`. */
  readonly boundsOver: (nodes: Iterable<NodeIndex>) => PodBounds;
  /** The load that every node would have if usage could be poured: the capacity-weighted mean. */
  readonly mean: number;
  /** Share of each node in the capacity; adds up to 1. */
  readonly weights: Float64Array;
}

/** Bounds of what a pod, named by its place, adds to the load of some nodes. */
export interface PodBounds {
  readonly least: (pod: PodIndex) => number;
  readonly most: (pod: PodIndex) => number;
}

/** Usage and capacity per resource of the policy: what a load model is made from. */
export interface LoadTables {
  readonly usage: PodUsage;
  /** Per resource and node; 0 where the node does not offer it, which then does not count there. */
  readonly allocatable: readonly Float64Array[];
  /** Per resource and node. */
  readonly floors: readonly Float64Array[];
}

/**
 * Tables for the nodes that take part. `home` has the place of each pod's node, -1 elsewhere. The floor of a node is
 * its sample minus its pods' usage, never negative. What pods without samples are thought to use is at most what the
 * samples of the others leave of their node's own; a pod that is younger than the node's window is not part of the node's
 * sample and comes on top. The usage of a pod that is being deleted goes with it: it is neither load nor floor. What is not
 * measured has no floor.
 */
export function tabulate(
  participants: readonly Participant[],
  pods: readonly PodInfo[],
  home: IndexTable<PodIndex, NodeIndex>,
  usage: PodUsage,
): LoadTables {
  const allocatable = usage.resources.map((name) =>
    Float64Array.from(participants, ({ node }) => Math.max(0, offeredOf(node.allocatable, name))),
  );
  const windowStart = Float64Array.from(participants, ({ sample }) => startOf(sample));
  const isOldEnough = (pod: PodIndex, node: NodeIndex): boolean =>
    itemAt(pods, pod).createdAt <= amountAt(windowStart, node);
  const shares = usage.resources.map((name, index) => {
    const values = itemAt(usage.values, index);
    if (!isMeasured(name)) {
      return { values: values.slice(), floors: new Float64Array(participants.length) };
    }
    const samples = Float64Array.from(participants, ({ sample }) => sample?.[name] ?? 0);
    return shareOut(samples, values, usage.sampled, home, isOldEnough);
  });
  for (const { values } of shares) {
    pods.forEach(({ terminating }, pod) => {
      if (terminating) {
        values[pod] = 0;
      }
    });
  }
  return {
    usage: { ...usage, values: shares.map(({ values }) => values) },
    allocatable,
    floors: shares.map(({ floors }) => floors),
  };
}

/** What pods use of one resource, bounded by the samples of their nodes, and what is left of these. */
function shareOut(
  samples: Float64Array,
  usage: Float64Array,
  sampled: Uint8Array,
  home: IndexTable<PodIndex, NodeIndex>,
  isOldEnough: (pod: PodIndex, node: NodeIndex) => boolean,
): { readonly values: Float64Array; readonly floors: Float64Array } {
  const left = samples.slice();
  const estimated = new Float64Array(samples.length);
  const isEstimated = new Uint8Array(usage.length);
  home.forEach((node, pod) => {
    if (node >= 0 && sampled[pod] === 1) {
      left[node] = amountAt(left, node) - amountAt(usage, pod);
    } else if (node >= 0 && isOldEnough(pod, node)) {
      isEstimated[pod] = 1;
      estimated[node] = amountAt(estimated, node) + amountAt(usage, pod);
    }
  });
  const bounds = left.map((rest, node) => Math.min(amountAt(estimated, node), Math.max(0, rest)));
  const values = usage.map((value, pod) => {
    const node = at(home, pod);
    const [bound, sum] = isEstimated[pod] === 1 ? [amountAt(bounds, node), amountAt(estimated, node)] : [0, 0];
    return bound < sum ? value * (bound / sum) : value;
  });
  return { values, floors: left.map((rest, node) => Math.max(0, rest - amountAt(bounds, node))) };
}

/** NaN, which nothing is older than, where there is no sample: nothing is part of that. */
function startOf(sample: Participant['sample']): number {
  return sample === undefined
    ? Number.NEGATIVE_INFINITY
    : sample.timestamp - (Number.isNaN(sample.window) ? 0 : sample.window);
}

/** The load that some nodes would have if what is used there could be poured, while more of them join. */
export interface PooledLoad {
  readonly join: (node: NodeIndex) => void;
  /** The capacity-weighted mean; 0 without nodes. */
  readonly mean: () => number;
}

/** The pool of the nodes of `tables`, none of which has joined. */
export function pooledLoad(
  tables: LoadTables,
  home: IndexTable<PodIndex, NodeIndex>,
  { load }: PolicyOptions,
): PooledLoad {
  const used = tables.usage.values.map((values, index) => {
    const sums = itemAt(tables.floors, index).slice();
    for (let pod = 0; pod < home.length; pod += 1) {
      const node = at(home, pod);
      if (node >= 0) {
        sums[node] = amountAt(sums, node) + amountAt(values, pod);
      }
    }
    return sums;
  });
  const pools = used.map(() => ({ used: 0, capacity: 0 }));
  return {
    join: (node) => {
      pools.forEach((pool, index) => {
        const capacity = amountAt(itemAt(tables.allocatable, index), node);
        pool.used += capacity > 0 ? amountAt(itemAt(used, index), node) : 0;
        pool.capacity += capacity;
      });
    },
    mean: () => {
      const means = pools.map((pool) => (pool.capacity > 0 ? pool.used / pool.capacity : 0));
      return toLoad(meanOfAll(means, load));
    },
  };
}

function meanOfAll(means: readonly number[], { aggregate, resources }: PolicyOptions['load']): number {
  return aggregate === 'Dominant'
    ? Math.max(...means)
    : mix(
        means,
        resources.map(({ weight }) => weight),
      );
}

/** A tenth, on the logarithmic scale on which node sizes are told apart. */
const SIZE_STEP = Math.log(1.1);

/** The load model of a policy over `tables`. */
export function loadModel(
  tables: LoadTables,
  home: IndexTable<PodIndex, NodeIndex>,
  { load }: PolicyOptions,
): LoadModel {
  const { usage, allocatable, floors } = tables;
  const weights = load.resources.map(({ weight }) => weight);
  const dominant = load.aggregate === 'Dominant' && weights.length > 1;
  const fraction = dominant ? ratio : weightedMean;
  const means = usage.resources.map((_, index) => meanOf(tables, home, index));
  return {
    dimensions: dominant ? weights.length : 1,
    ofPod: (pod, node, dimension) =>
      Math.round(WHOLE_NODE * fraction(usage.values, pod, allocatable, node, weights, dimension)),
    ofFloor: (node, dimension) =>
      Math.round(WHOLE_NODE * fraction(floors, node, allocatable, node, weights, dimension)),
    sizeClass: (node) =>
      allocatable.map((capacities) => Math.floor(Math.log(amountAt(capacities, node)) / SIZE_STEP)).join(),
    boundsOver: (nodes) => bounds(tables, Int32Array.from(nodes), weights, dominant),
    mean: toLoad(meanOfAll(means, load)),
    weights: capacityShares(allocatable, weights),
  };
}

function ratio(
  amounts: readonly Float64Array[],
  place: number,
  allocatable: readonly Float64Array[],
  node: NodeIndex,
  _weights: readonly number[],
  dimension: number,
): number {
  const capacity = amountAt(itemAt(allocatable, dimension), node);
  return capacity > 0 ? amountAt(itemAt(amounts, dimension), place) / capacity : 0;
}

/** Over the resources that count on the node. */
function weightedMean(
  amounts: readonly Float64Array[],
  place: number,
  allocatable: readonly Float64Array[],
  node: NodeIndex,
  weights: readonly number[],
): number {
  if (weights.length === 1) {
    return ratio(amounts, place, allocatable, node, weights, 0);
  }
  let sum = 0;
  let total = 0;
  for (let index = 0; index < weights.length; index += 1) {
    if (amountAt(itemAt(allocatable, index), node) > 0) {
      const weight = numberAt(weights, index);
      sum += weight * ratio(amounts, place, allocatable, node, weights, index);
      total += weight;
    }
  }
  return total > 0 ? sum / total : 0;
}

function mix(values: readonly number[], weights: readonly number[]): number {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return total > 0 ? values.reduce((sum, value, index) => sum + value * numberAt(weights, index), 0) / total : 0;
}

/**
 * A weighted mean is least on a node that is largest in everything; where a resource does not count on some node, and
 * for the dominant resource, only the smallest of the fractions is a safe bound.
 */
function bounds(
  { usage, allocatable }: LoadTables,
  nodes: Int32Array,
  weights: readonly number[],
  dominant: boolean,
): PodBounds {
  const offered = allocatable.map((capacities) =>
    Float64Array.from(nodes, (node) => amountAt(capacities, node)).filter((capacity) => capacity > 0),
  );
  const largest = offered.map((capacities) => capacities.reduce((most, capacity) => Math.max(most, capacity), 0));
  const smallest = offered.map((capacities, index) =>
    capacities.reduce((least, capacity) => Math.min(least, capacity), numberAt(largest, index)),
  );
  const everywhere = !dominant && offered.every((capacities) => capacities.length === nodes.length);
  const bound = (pod: PodIndex, capacities: readonly number[], safe: (...values: number[]) => number): number => {
    const fractions = capacities.map((capacity, index) => amountAt(itemAt(usage.values, index), pod) / (capacity || 1));
    return WHOLE_NODE * (everywhere ? mix(fractions, weights) : safe(...fractions));
  };
  if (weights.length === 1) {
    const [values, most, least] = [itemAt(usage.values, 0), largest[0] || 1, smallest[0] || 1];
    return {
      least: (pod) => Math.floor((WHOLE_NODE * amountAt(values, pod)) / most),
      most: (pod) => Math.ceil((WHOLE_NODE * amountAt(values, pod)) / least),
    };
  }
  return {
    least: (pod) => Math.floor(bound(pod, largest, Math.min)),
    most: (pod) => Math.ceil(bound(pod, smallest, Math.max)),
  };
}

/** Capacity-weighted mean of one resource, a fraction: sum of usage over sum of allocatable where it is offered. */
export function meanOf(
  { usage, allocatable, floors }: LoadTables,
  home: IndexTable<PodIndex, NodeIndex>,
  index: number,
): number {
  const capacities = itemAt(allocatable, index);
  let used = 0;
  let capacity = 0;
  for (let node = 0; node < capacities.length; node += 1) {
    const offered = amountAt(capacities, node);
    used += offered > 0 ? amountAt(itemAt(floors, index), node) : 0;
    capacity += offered;
  }
  const values = itemAt(usage.values, index);
  for (let pod = 0; pod < home.length; pod += 1) {
    const node = at(home, pod);
    used += node >= 0 && amountAt(capacities, node) > 0 ? amountAt(values, pod) : 0;
  }
  return capacity > 0 ? used / capacity : 0;
}

function capacityShares(allocatable: readonly Float64Array[], weights: readonly number[]): Float64Array {
  const nodes = allocatable[0]?.length ?? 0;
  const totals = allocatable.map((capacities) => capacities.reduce((sum, capacity) => sum + capacity, 0));
  return Float64Array.from({ length: nodes }, (_, node) =>
    mix(
      allocatable.map((capacities, index) =>
        numberAt(totals, index) > 0 ? amountAt(capacities, node) / numberAt(totals, index) : 0,
      ),
      weights,
    ),
  );
}
