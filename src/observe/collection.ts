import type { WorkloadInfo } from '../model/workload.ts';
import { SNAPSHOT_KINDS, type SnapshotKind, type Values } from './kind-table.ts';
import { WORKLOAD_KINDS } from './project/workload.ts';
import { keyOf, type Projected } from './snapshot-kinds.ts';

/** Projected objects by kind and name, before they are put in order. */
export interface Collection {
  /** The objects of a kind by `name` or `namespace/name`, see KindRow.keyOf. */
  of<Kind extends SnapshotKind>(kind: Kind): ReadonlyMap<string, Values[Kind]>;
  /** Controllers of all kinds. */
  workloads(): readonly WorkloadInfo[];
  /** The Metrics API is served, or there is at least one of its objects. */
  metricsServed(): boolean;
  /** Keeps an object; true when it replaces another of its kind and name. */
  put<Kind extends SnapshotKind>(projected: Projected<Kind>): boolean;
  /** Drops all objects of a kind. */
  forget(kind: SnapshotKind): void;
  noteMetricsServed(): void;
}

type Tables = { readonly [Kind in SnapshotKind]: Map<string, Values[Kind]> };

/** A collection without objects. */
export function createCollection(): Collection {
  const tables = Object.fromEntries(SNAPSHOT_KINDS.map((kind) => [kind, new Map()])) as unknown as Tables;
  let served = false;
  return {
    of: (kind) => tables[kind],
    workloads: () => WORKLOAD_KINDS.flatMap((kind) => [...tables[kind].values()]),
    metricsServed: () => served || tables.NodeMetrics.size > 0 || tables.PodMetrics.size > 0,
    put(projected) {
      const table = tables[projected.kind];
      const key = keyOf(projected);
      const known = table.has(key);
      table.set(key, projected.value);
      return known;
    },
    forget: (kind) => tables[kind].clear(),
    noteMetricsServed: () => {
      served = true;
    },
  };
}
