import { isObject, type JsonObject } from '../../model/json.ts';
import { keepFields } from '../../observe/fields.ts';
import { KINDS, type SnapshotKind } from '../../observe/kind-table.ts';
import { CLAIM_SOURCE_FIELDS } from '../../observe/project/claim.ts';
import { relevantVolumes } from '../../observe/project/volumes.ts';

/**
 * The object with what a plan needs and nothing else: a list of fields to keep, not to drop, so that environment
 * variables, commands, annotations of other tools and managed fields never get into a file.
 */
export function trimObject(kind: SnapshotKind, object: JsonObject): JsonObject {
  const { apiVersion, fields } = KINDS[kind];
  const kept = keepFields(withoutNoise(object), fields);
  return { apiVersion, kind, ...(isObject(kept) ? kept : {}) };
}

/** Conditions that a plan reads. */
const READ_CONDITIONS = new Set<unknown>(['Ready', 'PodResizePending', 'Progressing']);

/**
 * Without conditions that no plan reads. Volumes are there only where they matter, with their name, the kind of their source
 * and, of a claim, what it asks for.
 */
function withoutNoise(object: JsonObject): JsonObject {
  const { spec, status } = object;
  return {
    ...object,
    ...(isObject(spec) && Array.isArray(spec.volumes) ? { spec: { ...spec, volumes: volumesOf(spec.volumes) } } : {}),
    ...(isObject(status) && Array.isArray(status.conditions)
      ? { status: { ...status, conditions: conditionsOf(status.conditions) } }
      : {}),
  };
}

/** Undefined, so that it is left out, when no volume matters. */
function volumesOf(volumes: readonly unknown[]): readonly unknown[] | undefined {
  const kept = relevantVolumes(volumes).map((volume) =>
    isObject(volume) ? Object.assign({}, volume, keepFields(volume, CLAIM_SOURCE_FIELDS)) : volume,
  );
  return kept.length === 0 ? undefined : kept;
}

function conditionsOf(conditions: readonly unknown[]): readonly unknown[] {
  const isRead = ({ type, status }: JsonObject): boolean =>
    READ_CONDITIONS.has(type) || (type === 'PodScheduled' && status === 'False');
  return conditions.filter((condition) => isObject(condition) && isRead(condition));
}
