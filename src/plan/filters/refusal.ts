import type { Taint } from '../../model/node.ts';
import type { HostPort, SchedulingConstraints } from '../../model/pod.ts';
import { count, trimmed } from '../format.ts';
import { NO_NEEDS, type TopologyNeeds } from '../topology/needs.ts';
import { NO_VOLUMES, type VolumeNeeds } from '../volume-needs.ts';

/** What a filter looks at on the side of the pod; pods that share one also share their verdicts. */
export interface Subject {
  readonly constraints: SchedulingConstraints;
  /** `spec.nodeName` of the workload's template: where the replacement runs whatever the scheduler thinks. */
  readonly pinnedNode: string | undefined;
  readonly volumes: VolumeNeeds;
  readonly topology: TopologyNeeds;
}

/** A subject that neither volumes nor other pods tie to anything. */
export function plainSubject(constraints: SchedulingConstraints, pinnedNode?: string): Subject {
  return { constraints, pinnedNode, volumes: NO_VOLUMES, topology: NO_NEEDS };
}

/** Why a node cannot take a pod: the scheduler's filter and what it found. */
export type Refusal =
  | { readonly filter: 'NodeUnschedulable' }
  | { readonly filter: 'NodeName'; readonly pinnedNode: string }
  | { readonly filter: 'TaintToleration'; readonly taint: Taint }
  | { readonly filter: 'NodeAffinity'; readonly field: 'nodeSelector' | 'nodeAffinity' | 'preferred nodeAffinity' }
  | { readonly filter: 'NodePorts'; readonly port: HostPort }
  | {
      readonly filter: 'NodeResourcesFit';
      /** cpu, memory, ephemeral-storage, pods, or the name of an extended resource. */
      readonly resource: string;
      /** In the unit of the resource: millicores, bytes, a count. */
      readonly need: number;
      readonly free: number;
    }
  | { readonly filter: 'VolumeRestrictions'; readonly claim: string }
  | { readonly filter: 'NodeVolumeLimits'; readonly driver: string; readonly need: number; readonly free: number }
  | { readonly filter: 'VolumeBinding'; readonly detail: string }
  | { readonly filter: 'VolumeZone'; readonly volume: string; readonly zone: string }
  | {
      readonly filter: 'PodTopologySpread';
      readonly topologyKey: string;
      /** `undefined`: the node does not carry the topology key. */
      readonly domain: string | undefined;
      /** With the pod. */
      readonly skew: number;
      readonly maxSkew: number;
    }
  | {
      readonly filter: 'InterPodAffinity';
      /** Whose term it is: the pod's own affinity or anti-affinity, or the anti-affinity of a pod that runs there. */
      readonly rule: 'affinity' | 'antiAffinity' | 'existingAntiAffinity';
      readonly topologyKey: string;
      /** `undefined`: the node does not carry the topology key. */
      readonly domain: string | undefined;
      /** Pods in that domain that the rule is about. */
      readonly pods: number;
    };

/** Why a node is no target: a filter, or what the policy repairs or leaves free and a move keeps. */
export type TargetRefusal =
  | Refusal
  /** `most`: on each node, once they are spread evenly. */
  | { readonly filter: 'Duplicates'; readonly pods: number; readonly most: number }
  /** `need`, `free` without the pod, and what must stay free: millicores or bytes. */
  | {
      readonly filter: 'Headroom';
      readonly resource: 'cpu' | 'memory';
      readonly need: number;
      readonly free: number;
      readonly headroom: number;
    };

/** A refusal in one clause without a subject, such as `has the taint gpu=yes:NoSchedule`. */
export function describeRefusal(refusal: TargetRefusal): string {
  switch (refusal.filter) {
    case 'NodeUnschedulable':
      return 'is cordoned';
    case 'NodeName':
      return `is not ${refusal.pinnedNode}, to which the template binds the pod`;
    case 'TaintToleration':
      return `has the taint ${taintText(refusal.taint)}, which the pod does not tolerate`;
    case 'NodeAffinity':
      return refusal.field === 'preferred nodeAffinity'
        ? 'matches less of what the nodeAffinity of the pod prefers'
        : `does not match the pod's ${refusal.field}`;
    case 'NodePorts':
      return `has host port ${refusal.port.port}/${refusal.port.protocol} in use`;
    case 'NodeResourcesFit':
      return describeShortage(refusal.resource, refusal.need, refusal.free);
    case 'VolumeRestrictions':
      return `cannot have claim ${refusal.claim}, which is ReadWriteOncePod and used by another pod`;
    case 'NodeVolumeLimits':
      return `can attach ${refusal.free} more volumes of ${refusal.driver}, the pod brings ${refusal.need}`;
    case 'VolumeBinding':
      return `is refused by volume binding: ${refusal.detail}`;
    case 'VolumeZone':
      return `is not in ${refusal.zone}, where PersistentVolume ${refusal.volume} is`;
    case 'PodTopologySpread':
      return describeSpread(refusal);
    case 'InterPodAffinity':
      return describeAffinity(refusal);
    case 'Duplicates':
      return `has ${count(refusal.pods, 'pod')} of its controller already, ${refusal.most} for each node`;
    case 'Headroom':
      return describeHeadroom(refusal);
    default:
      return refusal satisfies never;
  }
}

/** The numbers of a refusal, in base units. */
export function refusalNumbers(refusal: TargetRefusal): Readonly<Record<string, number>> {
  switch (refusal.filter) {
    case 'NodeResourcesFit':
    case 'NodeVolumeLimits':
      return { need: refusal.need, free: refusal.free };
    case 'PodTopologySpread':
      return { skew: refusal.skew, maxSkew: refusal.maxSkew };
    case 'InterPodAffinity':
      return { pods: refusal.pods };
    case 'Duplicates':
      return { pods: refusal.pods, most: refusal.most };
    case 'Headroom':
      return { need: refusal.need, free: refusal.free, headroom: refusal.headroom };
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

function describeHeadroom({ resource, need, free, headroom }: Extract<TargetRefusal, { filter: 'Headroom' }>): string {
  const shown = (amount: number): string =>
    resource === 'cpu' ? `${trimmed(amount)}m` : `${trimmed(amount / 2 ** 20)} MiB`;
  return `has ${shown(free)} ${resource} free of the ${shown(need)} of the pod and the ${shown(headroom)} that thresholds.headroom leaves`;
}

function describeSpread({ topologyKey, domain, skew, maxSkew }: Extract<Refusal, { filter: 'PodTopologySpread' }>) {
  return domain === undefined
    ? `has no label ${topologyKey}, over which the pod is spread`
    : `would make the skew over ${topologyKey} ${skew}, in ${domain}, and maxSkew is ${maxSkew}`;
}

function describeAffinity({ rule, topologyKey, domain, pods }: Extract<Refusal, { filter: 'InterPodAffinity' }>) {
  const where = domain === undefined ? `without label ${topologyKey}` : `in ${topologyKey} ${domain}`;
  switch (rule) {
    case 'affinity':
      return `is ${where}, where no pod matches the pod's affinity`;
    case 'antiAffinity':
      return `is ${where}, with ${count(pods, 'pod')} that the pod's anti-affinity matches`;
    case 'existingAntiAffinity':
      return `is ${where}, with ${count(pods, 'pod')} whose anti-affinity matches the pod`;
    default:
      return rule satisfies never;
  }
}

function taintText({ key, value, effect }: Taint): string {
  return value === '' ? `${key}:${effect}` : `${key}=${value}:${effect}`;
}
