import type { TaintEffect } from '../../model/node.ts';
import type {
  HostPort,
  NodeSelectorTerm,
  SchedulingConstraints,
  Toleration,
  UnsupportedConstraint,
} from '../../model/pod.ts';
import type { Labels } from '../../model/selector.ts';
import type { Interner } from '../interner.ts';
import {
  describe,
  integerAt,
  type JsonObject,
  MalformedField,
  objectAt,
  objectsAt,
  textAt,
  textEntriesAt,
} from '../json.ts';
import { readAntiAffinity, unsupportedPodAffinity } from './pod-affinity.ts';
import { podRequests } from './pod-requests.ts';
import { readNodeRequirements } from './selector.ts';
import { templateKey } from './template-key.ts';
import { unsupportedFields, unsupportedSpread } from './unsupported.ts';
import { unsupportedVolumes } from './volumes.ts';

/** What decides where the pod fits, interned. `labels` are the pod's own. Throws MalformedField. */
export function readConstraints(
  spec: JsonObject,
  status: JsonObject,
  labels: Labels,
  interner: Interner,
): SchedulingConstraints {
  return interner.constraints(templateKey(spec, status, labels), () => {
    const unsupported: UnsupportedConstraint[] = [];
    const affinity = objectAt(spec, 'affinity', 'spec') ?? {};
    const constraints: SchedulingConstraints = {
      requests: podRequests(spec, status, interner),
      nodeSelector: interner.labels(textEntriesAt(spec, 'nodeSelector', 'spec')),
      nodeAffinity: readNodeAffinity(affinity, unsupported),
      tolerations: readTolerations(spec, unsupported),
      hostPorts: readHostPorts(spec),
      podAffinity: [],
      podAntiAffinity: readAntiAffinity(affinity, labels),
      preferredPodAffinity: [],
      preferredNodeAffinity: [],
      spread: [],
      images: [],
      unsupported,
    };
    unsupported.push(
      ...unsupportedPodAffinity(affinity),
      ...unsupportedSpread(spec),
      ...unsupportedVolumes(spec),
      ...unsupportedFields(spec),
    );
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

function readNodeAffinity(
  affinity: JsonObject,
  unsupported: UnsupportedConstraint[],
): readonly NodeSelectorTerm[] | undefined {
  const nodeAffinity = objectAt(affinity, 'nodeAffinity', 'spec.affinity') ?? {};
  const key = 'requiredDuringSchedulingIgnoredDuringExecution';
  const field = 'spec.affinity.nodeAffinity';
  const required = objectAt(nodeAffinity, key, field);
  if (required === undefined) {
    return undefined;
  }
  const path = `${field}.${key}`;
  try {
    return objectsAt(required, 'nodeSelectorTerms', path).map((term, index) =>
      readNodeSelectorTerm(term, `${path}.nodeSelectorTerms[${index}]`),
    );
  } catch (error) {
    if (error instanceof MalformedField) {
      unsupported.push({ filter: 'NodeAffinity', detail: error.message });
      return [];
    }
    throw error;
  }
}

function readNodeSelectorTerm(term: JsonObject, field: string): NodeSelectorTerm {
  const fields = readNodeRequirements(term, 'matchFields', field);
  for (const { key, operator, values } of fields) {
    if (key !== 'metadata.name' || (operator !== 'In' && operator !== 'NotIn') || values.length !== 1) {
      throw new MalformedField(
        `${field}.matchFields`,
        `${key} ${operator} with ${values.length} values is not supported`,
      );
    }
  }
  return { expressions: readNodeRequirements(term, 'matchExpressions', field), fields };
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
