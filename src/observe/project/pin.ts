import { isObject, type JsonObject } from '../json.ts';

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';

/**
 * `spec` as its pod would have it, had its gate been opened without a target: without the requirement that the operator
 * appended to every term of its required node affinity. The pod that takes its place is made from the template, which never
 * had it, so that the pin must not keep plans from moving the pod. Whatever does not look like our pin is left as it is.
 */
export function withoutPin(spec: JsonObject, node: string): JsonObject {
  const affinity = objectIn(spec, 'affinity');
  const nodeAffinity = objectIn(affinity, 'nodeAffinity');
  const required = objectIn(nodeAffinity, REQUIRED);
  const terms: unknown = required?.['nodeSelectorTerms'];
  if (!Array.isArray(terms) || !terms.every((term) => isPinned(term, node))) {
    return spec;
  }
  const rest = terms.map((term: JsonObject) => ({ ...term, matchFields: fieldsOf(term).slice(0, -1) }));
  // A term that held nothing else was made by the pin: an empty one cannot be narrowed.
  const isOurs = rest.length === 1 && rest.every((term) => isBare(term));
  return {
    ...spec,
    affinity: {
      ...affinity,
      nodeAffinity: { ...nodeAffinity, [REQUIRED]: isOurs ? undefined : { ...required, nodeSelectorTerms: rest } },
    },
  };
}

function objectIn(parent: JsonObject | undefined, key: string): JsonObject | undefined {
  const value = parent?.[key];
  return isObject(value) ? value : undefined;
}

function fieldsOf(term: JsonObject): readonly unknown[] {
  return Array.isArray(term['matchFields']) ? term['matchFields'] : [];
}

function isBare(term: JsonObject): boolean {
  const expressions = term['matchExpressions'];
  return fieldsOf(term).length === 0 && !(Array.isArray(expressions) && expressions.length > 0);
}

function isPinned(term: unknown, node: string): boolean {
  const last = isObject(term) ? fieldsOf(term).at(-1) : undefined;
  return (
    isObject(last) &&
    last['key'] === 'metadata.name' &&
    last['operator'] === 'In' &&
    Array.isArray(last['values']) &&
    last['values'].length === 1 &&
    last['values'][0] === node
  );
}
