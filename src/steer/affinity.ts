import { isObject, type JsonObject } from '../model/json.ts';
import { HOSTNAME_LABEL, MAX_NARROWED_TERMS, type Placement, PREFERENCE_WEIGHTS } from '../model/placement.ts';

/** Field of required node affinity. */
export const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
/** Field of preferred node affinity. */
export const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

/** What steering makes of the affinity of a pod. */
export interface SteeredAffinity {
  /** `spec.affinity`, whole. */
  readonly affinity: JsonObject;
  /** Whether the pod is kept to the alternatives. */
  readonly isNarrowed: boolean;
}

/**
 * The affinity of a pod whose `spec.affinity` is `affinity` (anything but an object: none), steered to `placement`: the same
 * as the admission policy `evenkeel-placement` makes of it. Its preferences stand behind those that are there. The
 * requirement is appended to each required term, since terms are ORed; where there are more than MAX_NARROWED_TERMS, or an
 * empty one, which matches nothing and would match with it, the preferences stand alone.
 */
export function steeredAffinity(affinity: unknown, { target, fallbacks, alternatives }: Placement): SteeredAffinity {
  const known = isObject(affinity) ? affinity : {};
  const node = isObject(known['nodeAffinity']) ? known['nodeAffinity'] : {};
  const preferences = [target, ...fallbacks]
    .slice(0, PREFERENCE_WEIGHTS.length)
    .map((name, rank) => ({ weight: PREFERENCE_WEIGHTS[rank], preference: { matchFields: [namesNode(name)] } }));
  const preferred = [...listAt(node, PREFERRED), ...preferences];
  const required = alternatives === undefined ? undefined : narrowed(node[REQUIRED], alternatives);
  const nodeAffinity = {
    ...node,
    [PREFERRED]: preferred,
    ...(required === undefined ? {} : { [REQUIRED]: required }),
  };
  return { affinity: { ...known, nodeAffinity }, isNarrowed: required !== undefined };
}

/**
 * What ties a pod whose `spec.affinity` is `affinity` to one node, as a merge patch of it; `undefined` when it has an empty
 * required term, which cannot be narrowed.
 */
export function pinnedAffinity(affinity: unknown, node: string): JsonObject | undefined {
  const known = isObject(affinity) && isObject(affinity['nodeAffinity']) ? affinity['nodeAffinity'] : {};
  const required = withRequirement(known[REQUIRED], 'matchFields', namesNode(node));
  return required === undefined ? undefined : { nodeAffinity: { [REQUIRED]: required } };
}

/** A requirement of `matchFields` that one node alone meets. */
function namesNode(name: string): JsonObject {
  return { key: 'metadata.name', operator: 'In', values: [name] };
}

function narrowed(required: unknown, alternatives: readonly string[]): JsonObject | undefined {
  const names = { key: HOSTNAME_LABEL, operator: 'In', values: [...alternatives] };
  return withRequirement(required, 'matchExpressions', names, MAX_NARROWED_TERMS);
}

/**
 * A required node affinity with a requirement appended to each of its terms, or to a single term where it has none;
 * `undefined` when it has more than `most` terms, or an empty one: the API server lets none be appended to that
 * (core/validation validateNodeAffinityMutation).
 */
function withRequirement(
  required: unknown,
  list: 'matchExpressions' | 'matchFields',
  requirement: JsonObject,
  most = Number.POSITIVE_INFINITY,
): JsonObject | undefined {
  const found = (isObject(required) ? listAt(required, 'nodeSelectorTerms') : []).filter(isObject);
  const isEmpty = (term: JsonObject): boolean =>
    listAt(term, 'matchExpressions').length + listAt(term, 'matchFields').length === 0;
  if (found.length > most || found.some(isEmpty)) {
    return undefined;
  }
  const terms = found.length === 0 ? [{}] : found;
  const nodeSelectorTerms = terms.map((term: JsonObject) => ({
    ...term,
    [list]: [...listAt(term, list), requirement],
  }));
  return { nodeSelectorTerms };
}

/** The list at a key; empty when there is none. */
export function listAt(object: JsonObject, key: string): readonly unknown[] {
  const list = object[key];
  return Array.isArray(list) ? list : [];
}
