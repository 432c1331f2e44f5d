import { SCHEDULING_GATE } from '../../model/gate.ts';
import { describe, integerAt, type JsonObject, objectAt, objectsAt, textAt, textEntriesAt } from '../../model/json.ts';
import type { TaintEffect } from '../../model/node.ts';
import type { HostPort, SchedulingConstraints, Toleration, UnsupportedConstraint } from '../../model/pod.ts';
import type { Interner } from '../interner.ts';
import { readNodeAffinity } from './node-affinity.ts';
import { readPreferredPodTerms, readRequiredPodTerms } from './pod-affinity.ts';
import { podRequests } from './pod-requests.ts';
import type { ConstraintSource } from './template-key.ts';
import { templateKey } from './template-key.ts';
import { readSpread } from './topology-spread.ts';

/** What decides where the pod fits, interned. Throws MalformedField. */
export function readConstraints(source: ConstraintSource, interner: Interner): SchedulingConstraints {
  return interner.constraints(templateKey(source), () => {
    const { spec, status, labels, unsupportedVolumes } = source;
    const unsupported: UnsupportedConstraint[] = [];
    const affinity = objectAt(spec, 'affinity', 'spec') ?? {};
    const nodeAffinity = readNodeAffinity(affinity, unsupported);
    const constraints: SchedulingConstraints = {
      requests: podRequests(spec, status, interner),
      nodeSelector: interner.labels(textEntriesAt(spec, 'nodeSelector', 'spec')),
      nodeAffinity: nodeAffinity.required,
      preferredNodeAffinity: nodeAffinity.preferred,
      tolerations: readTolerations(spec, unsupported),
      hostPorts: readHostPorts(spec),
      podAffinity: readRequiredPodTerms(affinity, 'podAffinity', labels),
      podAntiAffinity: readRequiredPodTerms(affinity, 'podAntiAffinity', labels),
      preferredPodAffinity: readPreferredPodTerms(affinity, labels),
      spread: readSpread(spec, labels, unsupported),
      images: readImages(spec, interner),
      unsupported,
    };
    unsupported.push(...unsupportedVolumes, ...unsupportedFields(spec));
    return constraints;
  });
}

const TAINT_EFFECTS: ReadonlyMap<string, TaintEffect> = new Map([
  ['NoSchedule', 'NoSchedule'],
  ['PreferNoSchedule', 'PreferNoSchedule'],
  ['NoExecute', 'NoExecute'],
]);

/** The taint effect of this name; undefined for any other text. */
export function taintEffect(text: string): TaintEffect | undefined {
  return TAINT_EFFECTS.get(text);
}

const TOLERATION_OPERATORS: ReadonlyMap<string, Toleration['operator']> = new Map([
  ['', 'Equal'],
  ['Equal', 'Equal'],
  ['Exists', 'Exists'],
  ['Gt', 'Gt'],
  ['Lt', 'Lt'],
]);

function readTolerations(spec: JsonObject, unsupported: UnsupportedConstraint[]): readonly Toleration[] {
  const tolerations: Toleration[] = [];
  objectsAt(spec, 'tolerations', 'spec').forEach((item, index) => {
    const field = `spec.tolerations[${index}]`;
    const operator = TOLERATION_OPERATORS.get(textAt(item, 'operator', field) ?? '');
    const effectText = textAt(item, 'effect', field) ?? '';
    const effect = taintEffect(effectText);
    if (operator === undefined || (effect === undefined && effectText !== '')) {
      const what = operator === undefined ? `operator ${describe(item.operator)}` : `effect ${describe(effectText)}`;
      unsupported.push({ filter: 'TaintToleration', detail: `${field} has the unknown ${what}` });
      return;
    }
    tolerations.push({
      key: textAt(item, 'key', field) || undefined,
      operator,
      value: textAt(item, 'value', field) ?? '',
      effect,
    });
  });
  return tolerations;
}

/** One for each container, init containers first, as ImageLocality sums them. Volumes made of an image are not among them. */
function readImages(spec: JsonObject, interner: Interner): readonly string[] {
  return ['initContainers', 'containers'].flatMap((key) =>
    objectsAt(spec, key, 'spec').map((container, index) =>
      interner.text(normalizeImageName(textAt(container, 'image', `spec.${key}[${index}]`) ?? '')),
    ),
  );
}

/** schedutil.GetHostPorts: ports of containers and sidecars; with hostNetwork every container port is one. */
function readHostPorts(spec: JsonObject): readonly HostPort[] {
  const hostNetwork = spec.hostNetwork === true;
  const sidecars = objectsAt(spec, 'initContainers', 'spec').filter(({ restartPolicy }) => restartPolicy === 'Always');
  const ports = [...sidecars, ...objectsAt(spec, 'containers', 'spec')].flatMap((container) =>
    objectsAt(container, 'ports', 'spec.containers').map((port) => readHostPort(port, hostNetwork)),
  );
  return ports.filter(({ port }) => port > 0).sort(byPort);
}

function readHostPort(item: JsonObject, hostNetwork: boolean): HostPort {
  const field = 'spec.containers.ports';
  const containerPort = integerAt(item, 'containerPort', field) ?? 0;
  return {
    ip: textAt(item, 'hostIP', field) || '0.0.0.0',
    protocol: textAt(item, 'protocol', field) || 'TCP',
    port: integerAt(item, 'hostPort', field) || (hostNetwork ? containerPort : 0),
  };
}

function byPort(left: HostPort, right: HostPort): number {
  const leftKey = `${left.protocol} ${left.ip}`;
  const rightKey = `${right.protocol} ${right.ip}`;
  return left.port - right.port || (leftKey < rightKey ? -1 : Number(leftKey > rightKey));
}

/**
 * The name under which nodes list an image: one without a tag or digest is `latest` (imagelocality normalizedImageName).
 * A colon before the last slash belongs to a port.
 */
export function normalizeImageName(name: string): string {
  return name.lastIndexOf(':') <= name.lastIndexOf('/') ? `${name}:latest` : name;
}

/**
 * Fields of a pod that bind it to nodes or to other pods in ways that no filter evaluates. Our own scheduling gate is none of
 * them: the operator itself opens it.
 */
function unsupportedFields(spec: JsonObject): readonly UnsupportedConstraint[] {
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
