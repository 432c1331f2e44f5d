import { SCHEDULING_GATE } from '../../model/gate.ts';
import {
  describe,
  integerAt,
  isObject,
  type JsonObject,
  MalformedField,
  objectAt,
  objectsAt,
  textAt,
  textEntriesAt,
  textsAt,
} from '../../model/json.ts';
import type { TaintEffect } from '../../model/node.ts';
import type {
  HostPort,
  NodePolicy,
  SchedulingConstraints,
  SpreadConstraint,
  Toleration,
  UnsupportedConstraint,
} from '../../model/pod.ts';
import type { Labels } from '../../model/selector.ts';
import type { Interner } from '../interner.ts';
import { labelKeysOf, mergeLabelKeys } from './label-keys.ts';
import { readNodeAffinity } from './node-affinity.ts';
import { readPreferredPodTerms, readRequiredPodTerms, readTopologyKey } from './pod-affinity.ts';
import { podRequests } from './pod-requests.ts';
import { readSelector } from './selector.ts';

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
function templateKey({ spec, status, labels, unsupportedVolumes }: ConstraintSource): string {
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
interface ConstraintSource {
  readonly spec: JsonObject;
  readonly status: JsonObject;
  /** The pod's own. */
  readonly labels: Labels;
  /** What its volumes ask for and no filter evaluates. */
  readonly unsupportedVolumes: readonly UnsupportedConstraint[];
}

const ACTIONS: ReadonlyMap<string, SpreadConstraint['whenUnsatisfiable']> = new Map([
  ['DoNotSchedule', 'DoNotSchedule'],
  ['ScheduleAnyway', 'ScheduleAnyway'],
]);
const POLICIES: ReadonlyMap<string, NodePolicy> = new Map([
  ['Honor', 'Honor'],
  ['Ignore', 'Ignore'],
]);

/**
 * The topology spread constraints of a pod, with the defaults of the API: DoNotSchedule, minDomains 1, nodeAffinityPolicy
 * Honor, nodeTaintsPolicy Ignore. `labels` are the pod's own, merged in for matchLabelKeys as by the scheduler
 * (podtopologyspread filterTopologySpreadConstraints). An action or a policy of an unknown name goes to `unsupported`.
 * Throws MalformedField.
 */
function readSpread(
  spec: JsonObject,
  labels: Labels,
  unsupported: UnsupportedConstraint[],
): readonly SpreadConstraint[] {
  return objectsAt(spec, 'topologySpreadConstraints', 'spec').flatMap((item, index) => {
    const field = `spec.topologySpreadConstraints[${index}]`;
    const whenUnsatisfiable = choose(item, 'whenUnsatisfiable', 'DoNotSchedule', ACTIONS, field, unsupported);
    const nodeAffinityPolicy = choose(item, 'nodeAffinityPolicy', 'Honor', POLICIES, field, unsupported);
    const nodeTaintsPolicy = choose(item, 'nodeTaintsPolicy', 'Ignore', POLICIES, field, unsupported);
    if (whenUnsatisfiable === undefined || nodeAffinityPolicy === undefined || nodeTaintsPolicy === undefined) {
      return [];
    }
    const keys = textsAt(item, 'matchLabelKeys', field);
    return [
      {
        whenUnsatisfiable,
        maxSkew: atLeastOne(item, 'maxSkew', undefined, field),
        topologyKey: readTopologyKey(item, field),
        selector: mergeLabelKeys(readSelector(item, 'labelSelector', field), keys, 'In', labels),
        minDomains: atLeastOne(item, 'minDomains', 1, field),
        nodeAffinityPolicy,
        nodeTaintsPolicy,
      },
    ];
  });
}

/** The choice that the text at `key` names; undefined, and a word in `unsupported`, when it is none that we know. */
function choose<Choice extends string>(
  item: JsonObject,
  key: string,
  otherwise: Choice,
  choices: ReadonlyMap<string, Choice>,
  field: string,
  unsupported: UnsupportedConstraint[],
): Choice | undefined {
  const text = textAt(item, key, field) || otherwise;
  const choice = choices.get(text);
  if (choice === undefined) {
    unsupported.push({ filter: 'PodTopologySpread', detail: `${field}.${key} is ${describe(text)}` });
  }
  return choice;
}

function atLeastOne(item: JsonObject, key: string, otherwise: number | undefined, field: string): number {
  const count = integerAt(item, key, field) ?? otherwise;
  if (count === undefined || count < 1) {
    throw new MalformedField(`${field}.${key}`, `${describe(item[key])} is not a number of at least 1`);
  }
  return count;
}
