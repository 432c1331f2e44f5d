import type { Cluster } from './cluster.ts';
import { amount, count, roundPercent } from './format.ts';
import { itemAt, type NodeIndex, numberAt } from './indices.ts';
import { meanOf, toFraction, toLoad } from './load.ts';
import type { PolicyOptions } from './options.ts';
import { countCodes, type Stays } from './rejections.ts';
import type { StateView } from './state.ts';

/**
 * What keeps the cluster from balance when a plan leaves highest and lowest node at least `thresholds.trigger` apart: the
 * node that stays highest, why its pods stay, the largest of them in its own words, and what capacity is missing if any
 * is. `undefined` when balance is reached and capacity suffices.
 */
export function residualImbalance(end: StateView, { thresholds }: PolicyOptions, stays: Stays): string | undefined {
  const [highest, lowest] = extremes(end);
  const missing = missingCapacity(end.cluster);
  if (end.load(highest) - end.load(lowest) < Math.max(1, toLoad(thresholds.trigger))) {
    return missing === '' ? undefined : missing;
  }
  const { nodes } = end.cluster;
  const stands = `${itemAt(nodes, highest).name} remains at ${roundPercent(toFraction(end.load(highest)))}`;
  const parts = [`${stands}: ${staysOn(end, highest, stays)}`, ...(missing === '' ? [] : [missing])];
  return parts.join('; ');
}

/** The nodes with the highest and the lowest load, ties by place. */
function extremes(state: StateView): readonly [highest: NodeIndex, lowest: NodeIndex] {
  let [highest, lowest] = [0, 0];
  for (const node of state.cluster.nodes.keys()) {
    highest = state.load(node) > state.load(highest) ? node : highest;
    lowest = state.load(node) < state.load(lowest) ? node : lowest;
  }
  return [highest, lowest];
}

/** What blocks the pods of a node, the largest of them in its own words. */
function staysOn(end: StateView, node: NodeIndex, { places, pods, reasons }: Stays): string {
  const here: number[] = [];
  places.forEach((pod, position) => {
    if (end.nodeOf(pod) === node) {
      here.push(position);
    }
  });
  const size = (position: number): number => end.load(node) - end.loadWithout(numberAt(places, position));
  const [largest] = here.toSorted((left, right) => size(right) - size(left));
  if (largest === undefined) {
    return 'no pod on it is in scope';
  }
  const [pod, reason] = [itemAt(pods, largest), itemAt(reasons, largest)];
  const codes = countCodes(here.map((position) => itemAt(reasons, position)));
  const of = ` of its ${count(here.length, 'pod')}`;
  const blocked = codes.map(([code, times], place) => `${code} blocks ${times}${place === 0 ? of : ''}`).join(', ');
  const percent = roundPercent(toFraction(size(largest)));
  return `${blocked}; its largest pod, ${pod.namespace}/${pod.name} (${percent}), stays: ${reason.message}`;
}

/**
 * Where the mean load of a resource is above 1, even a perfectly balanced cluster is overloaded: what is used beyond
 * allocatable is the capacity that is missing. Empty when nothing is.
 */
export function missingCapacity({ tables, home }: Cluster): string {
  const shortages = tables.usage.resources.flatMap((resource, index) => {
    const capacity = itemAt(tables.allocatable, index).reduce((sum, value) => sum + value, 0);
    const excess = (meanOf(tables, home, index) - 1) * capacity;
    return excess > 0 ? [amount(resource, excess)] : [];
  });
  return shortages.length === 0 ? '' : `the nodes are under-provisioned by ${shortages.join(' and ')}`;
}
