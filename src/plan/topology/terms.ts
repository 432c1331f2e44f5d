import { compareText } from '../../model/compare-text.ts';
import type { PodAffinityTerm } from '../../model/pod.ts';
import { EVERYTHING, type Labels, matches, type Selector } from '../../model/selector.ts';
import type { ClusterSnapshot } from '../../model/snapshot.ts';

/** A term of pod affinity that knows its namespaces. */
export interface Term {
  readonly selector: Selector;
  /** Sorted; `undefined`: every namespace. */
  readonly namespaces: readonly string[] | undefined;
  readonly topologyKey: string;
}

/**
 * The term of a pod in `namespace`; `undefined` when it selects no pods. Namespaces are those that it names and those that
 * its selector matches, an empty selector standing for all of them, and the pod's own when it has neither
 * (framework.newAffinityTerm, interpodaffinity.mergeAffinityTermNamespacesIfNotEmpty).
 */
export function resolveTerm(
  { selector, namespaces, namespaceSelector, topologyKey }: PodAffinityTerm,
  namespace: string,
  known: ClusterSnapshot['namespaces'],
): Term | undefined {
  if (selector === undefined) {
    return undefined;
  }
  if (namespaceSelector === undefined) {
    return { selector, topologyKey, namespaces: namespaces.length === 0 ? [namespace] : sorted(namespaces) };
  }
  if (namespaceSelector.requirements.length === 0) {
    return { selector, topologyKey, namespaces: undefined };
  }
  const selected = [...known].filter(([, labels]) => matches(namespaceSelector, labels)).map(([name]) => name);
  return { selector, topologyKey, namespaces: sorted([...namespaces, ...selected]) };
}

const NO_LABELS: Labels = new Map();

/**
 * A term of the very pod that is being placed, as kube-scheduler 1.34 to 1.36 read it: mergeAffinityTermNamespacesIfNotEmpty
 * works on a copy there, so that the namespace selector stays and is asked about a namespace without labels. One that holds there,
 * as NotIn and DoesNotExist do, thereby selects every namespace. Terms of pods that run are read as documented.
 */
export function termAsPlaced(term: PodAffinityTerm): PodAffinityTerm {
  const { namespaceSelector } = term;
  const selectsAll = namespaceSelector !== undefined && matches(namespaceSelector, NO_LABELS);
  return selectsAll ? { ...term, namespaceSelector: EVERYTHING } : term;
}

function sorted(namespaces: readonly string[]): readonly string[] {
  return [...new Set(namespaces)].sort(compareText);
}

/** Whether the term selects a pod (framework.AffinityTerm.Matches). */
export function selects({ selector, namespaces }: Term, namespace: string, labels: Labels): boolean {
  return (namespaces === undefined || namespaces.includes(namespace)) && matches(selector, labels);
}
