import {
  integerAt,
  type JsonObject,
  MalformedField,
  objectAt,
  objectsAt,
  textAt,
  timestampAt,
} from '../../model/json.ts';
import { REPLACING_KINDS } from '../../model/stranded.ts';
import { type EpochSeconds, epochSeconds, seconds } from '../../model/units.ts';
import type { RolloutState, WorkloadInfo } from '../../model/workload.ts';
import { type FieldMask, METADATA_FIELDS } from '../fields.ts';
import { type Metadata, readController, readMetadata } from './metadata.ts';
import { hasOurGate } from './waiting.ts';

/** What plans read of a controller of pods. */
export const WORKLOAD_FIELDS: FieldMask = {
  metadata: METADATA_FIELDS,
  spec: {
    replicas: true,
    parallelism: true,
    minReadySeconds: true,
    template: { spec: { nodeName: true, schedulingGates: [{ name: true }] } },
    podFailurePolicy: true,
    podReplacementPolicy: true,
    updateStrategy: { type: true, rollingUpdate: { partition: true } },
  },
  status: {
    observedGeneration: true,
    replicas: true,
    updatedReplicas: true,
    readyReplicas: true,
    availableReplicas: true,
    conditions: [{ type: true, lastUpdateTime: true }],
  },
};

/** Kinds that own pods, or own what owns pods. */
export const WORKLOAD_KINDS = [
  'Deployment',
  'ReplicaSet',
  'StatefulSet',
  'DaemonSet',
  'Job',
  'ReplicationController',
] as const;
/** A kind that owns pods. */
export type WorkloadKind = (typeof WORKLOAD_KINDS)[number];

/** The planner's view of a controller of pods. Throws MalformedField. */
export function projectWorkload(object: JsonObject, kind: WorkloadKind): WorkloadInfo {
  const metadata = readMetadata(object, kind, 'Namespaced');
  const spec = objectAt(object, 'spec', '') ?? {};
  const template = objectAt(objectAt(spec, 'template', 'spec') ?? {}, 'spec', 'spec.template') ?? {};
  return {
    kind,
    namespace: metadata.namespace,
    name: metadata.name,
    uid: metadata.uid,
    owner: readController(metadata),
    replicas: readReplicas(spec, kind),
    minReadySeconds: seconds(countAt(spec, 'minReadySeconds') ?? 0),
    pinnedNode: textAt(template, 'nodeName', 'spec.template.spec') || undefined,
    gated: hasOurGate(template, 'spec.template.spec'),
    toleratesDisruption: kind === 'Job' && ignoresDisruption(spec),
    replacesTerminating: replacesTerminating(kind, spec),
    rollout: readRollout(object, metadata, kind, spec),
    changedAt: epochSeconds(Math.max(metadata.createdAt, kind === 'Deployment' ? progressedAt(object) : 0)),
  };
}

/**
 * What the status says of the spec. A controller leaves out counts that are 0. `undefined` where the kind has no such
 * status, and for an object written by hand (no uid) without one.
 */
function readRollout(
  object: JsonObject,
  { object: meta, handWritten }: Metadata,
  kind: WorkloadKind,
  spec: JsonObject,
): RolloutState | undefined {
  const status = objectAt(object, 'status', '');
  if (kind === 'DaemonSet' || kind === 'Job' || (status === undefined && handWritten)) {
    return undefined;
  }
  const counts = status ?? {};
  const reached = (key: string): number => integerAt(counts, key, 'status') ?? 0;
  return {
    observed: reached('observedGeneration') >= (integerAt(meta, 'generation', 'metadata') ?? 0),
    updated: rollsOut(kind, spec) ? reached('updatedReplicas') : undefined,
    toUpdate: (readReplicas(spec, kind) ?? 0) - partitionOf(kind, spec),
    current: reached('replicas'),
    ready: reached('readyReplicas'),
    available: reached('availableReplicas'),
  };
}

/** Whether the kind replaces pods of an older template by itself. */
function rollsOut(kind: WorkloadKind, spec: JsonObject): boolean {
  const strategy = kind === 'StatefulSet' ? (objectAt(spec, 'updateStrategy', 'spec') ?? {}) : {};
  return kind === 'Deployment' || (kind === 'StatefulSet' && strategy.type !== 'OnDelete');
}

/** Replicas of a StatefulSet that are meant to stay on their old template. */
function partitionOf(kind: WorkloadKind, spec: JsonObject): number {
  if (kind !== 'StatefulSet') {
    return 0;
  }
  const strategy = objectAt(spec, 'updateStrategy', 'spec') ?? {};
  const rolling = objectAt(strategy, 'rollingUpdate', 'spec.updateStrategy') ?? {};
  return integerAt(rolling, 'partition', 'spec.updateStrategy.rollingUpdate') ?? 0;
}

/** When a Deployment last rolled out; 1970 when it does not say. */
function progressedAt(object: JsonObject): EpochSeconds {
  const conditions = objectsAt(objectAt(object, 'status', '') ?? {}, 'conditions', 'status');
  const index = conditions.findIndex(({ type }) => type === 'Progressing');
  const condition = conditions[index] ?? {};
  return timestampAt(condition, 'lastUpdateTime', `status.conditions[${index}]`) ?? epochSeconds(0);
}

/** Replicas that the kind asks for; 1 when its spec is silent. A DaemonSet has none, a Job its parallelism. */
function readReplicas(spec: JsonObject, kind: WorkloadKind): number | undefined {
  switch (kind) {
    case 'DaemonSet':
      return undefined;
    case 'Job':
      return countAt(spec, 'parallelism') ?? 1;
    default:
      return countAt(spec, 'replicas') ?? 1;
  }
}

function countAt(spec: JsonObject, key: string): number | undefined {
  const count = integerAt(spec, key, 'spec');
  if (count !== undefined && count < 0) {
    throw new MalformedField(`spec.${key}`, `${count} is negative`);
  }
  return count;
}

/** Whether a pod that is terminating counts as missing already (controller.FilterActivePods; podReplacementPolicy of a Job). */
function replacesTerminating(kind: WorkloadKind, spec: JsonObject): boolean {
  return REPLACING_KINDS.has(kind) && !(kind === 'Job' && spec.podReplacementPolicy === 'Failed');
}

/** The pod failure policy has a rule that ignores pods lost to an eviction (KEP-3329). */
function ignoresDisruption(spec: JsonObject): boolean {
  const policy = objectAt(spec, 'podFailurePolicy', 'spec') ?? {};
  return objectsAt(policy, 'rules', 'spec.podFailurePolicy').some(
    (rule, index) =>
      rule.action === 'Ignore' &&
      objectsAt(rule, 'onPodConditions', `spec.podFailurePolicy.rules[${index}]`).some(
        (pattern) => pattern.type === 'DisruptionTarget' && (pattern.status ?? 'True') === 'True',
      ),
  );
}
