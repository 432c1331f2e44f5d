import { escapeJson } from '../../model/escape.ts';
import { formatInstant } from '../../model/instant.ts';
import { isObject, type JsonObject } from '../../model/json.ts';
import type { EpochSeconds } from '../../model/units.ts';
import { expandLists, isList, TAKEN_AT_ANNOTATION } from '../../observe/expand.ts';
import { snapshotKindOf } from '../../observe/snapshot-kinds.ts';
import { trimObject } from './trim.ts';

/** Stands for a Metrics API that is served but has no samples, which is not the same as none. */
export const EMPTY_METRICS: JsonObject = { apiVersion: 'metrics.k8s.io/v1beta1', kind: 'NodeMetricsList', items: [] };

/** Tells a file of ours, whose items are read without a YAML parser as long as nobody has edited it. */
export const FIRST_LINE =
  '# Written by evenkeel snapshot: ordinary Kubernetes objects, trimmed to what evenkeel plan -f reads.';

/** The beginning of a snapshot file: a YAML List whose items follow, each on its own line. */
export function formatSnapshotHeader(takenAt: EpochSeconds): string {
  return [
    FIRST_LINE,
    'apiVersion: v1',
    'kind: List',
    'metadata:',
    '  annotations:',
    `    ${TAKEN_AT_ANNOTATION}: "${formatInstant(takenAt)}"`,
    'items:',
    '',
  ].join('\n');
}

/** One item with its line break: JSON, which is YAML too and is read a hundred times as fast. */
export function formatSnapshotItem(object: JsonObject): string {
  return `- ${escapeJson(JSON.stringify(object))}\n`;
}

/**
 * The text of a snapshot file of these objects, trimmed; lists are opened, kinds that plans do not need are left out.
 * Reading it back gives the same plan.
 */
export function writeSnapshot(objects: Iterable<unknown>, takenAt: EpochSeconds): string {
  const items: string[] = [];
  for (const object of objects) {
    for (const each of expandLists(object)) {
      items.push(...formatEach(each));
    }
  }
  return formatSnapshotHeader(takenAt) + (items.length === 0 ? '  []\n' : items.join(''));
}

function formatEach(object: unknown): readonly string[] {
  if (!isObject(object)) {
    return [];
  }
  if (isList(object)) {
    return object.kind === EMPTY_METRICS.kind && object.items.length === 0 ? [formatSnapshotItem(EMPTY_METRICS)] : [];
  }
  const kind = snapshotKindOf(object);
  return kind === undefined ? [] : [formatSnapshotItem(trimObject(kind, object))];
}
