import type { JsonObject } from '../model/json.ts';
import type { NodeInfo } from '../model/node.ts';
import { type EpochSeconds, epochSeconds, seconds } from '../model/units.ts';
import type { WorkloadInfo } from '../model/workload.ts';
import type { Interner } from '../observe/interner.ts';
import { projectNode } from '../observe/project/node.ts';
import { projectPod } from '../observe/project/pod.ts';
import { hasOurGate } from '../observe/project/waiting.ts';
import { CLASS_LABEL } from '../qos/class-of.ts';
import type { InstanceUsage, Scenario, WorkloadSpec } from './scenario.ts';
import { constant } from './trace.ts';

/** When simulations begin unless a snapshot says otherwise: a Thursday at midnight. */
export const DEFAULT_START: EpochSeconds = epochSeconds(Date.UTC(2026, 0, 1) / 1000);

/** What a cluster does unless a scenario says otherwise: start-up times as measured (algorithms.md 5). */
export const DEFAULT_TIMING: Scenario['timing'] = {
  startup: {
    hot: { kind: 'Fixed', value: seconds(2.4) },
    cold: { kind: 'Fixed', value: seconds(5.4) },
  },
  termination: { kind: 'Fixed', value: seconds(1) },
  recreation: seconds(0),
  scheduling: seconds(0.01),
  reaction: seconds(1),
  nodeGrace: seconds(50),
  nodeToleration: seconds(300),
};

/** Window and resolution of metrics-server. */
export const DEFAULT_METRICS: Scenario['metrics'] = { window: seconds(15), served: true };

/** Size of images that ImageLocality is told of. */
export const DEFAULT_IMAGE_SIZE = 200 * 2 ** 20;

/** A node that gives this much, as Kubernetes quantities by resource. */
export function makeNode(
  name: string,
  allocatable: Readonly<Record<string, string>>,
  interner: Interner,
  { labels = {}, taints = [] }: { readonly labels?: JsonObject; readonly taints?: readonly JsonObject[] } = {},
): NodeInfo {
  const metadata = { name, uid: `node-${name}`, labels: { 'kubernetes.io/hostname': name, ...labels } };
  const status = { allocatable: { pods: '110', ...allocatable }, conditions: [{ type: 'Ready', status: 'True' }] };
  return { ...projectNode({ metadata, spec: { taints }, status }, interner), createdAt: DEFAULT_START };
}

/** What a workload is made from; everything but its name and its pods has a default. */
export interface WorkloadParts extends Partial<Omit<WorkloadSpec, 'info' | 'template' | 'className'>> {
  readonly kind?: 'Deployment' | 'StatefulSet' | 'Job';
  readonly namespace?: string;
  readonly name: string;
  readonly replicas?: number;
  readonly minReadySeconds?: number;
  /** A pod template: `metadata` with labels and annotations, and `spec`. */
  readonly template: JsonObject;
}

/** A workload whose pods use what they request unless `usage` says otherwise. Throws MalformedField for a bad template. */
export function makeWorkload(parts: WorkloadParts, interner: Interner): WorkloadSpec {
  const { kind = 'Deployment', namespace = 'default', name, replicas = 1, minReadySeconds = 0, template: raw } = parts;
  const uid = `${kind.toLowerCase()}-${namespace}-${name}`;
  const template = templateOf(raw, { kind, namespace, name, uid }, interner);
  const { requests } = template.constraints;
  const asRequested: InstanceUsage = { cpu: constant(requests.cpu), memory: constant(requests.memory) };
  const info: WorkloadInfo = {
    kind: kind === 'Deployment' ? 'ReplicaSet' : kind,
    namespace,
    name,
    uid,
    owner: undefined,
    replicas,
    minReadySeconds: seconds(minReadySeconds),
    pinnedNode: undefined,
    gated: template.waiting?.gated === true,
    toleratesDisruption: kind === 'Job',
    replacesTerminating: kind !== 'StatefulSet',
    rollout: kind === 'Job' ? undefined : NOTHING_YET,
    changedAt: DEFAULT_START,
  };
  return {
    recreates: true,
    standing: [],
    arrivesAt: 0,
    endsAfter: undefined,
    runTime: undefined,
    usage: [asRequested],
    requests: undefined,
    ...parts,
    info,
    template,
    className: template.labels.get(CLASS_LABEL),
  };
}

/** Counts that the cluster keeps. */
const NOTHING_YET = { observed: true, updated: 0, toUpdate: 0, current: 0, ready: 0, available: 0 };

function templateOf(
  raw: JsonObject,
  {
    kind,
    namespace,
    name,
    uid,
  }: { readonly kind: string; readonly namespace: string; readonly name: string; readonly uid: string },
  interner: Interner,
): WorkloadSpec['template'] {
  const { metadata = {}, spec = {} } = raw as { readonly metadata?: JsonObject; readonly spec?: JsonObject };
  const controller = { apiVersion: 'apps/v1', kind: ownerKind(kind), name, uid, controller: true };
  const object = { metadata: { ...metadata, namespace, name, uid: 'template', ownerReferences: [controller] }, spec };
  const { pod } = projectPod(object, interner);
  const waiting = { gated: hasOurGate(spec, 'spec'), pinnedTo: undefined, unschedulable: false };
  return { ...pod, nodeName: undefined, phase: 'Pending', ready: false, readySince: undefined, waiting };
}

/** A Deployment stands for its one ReplicaSet: there are no rollouts. */
function ownerKind(kind: string): string {
  return kind === 'Deployment' ? 'ReplicaSet' : kind;
}
