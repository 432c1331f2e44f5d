import type { Taint } from '../../model/node.ts';
import type { HostPort, SchedulingConstraints } from '../../model/pod.ts';
import { count, trimmed } from '../format.ts';

/** What a filter looks at on the side of the pod; pods that share one also share their verdicts. */
export interface Subject {
  readonly constraints: SchedulingConstraints;
  /** `spec.nodeName` of the workload's template: where the replacement runs whatever the scheduler thinks. */
  readonly pinnedNode: string | undefined;
}

/** Why a node cannot take a pod: the scheduler's filter and what it found. */
export type Refusal =
  | { readonly filter: 'NodeUnschedulable' }
  | { readonly filter: 'NodeName'; readonly pinnedNode: string }
  | { readonly filter: 'TaintToleration'; readonly taint: Taint }
  | { readonly filter: 'NodeAffinity'; readonly field: 'nodeSelector' | 'nodeAffinity' }
  | { readonly filter: 'NodePorts'; readonly port: HostPort }
  | {
      readonly filter: 'NodeResourcesFit';
      /** cpu, memory, ephemeral-storage, pods, or the name of an extended resource. */
      readonly resource: string;
      /** In the unit of the resource: millicores, bytes, a count. */
      readonly need: number;
      readonly free: number;
    };

/** A refusal in one clause without a subject, such as `has the taint gpu=yes:NoSchedule`. */
export function describeRefusal(refusal: Refusal): string {
  switch (refusal.filter) {
    case 'NodeUnschedulable':
      return 'is cordoned';
    case 'NodeName':
      return `is not ${refusal.pinnedNode}, to which the template binds the pod`;
    case 'TaintToleration':
      return `has the taint ${taintText(refusal.taint)}, which the pod does not tolerate`;
    case 'NodeAffinity':
      return `does not match the pod's ${refusal.field}`;
    case 'NodePorts':
      return `has host port ${refusal.port.port}/${refusal.port.protocol} in use`;
    case 'NodeResourcesFit':
      return describeShortage(refusal.resource, refusal.need, refusal.free);
    default:
      return refusal satisfies never;
  }
}

/** The numbers of a refusal, in base units. */
export function refusalNumbers(refusal: Refusal): Readonly<Record<string, number>> {
  switch (refusal.filter) {
    case 'NodeResourcesFit':
      return { need: refusal.need, free: refusal.free };
    case 'NodePorts':
      return { port: refusal.port.port };
    default:
      return {};
  }
}

function describeShortage(resource: string, need: number, free: number): string {
  switch (resource) {
    case 'pods':
      return `has ${count(Math.max(0, free), 'free pod slot')}`;
    case 'cpu':
      return `has ${trimmed(free)}m of ${trimmed(need)}m cpu free`;
    case 'memory':
    case 'ephemeral-storage':
      return `has ${trimmed(free / 2 ** 20)} MiB of ${trimmed(need / 2 ** 20)} MiB ${resource} free`;
    default:
      return `has ${trimmed(free)} of ${trimmed(need)} ${resource} free`;
  }
}

function taintText({ key, value, effect }: Taint): string {
  return value === '' ? `${key}:${effect}` : `${key}=${value}:${effect}`;
}
