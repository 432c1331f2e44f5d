import { SCHEDULING_GATE } from '../../model/gate.ts';
import type { UnsupportedConstraint } from '../../model/pod.ts';
import { describe, type JsonObject, objectAt, objectsAt, textAt } from '../json.ts';

/**
 * Fields of a pod that bind it to nodes or to other pods in ways that no filter evaluates. Our own scheduling gate is none of
 * them: the operator itself opens it.
 */
export function unsupportedFields(spec: JsonObject): readonly UnsupportedConstraint[] {
  const found: UnsupportedConstraint[] = [];
  const scheduler = textAt(spec, 'schedulerName', 'spec') || 'default-scheduler';
  if (scheduler !== 'default-scheduler') {
    found.push({ filter: 'SchedulerName', detail: `spec.schedulerName is ${describe(scheduler)}` });
  }
  for (const gate of objectsAt(spec, 'schedulingGates', 'spec')) {
    if (gate.name !== SCHEDULING_GATE) {
      found.push({ filter: 'SchedulingGates', detail: `spec.schedulingGates has ${describe(gate.name)}` });
    }
  }
  for (const claim of objectsAt(spec, 'resourceClaims', 'spec')) {
    found.push({ filter: 'DynamicResources', detail: `spec.resourceClaims has ${describe(claim.name)}` });
  }
  for (const group of ['schedulingGroup', 'workloadRef']) {
    if (objectAt(spec, group, 'spec') !== undefined) {
      found.push({ filter: 'GangScheduling', detail: `spec.${group} is set` });
    }
  }
  const system = textAt(objectAt(spec, 'os', 'spec') ?? {}, 'name', 'spec.os') || 'linux';
  if (system !== 'linux') {
    found.push({ filter: 'PodOS', detail: `spec.os.name is ${describe(system)}` });
  }
  return [...found, ...declaredFeatures(spec)];
}

/** Features that a node must declare (KEP-5328): the scheduler infers these two from a pod's spec. */
function declaredFeatures(spec: JsonObject): readonly UnsupportedConstraint[] {
  const filter = 'NodeDeclaredFeatures';
  const ownUsers = spec.hostNetwork === true && spec.hostUsers === false;
  const containers = [...objectsAt(spec, 'containers', 'spec'), ...objectsAt(spec, 'initContainers', 'spec')];
  const restartsAll = containers.some((container) =>
    objectsAt(container, 'restartPolicyRules', 'spec.containers').some(
      ({ action }) => action === 'RestartAllContainers',
    ),
  );
  return [
    ...(ownUsers ? [{ filter, detail: 'spec.hostNetwork goes with spec.hostUsers: false' }] : []),
    ...(restartsAll ? [{ filter, detail: 'a container restarts all containers' }] : []),
  ];
}
