import {
  asObject,
  describe,
  type JsonObject,
  MalformedField,
  objectAt,
  objectsAt,
  textAt,
  textsAt,
} from '../../model/json.ts';
import type { PodAffinityTerm, PreferredPodTerm } from '../../model/pod.ts';
import type { Labels, Selector } from '../../model/selector.ts';
import { mergeLabelKeys } from './label-keys.ts';
import { readSelector } from './selector.ts';
import { readWeight } from './weight.ts';

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

/** The two halves of a pod's affinity to other pods. */
export type AffinitySide = 'podAffinity' | 'podAntiAffinity';

/**
 * Required terms of one side of `spec.affinity`; `labels` are the pod's own, for matchLabelKeys and mismatchLabelKeys.
 * Throws MalformedField.
 */
export function readRequiredPodTerms(
  affinity: JsonObject,
  side: AffinitySide,
  labels: Labels,
): readonly PodAffinityTerm[] {
  const field = `spec.affinity.${side}`;
  const terms = objectAt(affinity, side, 'spec.affinity');
  return terms === undefined
    ? []
    : objectsAt(terms, REQUIRED, field).map((term, index) => readTerm(term, labels, `${field}.${REQUIRED}[${index}]`));
}

/** Preferred terms of both sides; those of anti-affinity with negative weights. Throws MalformedField. */
export function readPreferredPodTerms(affinity: JsonObject, labels: Labels): readonly PreferredPodTerm[] {
  return [
    ...readPreferred(affinity, 'podAffinity', labels),
    ...readPreferred(affinity, 'podAntiAffinity', labels).map(({ weight, term }) => ({ weight: -weight, term })),
  ];
}

function readPreferred(affinity: JsonObject, side: AffinitySide, labels: Labels): readonly PreferredPodTerm[] {
  const terms = objectAt(affinity, side, 'spec.affinity') ?? {};
  return objectsAt(terms, PREFERRED, `spec.affinity.${side}`).map((weighted, index) => {
    const field = `spec.affinity.${side}.${PREFERRED}[${index}]`;
    const term = asObject(weighted.podAffinityTerm ?? {}, `${field}.podAffinityTerm`);
    return { weight: readWeight(weighted, field), term: readTerm(term, labels, `${field}.podAffinityTerm`) };
  });
}

function readTerm(term: JsonObject, labels: Labels, field: string): PodAffinityTerm {
  return {
    selector: withLabelKeys(readSelector(term, 'labelSelector', field), term, labels, field),
    namespaces: [...textsAt(term, 'namespaces', field)].sort(),
    namespaceSelector: readSelector(term, 'namespaceSelector', field),
    topologyKey: readTopologyKey(term, field),
  };
}

/** The node label that an affinity term or spread constraint groups nodes by. Throws MalformedField when it is missing. */
export function readTopologyKey(term: JsonObject, field: string): string {
  const key = textAt(term, 'topologyKey', field) ?? '';
  if (key === '') {
    throw new MalformedField(`${field}.topologyKey`, `${describe(key)} is not a node label: write one`);
  }
  return key;
}

/**
 * The selector as the API server stores it (applyMatchLabelKeysAndMismatchLabelKeys). It refuses a key of matchLabelKeys
 * that the selector has too, so one that is there was merged from the labels that the pod was created with: those count.
 */
function withLabelKeys(
  selector: Selector | undefined,
  term: JsonObject,
  labels: Labels,
  field: string,
): Selector | undefined {
  const merged = new Set(selector?.requirements.flatMap(({ key, operator }) => (operator === 'In' ? [key] : [])));
  const matching = textsAt(term, 'matchLabelKeys', field).filter((key) => !merged.has(key));
  const mismatching = textsAt(term, 'mismatchLabelKeys', field);
  return mergeLabelKeys(mergeLabelKeys(selector, matching, 'In', labels), mismatching, 'NotIn', labels);
}
