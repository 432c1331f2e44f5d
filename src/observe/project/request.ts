import { booleanAt, integerAt, type JsonObject, objectAt, textAt, textEntriesAt } from '../../model/json.ts';
import type { OwnerRef } from '../../model/pod.ts';
import type { Labels } from '../../model/selector.ts';
import type { EpochSeconds } from '../../model/units.ts';
import { readCondition, readController, readMetadata } from './metadata.ts';
import type { WorkloadKind } from './workload.ts';

/** A controller of pods, as far as ledgers are concerned. */
export interface ProjectedRequest {
  readonly namespace: string;
  readonly self: OwnerRef;
  /** The controller above it. */
  readonly owner: OwnerRef | undefined;
  readonly createdAt: EpochSeconds;
  /** Replicas that are wanted now. */
  readonly desired: number;
  /** When a Job completed. */
  readonly completedAt: EpochSeconds | undefined;
  /** Labels of its pod template. */
  readonly labels: Labels;
  readonly priorityClassName: string | undefined;
}

/** What a controller wants. Throws MalformedField. */
export function projectRequest(object: JsonObject, kind: WorkloadKind): ProjectedRequest {
  const metadata = readMetadata(object, kind, 'Namespaced');
  const spec = objectAt(object, 'spec', '') ?? {};
  const status = objectAt(object, 'status', '') ?? {};
  const template = objectAt(spec, 'template', 'spec') ?? {};
  const templateMetadata = objectAt(template, 'metadata', 'spec.template') ?? {};
  const templateSpec = objectAt(template, 'spec', 'spec.template') ?? {};
  const completed = kind === 'Job' ? readCondition(status, 'Complete') : undefined;
  return {
    namespace: metadata.namespace,
    self: { kind, name: metadata.name, uid: metadata.uid },
    owner: readController(metadata),
    createdAt: metadata.createdAt,
    desired: Math.max(0, readDesired(kind, spec, status)),
    completedAt: completed?.isTrue === true ? completed.since : undefined,
    labels: new Map(textEntriesAt(templateMetadata, 'labels', 'spec.template.metadata')),
    priorityClassName: textAt(templateSpec, 'priorityClassName', 'spec.template.spec') || undefined,
  };
}

function readDesired(kind: WorkloadKind, spec: JsonObject, status: JsonObject): number {
  switch (kind) {
    case 'DaemonSet':
      return integerAt(status, 'desiredNumberScheduled', 'status') ?? 0;
    case 'Job':
      return jobDesired(spec, status);
    default:
      return integerAt(spec, 'replicas', 'spec') ?? 1;
  }
}

/** Pods that a Job wants at a time: no more than completions are missing, and without such a number none after the first. */
function jobDesired(spec: JsonObject, status: JsonObject): number {
  const isOver = ['Complete', 'Failed', 'SuccessCriteriaMet', 'FailureTarget'].some(
    (type) => readCondition(status, type)?.isTrue === true,
  );
  if (isOver || booleanAt(spec, 'suspend', 'spec')) {
    return 0;
  }
  const parallelism = integerAt(spec, 'parallelism', 'spec') ?? 1;
  const succeeded = integerAt(status, 'succeeded', 'status') ?? 0;
  const completions = integerAt(spec, 'completions', 'spec');
  if (completions === undefined) {
    return succeeded > 0 ? Math.min(parallelism, integerAt(status, 'active', 'status') ?? 0) : parallelism;
  }
  return Math.min(parallelism, completions - succeeded);
}
