import { seconds } from '../../model/units.ts';
import type { WorkloadInfo } from '../../model/workload.ts';
import { integerAt, type JsonObject, MalformedField, objectAt, objectsAt, textAt } from '../json.ts';
import { readController, readMetadata } from './metadata.ts';

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
    toleratesDisruption: kind === 'Job' && ignoresDisruption(spec),
  };
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
