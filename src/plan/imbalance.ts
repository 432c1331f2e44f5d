import { amountAt, at, type IndexTable, itemAt, type NodeIndex, type PodIndex } from './indices.ts';
import { type LoadTables, meanOf } from './load.ts';
import type { Imbalance, ImbalanceByResource } from './plan.ts';

/**
 * How uneven every resource of the policy is when pod `i` is on node `nodeOf[i]` (algorithms.md 1, imbalance; KSE eq. 1 for
 * `ema`).
 */
export function imbalanceOf(tables: LoadTables, nodeOf: IndexTable<PodIndex, NodeIndex>): ImbalanceByResource {
  const entries = tables.usage.resources.map((name, index) => [name, measure(tables, nodeOf, index)] as const);
  return Object.fromEntries(entries);
}

/** Fractions of the nodes that offer the resource. */
function measure(tables: LoadTables, nodeOf: IndexTable<PodIndex, NodeIndex>, index: number): Imbalance {
  const used = Float64Array.from(itemAt(tables.floors, index));
  const values = itemAt(tables.usage.values, index);
  for (let pod = 0; pod < nodeOf.length; pod += 1) {
    const node = at(nodeOf, pod);
    if (node >= 0) {
      used[node] = amountAt(used, node) + amountAt(values, pod);
    }
  }
  const capacities = itemAt(tables.allocatable, index);
  const loads = used
    .map((value, node) => value / amountAt(capacities, node))
    .filter((_, node) => amountAt(capacities, node) > 0);
  return summarize(loads, meanOf(tables, nodeOf, index));
}

function summarize(loads: Float64Array, mean: number): Imbalance {
  let absolute = 0;
  let squared = 0;
  let max = 0;
  let min = Number.POSITIVE_INFINITY;
  for (const load of loads) {
    absolute += Math.abs(load - mean);
    squared += (load - mean) ** 2;
    max = Math.max(max, load);
    min = Math.min(min, load);
  }
  const nodes = Math.max(1, loads.length);
  return {
    mean,
    ema: absolute / nodes,
    stddev: Math.sqrt(squared / nodes),
    range: loads.length === 0 ? 0 : max - min,
    max,
  };
}
