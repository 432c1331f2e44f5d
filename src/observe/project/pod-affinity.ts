import type { PodAffinityTerm, UnsupportedConstraint } from '../../model/pod.ts';
import type { Labels, Requirement, Selector } from '../../model/selector.ts';
import { describe, type JsonObject, objectAt, objectsAt, textAt, textsAt } from '../json.ts';
import { readSelector } from './selector.ts';

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';

/** Required anti-affinity terms of a pod, which keep *other* pods away from it. Throws MalformedField. */
export function readAntiAffinity(affinity: JsonObject, labels: Labels): readonly PodAffinityTerm[] {
  const field = `spec.affinity.podAntiAffinity.${REQUIRED}`;
  return requiredTerms(affinity, 'podAntiAffinity').map((term, index) => readTerm(term, labels, `${field}[${index}]`));
}

/** Required terms in both directions, as what the planner cannot evaluate for the pod itself. */
export function unsupportedPodAffinity(affinity: JsonObject): readonly UnsupportedConstraint[] {
  return ['podAffinity', 'podAntiAffinity'].flatMap((direction) =>
    requiredTerms(affinity, direction).map((term) => ({
      filter: 'InterPodAffinity',
      detail: `spec.affinity.${direction} has a required term over ${describe(term.topologyKey)}`,
    })),
  );
}

function requiredTerms(affinity: JsonObject, direction: string): readonly JsonObject[] {
  const side = objectAt(affinity, direction, 'spec.affinity');
  return side === undefined ? [] : objectsAt(side, REQUIRED, `spec.affinity.${direction}`);
}

function readTerm(term: JsonObject, labels: Labels, field: string): PodAffinityTerm {
  return {
    selector: withLabelKeys(readSelector(term, 'labelSelector', field), term, labels, field),
    namespaces: [...textsAt(term, 'namespaces', field)].sort(),
    namespaceSelector: readSelector(term, 'namespaceSelector', field),
    topologyKey: textAt(term, 'topologyKey', field) ?? '',
  };
}

/** Adds matchLabelKeys and mismatchLabelKeys as the API server does when it stores a pod (KEP-3633). */
function withLabelKeys(
  selector: Selector | undefined,
  term: JsonObject,
  labels: Labels,
  field: string,
): Selector | undefined {
  if (selector === undefined) {
    return undefined;
  }
  const merged = [
    ...selector.requirements,
    ...fromLabels(textsAt(term, 'matchLabelKeys', field), 'In', labels),
    ...fromLabels(textsAt(term, 'mismatchLabelKeys', field), 'NotIn', labels),
  ];
  return {
    requirements: merged.filter((candidate, index) => merged.findIndex((other) => same(candidate, other)) === index),
  };
}

function fromLabels(keys: readonly string[], operator: 'In' | 'NotIn', labels: Labels): readonly Requirement[] {
  return keys.flatMap((key) => {
    const value = labels.get(key);
    return value === undefined ? [] : [{ key, operator, values: [value] }];
  });
}

function same(left: Requirement, right: Requirement): boolean {
  return left.key === right.key && left.operator === right.operator && left.values.join() === right.values.join();
}
