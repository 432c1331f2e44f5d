import { isObject } from '../model/json.ts';

/** What is kept of a value: all of it, some keys of an object, or some keys of each object of a list. */
export type FieldMask = true | { readonly [key: string]: FieldMask } | readonly [FieldMask];

/** Of the metadata of an object. */
export const METADATA_FIELDS = {
  name: true,
  namespace: true,
  uid: true,
  generation: true,
  creationTimestamp: true,
  deletionTimestamp: true,
  labels: true,
  ownerReferences: [{ apiVersion: true, kind: true, name: true, uid: true, controller: true }],
} as const satisfies FieldMask;

/** Of `status.conditions`. */
export const CONDITION_FIELDS: FieldMask = [{ type: true, status: true, reason: true, lastTransitionTime: true }];

/** Metadata with these annotations and no others. */
export function withAnnotations(keys: readonly string[]): Exclude<FieldMask, true | readonly [FieldMask]> {
  return { ...METADATA_FIELDS, annotations: Object.fromEntries(keys.map((key) => [key, true])) };
}

/** `value` with the fields of the mask and nothing else; what has another shape than the mask stays as it is. */
export function keepFields(value: unknown, mask: FieldMask): unknown {
  if (mask === true) {
    return value;
  }
  if (isListMask(mask)) {
    return Array.isArray(value) ? value.map((item) => keepFields(item, mask[0])) : value;
  }
  if (!isObject(value)) {
    return value;
  }
  const kept: Record<string, unknown> = {};
  for (const [key, inner] of Object.entries(mask)) {
    const content = Object.hasOwn(value, key) ? value[key] : undefined;
    if (content !== undefined && content !== null) {
      kept[key] = keepFields(content, inner);
    }
  }
  return kept;
}

function isListMask(mask: Exclude<FieldMask, true>): mask is readonly [FieldMask] {
  return Array.isArray(mask);
}
