import type { PlacementHintSpec } from '../api/v1alpha1/placement-hint.ts';
import { SCHEDULING_GATE, STEERED_ANNOTATION } from '../model/gate.ts';
import { childOf, isObject, type JsonObject } from '../model/json.ts';
import { type Placement, PREFERENCE_WEIGHTS } from '../model/placement.ts';
import { listAt, PREFERRED, steeredAffinity } from './affinity.ts';
import { preferredNode } from './unsteered.ts';

/** One operation of a JSON patch (RFC 6902) on a pod. */
export interface PatchOperation {
  readonly op: 'add';
  readonly path: string;
  readonly value: unknown;
}

/** Kinds whose pods no plan moves, so that they would gain nothing by waiting at the gate. */
const NEVER_GATED: ReadonlySet<unknown> = new Set(['DaemonSet', 'Node']);

/** Where a hint sends a pod. */
export function placementOf({ nodeName, fallbacks = [], alternatives }: PlacementHintSpec): Placement {
  return { target: nodeName, fallbacks, alternatives };
}

/** UID of the controller of a pod; undefined when it has none. */
export function controllerOf(pod: JsonObject): string | undefined {
  const uid = controllerReference(pod)?.['uid'];
  return typeof uid === 'string' ? uid : undefined;
}

/**
 * What makes of a new pod the same as the admission policy `evenkeel-placement` does, for each placement in turn. A pod that
 * prefers the target already, as the admission policy has left it, is not steered to it again. Empty when nothing changes.
 */
export function placementPatch(pod: JsonObject, placements: readonly Placement[]): readonly PatchOperation[] {
  let affinity = childOf(pod, 'spec')['affinity'];
  let target: string | undefined;
  for (const placement of placements) {
    if (!prefers(affinity, placement.target)) {
      ({ affinity } = steeredAffinity(affinity, placement));
      ({ target } = placement);
    }
  }
  return target === undefined ? [] : [add('/spec/affinity', affinity), annotationPatch(pod, target)];
}

/**
 * What adds our scheduling gate to a new pod, the same as the admission policy `evenkeel-gate` does to pods of namespaces with
 * the label. Empty for a pod that has the gate or a node, and for one that no plan moves.
 */
export function gatePatch(pod: JsonObject): readonly PatchOperation[] {
  const spec = childOf(pod, 'spec');
  const gates = listAt(spec, 'schedulingGates');
  const isGated = gates.some((gate) => isObject(gate) && gate['name'] === SCHEDULING_GATE);
  const owner = controllerReference(pod);
  if (isGated || (spec['nodeName'] ?? '') !== '' || owner === undefined || NEVER_GATED.has(owner['kind'])) {
    return [];
  }
  return [add('/spec/schedulingGates', [...gates, { name: SCHEDULING_GATE }])];
}

function annotationPatch(pod: JsonObject, target: string): PatchOperation {
  return isObject(childOf(pod, 'metadata')['annotations'])
    ? add(`/metadata/annotations/${STEERED_ANNOTATION.replaceAll('/', '~1')}`, target)
    : add('/metadata/annotations', { [STEERED_ANNOTATION]: target });
}

/** Whether the pod has the preference that steering to this node adds. */
function prefers(affinity: unknown, target: string): boolean {
  const node = isObject(affinity) ? childOf(affinity, 'nodeAffinity') : {};
  return listAt(node, PREFERRED).some((term) => preferredNode(term, PREFERENCE_WEIGHTS[0]) === target);
}

function controllerReference(pod: JsonObject): JsonObject | undefined {
  return listAt(childOf(pod, 'metadata'), 'ownerReferences')
    .filter(isObject)
    .find(({ controller }) => controller === true);
}

function add(path: string, value: unknown): PatchOperation {
  return { op: 'add', path, value };
}
