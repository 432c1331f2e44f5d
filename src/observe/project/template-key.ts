import type { Labels } from '../../model/selector.ts';
import { isObject, type JsonObject, MalformedField } from '../json.ts';
import { relevantVolumes } from './volumes.ts';

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
const CONTAINER_FIELDS = ['name', 'restartPolicy', 'resources', 'ports', 'restartPolicyRules'] as const;
const STATUS_FIELDS = ['name', 'resources', 'allocatedResources'] as const;

/**
 * A text that is the same for two pods only when their constraints are: what `readConstraints` reads, as JSON. Pods of one
 * template have one key, so that a template is read once and not once per pod. Throws MalformedField.
 */
export function templateKey(spec: JsonObject, status: JsonObject, labels: Labels): string {
  const { volumes, containers, initContainers, affinity } = spec;
  const { containerStatuses, initContainerStatuses, conditions } = status;
  try {
    return JSON.stringify([
      pick(spec, SPEC_FIELDS),
      pickEach(containers, CONTAINER_FIELDS),
      pickEach(initContainers, CONTAINER_FIELDS),
      Array.isArray(volumes) ? relevantVolumes(volumes) : volumes,
      pickEach(containerStatuses, STATUS_FIELDS),
      pickEach(initContainerStatuses, STATUS_FIELDS),
      [status.resources, status.allocatedResources],
      Array.isArray(conditions)
        ? conditions.filter((each) => isObject(each) && each.type === 'PodResizePending')
        : conditions,
      // Only anti-affinity looks at the pod's own labels.
      affinity === undefined ? 0 : [...labels],
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
