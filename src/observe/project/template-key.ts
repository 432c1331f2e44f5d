import { isObject, type JsonObject, MalformedField } from '../../model/json.ts';
import type { UnsupportedConstraint } from '../../model/pod.ts';
import type { Labels } from '../../model/selector.ts';
import { labelKeysOf } from './label-keys.ts';

/** Everything in a pod's spec, but containers and volumes, that its constraints are read from. */
const SPEC_FIELDS = [
  'overhead',
  'resources',
  'hostNetwork',
  'hostUsers',
  'nodeSelector',
  'affinity',
  'tolerations',
  'topologySpreadConstraints',
  'schedulerName',
  'schedulingGates',
  'resourceClaims',
  'schedulingGroup',
  'workloadRef',
  'os',
] as const;
const CONTAINER_FIELDS = ['name', 'image', 'restartPolicy', 'resources', 'ports', 'restartPolicyRules'] as const;
const STATUS_FIELDS = ['name', 'resources', 'allocatedResources'] as const;

/**
 * A text that is the same for two pods only when their constraints are: what `readConstraints` reads, as JSON. Pods of one
 * template have one key, so that a template is read once and not once per pod. Of the pod's own labels only those count that
 * its affinity or spread looks at: the pods of a StatefulSet, each with a label of its own, are one template. Throws
 * MalformedField.
 */
export function templateKey({ spec, status, labels, unsupportedVolumes }: ConstraintSource): string {
  const { containers, initContainers } = spec;
  const { containerStatuses, initContainerStatuses, conditions } = status;
  try {
    return JSON.stringify([
      pick(spec, SPEC_FIELDS),
      pickEach(containers, CONTAINER_FIELDS),
      pickEach(initContainers, CONTAINER_FIELDS),
      unsupportedVolumes,
      pickEach(containerStatuses, STATUS_FIELDS),
      pickEach(initContainerStatuses, STATUS_FIELDS),
      [status.resources, status.allocatedResources],
      Array.isArray(conditions)
        ? conditions.filter((each) => isObject(each) && each.type === 'PodResizePending')
        : conditions,
      labelKeysOf(spec).map((key) => (typeof key === 'string' ? labels.get(key) : undefined)),
    ]);
  } catch (error) {
    if (error instanceof RangeError || error instanceof TypeError) {
      throw new MalformedField('spec', 'is nested too deeply, or is no JSON');
    }
    throw error;
  }
}

function pick(object: JsonObject, fields: readonly string[]): readonly unknown[] {
  return fields.map((field) => object[field]);
}

function pickEach(list: unknown, fields: readonly string[]): unknown {
  return Array.isArray(list) ? list.map((item) => (isObject(item) ? pick(item, fields) : item)) : list;
}

/** What of a pod its constraints are read from. */
export interface ConstraintSource {
  readonly spec: JsonObject;
  readonly status: JsonObject;
  /** The pod's own. */
  readonly labels: Labels;
  /** What its volumes ask for and no filter evaluates. */
  readonly unsupportedVolumes: readonly UnsupportedConstraint[];
}
