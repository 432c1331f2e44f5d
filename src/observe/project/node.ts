import {
  booleanAt,
  describe,
  integerAt,
  type JsonObject,
  MalformedField,
  objectAt,
  objectsAt,
  textAt,
  textEntriesAt,
  textsAt,
} from '../../model/json.ts';
import type { NodeInfo, Taint } from '../../model/node.ts';
import { type Bytes, bytes } from '../../model/units.ts';
import { CONDITION_FIELDS, type FieldMask, METADATA_FIELDS } from '../fields.ts';
import type { Interner } from '../interner.ts';
import { readCondition, readMetadata } from './metadata.ts';
import { podSlots, readAmounts, toResourceVector } from './resource-list.ts';
import { taintEffect } from './scheduling.ts';

/** What plans read of a Node. */
export const NODE_FIELDS: FieldMask = {
  metadata: METADATA_FIELDS,
  spec: { unschedulable: true, taints: [{ key: true, value: true, effect: true }] },
  status: { allocatable: true, conditions: CONDITION_FIELDS, images: [{ names: true, sizeBytes: true }] },
};

/**
 * The planner's view of a Node. Without allocatable, capacity counts (SetDefaults_NodeStatus). A node written by hand
 * (no uid) that lists no conditions counts as Ready. It has all images of the node; assembly keeps those that pods run. Throws MalformedField.
 */
export function projectNode(object: JsonObject, interner: Interner): NodeInfo {
  const metadata = readMetadata(object, 'Node', 'Cluster');
  const spec = objectAt(object, 'spec', '') ?? {};
  const status = objectAt(object, 'status', '') ?? {};
  const resources = objectAt(status, 'allocatable', 'status') === undefined ? 'capacity' : 'allocatable';
  const amounts = readAmounts(status, resources, 'status', interner);
  return {
    name: metadata.name,
    uid: metadata.uid,
    labels: interner.labels(textEntriesAt(metadata.object, 'labels', 'metadata')),
    taints: objectsAt(spec, 'taints', 'spec').map((taint, index) => readTaint(taint, `spec.taints[${index}]`)),
    unschedulable: booleanAt(spec, 'unschedulable', 'spec'),
    terminating: metadata.terminating,
    ready: readCondition(status, 'Ready')?.isTrue ?? (metadata.handWritten && status.conditions === undefined),
    allocatable: { ...toResourceVector(amounts), pods: podSlots(amounts) },
    images: readImages(status, interner),
    createdAt: metadata.createdAt,
  };
}

/** All images of the node by each of their names, as it writes them; the first of a name counts (addNodeImageStates). */
function readImages(status: JsonObject, interner: Interner): ReadonlyMap<string, Bytes> {
  const images = new Map<string, Bytes>();
  objectsAt(status, 'images', 'status').forEach((image, index) => {
    const field = `status.images[${index}]`;
    const size = integerAt(image, 'sizeBytes', field) ?? 0;
    if (size < 0) {
      throw new MalformedField(`${field}.sizeBytes`, `${size} is negative`);
    }
    for (const name of textsAt(image, 'names', field)) {
      if (!images.has(name)) {
        images.set(interner.text(name), bytes(size));
      }
    }
  });
  return images;
}

function readTaint(taint: JsonObject, field: string): Taint {
  const effect = taintEffect(textAt(taint, 'effect', field) ?? '');
  if (effect === undefined) {
    throw new MalformedField(
      `${field}.effect`,
      `${describe(taint.effect)} is not an effect: write NoSchedule, PreferNoSchedule or NoExecute`,
    );
  }
  return { key: textAt(taint, 'key', field) ?? '', value: textAt(taint, 'value', field) ?? '', effect };
}
