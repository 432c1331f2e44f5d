import {
  asObject,
  isObject,
  type JsonObject,
  MalformedField,
  objectsAt,
  textAt,
  timestampAt,
} from '../../model/json.ts';
import type { OwnerRef } from '../../model/pod.ts';
import { type EpochSeconds, epochSeconds } from '../../model/units.ts';

/** What we read of an object's metadata. */
export interface Metadata {
  /** Empty for cluster-scoped kinds, `default` when a namespaced object names none. */
  readonly namespace: string;
  readonly name: string;
  /** The server's, else made from kind, namespace and name; see `standInUid`. */
  readonly uid: string;
  /** No server has stored this object: it has no uid. What it leaves out is then taken kindly; see each kind. */
  readonly handWritten: boolean;
  /** 1970 when absent: older than any rule about young objects. */
  readonly createdAt: EpochSeconds;
  readonly terminating: boolean;
  /** The whole of it, for labels and annotations. */
  readonly object: JsonObject;
}

/** Whether objects of a kind live in a namespace. */
export type Scope = 'Namespaced' | 'Cluster';

/** Metadata of `object`. Throws MalformedField, also when there is no name. */
export function readMetadata(object: JsonObject, kind: string, scope: Scope): Metadata {
  const metadata = asObject(object.metadata ?? {}, 'metadata');
  const name = textAt(metadata, 'name', 'metadata') ?? '';
  if (name === '') {
    throw new MalformedField('metadata.name', 'is missing: every object needs a name');
  }
  const namespace = scope === 'Cluster' ? '' : textAt(metadata, 'namespace', 'metadata') || 'default';
  const uid = textAt(metadata, 'uid', 'metadata') ?? '';
  return {
    namespace,
    name,
    uid: uid === '' ? standInUid(kind, namespace, name) : uid,
    handWritten: uid === '',
    createdAt: timestampAt(metadata, 'creationTimestamp', 'metadata') ?? epochSeconds(0),
    terminating: timestampAt(metadata, 'deletionTimestamp', 'metadata') !== undefined,
    object: metadata,
  };
}

/**
 * The uid of an object that was written by hand without one: `namespace/name` for pods, else `Kind/namespace/name`, so
 * that an owner reference without a uid finds its controller.
 */
export function standInUid(kind: string, namespace: string, name: string): string {
  const key = namespace === '' ? name : `${namespace}/${name}`;
  return kind === 'Pod' ? key : `${kind}/${key}`;
}

/** The owner reference with `controller: true`; undefined when there is none. Throws MalformedField. */
export function readController({ object, namespace }: Metadata): OwnerRef | undefined {
  const references = objectsAt(object, 'ownerReferences', 'metadata');
  const index = references.findIndex((reference) => reference.controller === true);
  const reference = references[index];
  if (reference === undefined) {
    return undefined;
  }
  const field = `metadata.ownerReferences[${index}]`;
  const kind = textAt(reference, 'kind', field) ?? '';
  const name = textAt(reference, 'name', field) ?? '';
  if (kind === '' || name === '') {
    throw new MalformedField(field, 'has no kind or no name');
  }
  return { kind, name, uid: textAt(reference, 'uid', field) || standInUid(kind, namespace, name) };
}

/** `namespace/name` of an object that may be anything, for problem texts; bounded, and total. */
export function nameForPeople(object: unknown): string {
  const metadata = isObject(object) && isObject(object.metadata) ? object.metadata : {};
  const { name, namespace } = metadata;
  const shownName = typeof name === 'string' && name !== '' ? name.slice(0, 253) : '(without a name)';
  return typeof namespace === 'string' && namespace !== '' ? `${namespace.slice(0, 63)}/${shownName}` : shownName;
}

/** The condition of this type in `status.conditions`; undefined when there is none. Throws MalformedField. */
export function readCondition(status: JsonObject, type: string): Condition | undefined {
  const conditions = objectsAt(status, 'conditions', 'status');
  const index = conditions.findIndex((condition) => condition.type === type);
  const condition = conditions[index];
  if (condition === undefined) {
    return undefined;
  }
  const field = `status.conditions[${index}]`;
  return {
    isTrue: textAt(condition, 'status', field) === 'True',
    reason: textAt(condition, 'reason', field) ?? '',
    since: timestampAt(condition, 'lastTransitionTime', field),
  };
}

/** What we read of a condition. */
export interface Condition {
  readonly isTrue: boolean;
  readonly reason: string;
  readonly since: EpochSeconds | undefined;
}
