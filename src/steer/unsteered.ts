import { isObject, type JsonObject } from '../model/json.ts';
import { HOSTNAME_LABEL, type Placement, PREFERENCE_WEIGHTS } from '../model/placement.ts';
import { listAt, PREFERRED, REQUIRED } from './affinity.ts';

/** The affinity of a pod as its template has it, and where it was steered to. */
export interface Unsteered {
  /** `spec.affinity`, without what steering added. */
  readonly affinity: unknown;
  readonly placement: Placement;
  /** Whether the pod is kept to its target, alone or with alternatives, and does not merely prefer it. */
  readonly isKept: boolean;
}

/**
 * Takes back what `steeredAffinity` or `pinnedAffinity` added to the affinity of a pod that was steered to `target`: the pod
 * that takes its place is made from the template, which never had it, so that it must not keep plans from moving the pod.
 * Whatever does not look like ours is left as it is.
 */
export function unsteered(affinity: unknown, target: string): Unsteered {
  const known = isObject(affinity) ? affinity : {};
  const node = isObject(known['nodeAffinity']) ? known['nodeAffinity'] : {};
  const { preferred, fallbacks } = withoutPreferences(listAt(node, PREFERRED), target);
  const required = isObject(node[REQUIRED]) ? node[REQUIRED] : {};
  const terms = listAt(required, 'nodeSelectorTerms');
  // A list of host names without our preference is the pod's own, whatever its annotation says.
  const isPreferred = preferred.length < listAt(node, PREFERRED).length;
  const alternatives = isPreferred ? alternativesOf(terms) : undefined;
  const isPinned =
    alternatives === undefined &&
    terms.length > 0 &&
    terms.every((term) => isNamed(lastOf(term, 'matchFields'), target));
  const rest = isPinned
    ? without(terms, 'matchFields')
    : alternatives === undefined
      ? terms
      : without(terms, 'matchExpressions');
  return {
    affinity: isObject(affinity)
      ? { ...known, nodeAffinity: { ...node, [PREFERRED]: preferred, [REQUIRED]: requiredOf(required, rest, terms) } }
      : affinity,
    placement: { target, fallbacks, alternatives },
    isKept: isPinned || alternatives !== undefined,
  };
}

/** What is before the preference for the target and its fallbacks, which stand last. */
function withoutPreferences(
  preferred: readonly unknown[],
  target: string,
): { readonly preferred: readonly unknown[]; readonly fallbacks: readonly string[] } {
  for (let length = Math.min(PREFERENCE_WEIGHTS.length, preferred.length); length > 0; length -= 1) {
    const names = preferred.slice(-length).map((term, rank) => preferredNode(term, PREFERENCE_WEIGHTS[rank]));
    const [first, ...fallbacks] = names;
    if (first === target && fallbacks.every((name) => name !== undefined)) {
      return { preferred: preferred.slice(0, -length), fallbacks };
    }
  }
  return { preferred, fallbacks: [] };
}

/** The node that a preferred term of this weight names, if it names one and asks for nothing else: what steering adds. */
export function preferredNode(term: unknown, weight: number | undefined): string | undefined {
  const preference =
    isObject(term) && term['weight'] === weight && isObject(term['preference']) ? term['preference'] : {};
  const fields = listAt(preference, 'matchFields');
  return fields.length === 1 && listAt(preference, 'matchExpressions').length === 0 ? namedBy(fields[0]) : undefined;
}

/** The host names that stand last in each of the terms. */
function alternativesOf(terms: readonly unknown[]): readonly string[] | undefined {
  const lists = terms.map((term) => hostsIn(lastOf(term, 'matchExpressions')));
  const [first] = lists;
  const isSame = lists.every((list) => list !== undefined && JSON.stringify(list) === JSON.stringify(first));
  return isSame ? first : undefined;
}

function hostsIn(requirement: unknown): readonly string[] | undefined {
  const isOurs = isObject(requirement) && requirement['key'] === HOSTNAME_LABEL && requirement['operator'] === 'In';
  return isOurs ? listAt(requirement, 'values').filter((value) => typeof value === 'string') : undefined;
}

function lastOf(term: unknown, list: string): unknown {
  return isObject(term) ? listAt(term, list).at(-1) : undefined;
}

function without(terms: readonly unknown[], list: string): readonly JsonObject[] {
  return terms.filter(isObject).map((term) => ({ ...term, [list]: listAt(term, list).slice(0, -1) }));
}

/** A term that held nothing else was made by steering: an empty one cannot be narrowed. */
function requiredOf(required: JsonObject, rest: readonly unknown[], terms: readonly unknown[]): unknown {
  const [only] = rest;
  const isBare = isObject(only) && listAt(only, 'matchFields').length + listAt(only, 'matchExpressions').length === 0;
  const isOurs = rest !== terms && rest.length === 1 && isBare;
  return isOurs || terms.length === 0 ? undefined : { ...required, nodeSelectorTerms: rest };
}

function isNamed(requirement: unknown, node: string): boolean {
  return namedBy(requirement) === node;
}

/** The one node that a requirement of `matchFields` names. */
function namedBy(requirement: unknown): string | undefined {
  const isOurs = isObject(requirement) && requirement['key'] === 'metadata.name' && requirement['operator'] === 'In';
  const values = isOurs ? listAt(requirement, 'values') : [];
  return values.length === 1 && typeof values[0] === 'string' ? values[0] : undefined;
}
