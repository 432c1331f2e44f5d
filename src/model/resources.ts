import type { Bytes, MilliCpu } from './units.ts';

/** Resources whose use is measured; the Metrics API knows no others. */
export const MEASURED_RESOURCES = ['cpu', 'memory'] as const;
/** A resource whose use is measured. */
export type MeasuredResource = (typeof MEASURED_RESOURCES)[number];

/**
 * Name of a resource that a load is made of, as Kubernetes writes it: a measured one, `pods`, `ephemeral-storage`, or an extended
 * one such as `nvidia.com/gpu`. What is not measured counts by what pods request of it, and each pod as one of `pods`.
 */
export type LoadResource = string;

/** Whether the use of a resource is measured. */
export function isMeasured(name: LoadResource): name is MeasuredResource {
  return MEASURED_RESOURCES.some((measured) => measured === name);
}

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

/** Amounts of resources; ResourceVector is one whose numbers have their units. */
type Amounts = { readonly [Name in Exclude<keyof ResourceVector, 'extended'>]: number } & Pick<
  ResourceVector,
  'extended'
>;

/** What is there of a resource, in its unit: millicores, bytes, or its own; 0 when nothing is said of it. */
export function amountOf(vector: Amounts, name: LoadResource): number {
  switch (name) {
    case 'cpu':
      return vector.cpu;
    case 'memory':
      return vector.memory;
    case 'ephemeral-storage':
      return vector.ephemeralStorage;
    default:
      return vector.extended.get(name) ?? 0;
  }
}

/** What a pod with these requests takes of a resource: of `pods` one. */
export function requestedOf(requests: ResourceVector, name: LoadResource): number {
  return name === 'pods' ? 1 : amountOf(requests, name);
}

/** What a node offers of a resource: of `pods` its slots. */
export function offeredOf(allocatable: ResourceVector & { readonly pods: number }, name: LoadResource): number {
  return name === 'pods' ? allocatable.pods : amountOf(allocatable, name);
}
