import type { Bytes, MilliCpu } from './units.ts';

/** The resources that a load is measured in; the Metrics API knows no others. */
export const LOAD_RESOURCES = ['cpu', 'memory'] as const;
/** A resource that a load is measured in. */
export type LoadResource = (typeof LOAD_RESOURCES)[number];

/** What a pod requests, or a node can give: the resources that kube-scheduler's NodeResourcesFit counts. */
export interface ResourceVector {
  readonly cpu: MilliCpu;
  readonly memory: Bytes;
  readonly ephemeralStorage: Bytes;
  /** Extended resources and huge pages by full name, in their own unit. */
  readonly extended: ReadonlyMap<string, number>;
}

/** Measured use of one pod or node. */
export interface Usage {
  readonly cpu: MilliCpu;
  readonly memory: Bytes;
}
