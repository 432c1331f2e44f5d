import { isObject, type JsonObject } from '../../observe/json.ts';

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';

/**
 * The `affinity` that ties a gated pod with this spec to `node`, as a merge patch; `undefined` when it cannot be narrowed. The
 * API server takes nothing but requirements appended to the terms that are there, and none to an empty term, which matches
 * nothing anyway (core/validation validateNodeAffinityMutation). Terms are ORed, so each gets the requirement.
 */
export function pinned({ affinity }: JsonObject, node: string): JsonObject | undefined {
  const nodeAffinity = isObject(affinity) && isObject(affinity['nodeAffinity']) ? affinity['nodeAffinity'] : {};
  const required = isObject(nodeAffinity[REQUIRED]) ? nodeAffinity[REQUIRED] : {};
  const found = Array.isArray(required['nodeSelectorTerms']) ? required['nodeSelectorTerms'].filter(isObject) : [];
  const terms = found.length === 0 ? [{}] : found;
  if (found.some((term) => lengthOf(term, 'matchExpressions') + lengthOf(term, 'matchFields') === 0)) {
    return undefined;
  }
  const pin = { key: 'metadata.name', operator: 'In', values: [node] };
  const nodeSelectorTerms = terms.map((term: JsonObject) => ({
    ...term,
    matchFields: [...(Array.isArray(term['matchFields']) ? term['matchFields'] : []), pin],
  }));
  return { nodeAffinity: { [REQUIRED]: { nodeSelectorTerms } } };
}

function lengthOf(term: JsonObject, key: string): number {
  const list = term[key];
  return Array.isArray(list) ? list.length : 0;
}
