import { isObject, type JsonObject } from '../../model/json.ts';
import type { Labels, Requirement, Selector } from '../../model/selector.ts';

/**
 * `selector` narrowed to pods that have (`In`), or do not have (`NotIn`), the values that `labels` has of these keys; keys
 * that `labels` lacks say nothing (KEP-3243, KEP-3633). A requirement that is there already is not repeated: the API server
 * stores pods with their selectors merged. `undefined`, which selects nothing, stays so (mergeLabelSetWithSelector).
 */
export function mergeLabelKeys(
  selector: Selector | undefined,
  keys: readonly string[],
  operator: 'In' | 'NotIn',
  labels: Labels,
): Selector | undefined {
  if (selector === undefined || keys.length === 0) {
    return selector;
  }
  const merged = [...selector.requirements];
  for (const key of keys) {
    const value = labels.get(key);
    if (value !== undefined && !merged.some((known) => asksFor(known, key, operator, value))) {
      merged.push({ key, operator, values: [value] });
    }
  }
  return { requirements: merged };
}

/** The requirement is `key operator (value)` and nothing else. */
function asksFor(requirement: Requirement, key: string, operator: 'In' | 'NotIn', value: string): boolean {
  const { values } = requirement;
  return requirement.key === key && requirement.operator === operator && values.length === 1 && values[0] === value;
}

const SIDES = ['podAffinity', 'podAntiAffinity'] as const;

/**
 * The keys of the pod's own labels that its affinity terms and spread constraints look at, in the order of the spec.
 * Total: what is malformed names none, and is refused where it is read.
 */
export function labelKeysOf({ affinity, topologySpreadConstraints }: JsonObject): readonly unknown[] {
  const keys: unknown[] = [];
  for (const constraint of listOf(topologySpreadConstraints)) {
    collectKeys(constraint, keys);
  }
  for (const side of isObject(affinity) ? SIDES.map((name) => affinity[name]) : []) {
    if (isObject(side)) {
      listOf(side.requiredDuringSchedulingIgnoredDuringExecution).forEach((term) => {
        collectKeys(term, keys);
      });
      listOf(side.preferredDuringSchedulingIgnoredDuringExecution).forEach((term) => {
        collectKeys(isObject(term) ? term.podAffinityTerm : undefined, keys);
      });
    }
  }
  return keys;
}

function collectKeys(term: unknown, keys: unknown[]): void {
  if (isObject(term)) {
    keys.push(...listOf(term.matchLabelKeys), ...listOf(term.mismatchLabelKeys));
  }
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
