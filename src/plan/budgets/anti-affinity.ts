import type { PodAffinityTerm, PodInfo, SchedulingConstraints } from '../../model/pod.ts';
import { EVERYTHING, matches, type Selector } from '../../model/selector.ts';
import type { ClusterSnapshot } from '../../model/snapshot.ts';
import { createSelectorIndex, type SelectorIndex } from './selector-index.ts';

/** Says which term of another pod could keep a pod off some node; `undefined` when none could. */
export type AntiAffinityTest = (pod: PodInfo) => string | undefined;

interface IndexedTerm {
  /** `undefined`: every namespace. */
  readonly namespaces: ReadonlySet<string> | undefined;
  readonly text: string;
}

/**
 * A test against the required anti-affinity terms of all bound pods. Until the planner has the scheduler's
 * InterPodAffinity filter, a pod that any of them could match is not moved
 * (interpodaffinity.satisfyExistingPodsAntiAffinity looks at the terms of pods that run, so a pod without terms of its
 * own may still be refused). Equal terms are indexed once: a term is usually that of a template with many pods.
 */
export function antiAffinityTest(
  pods: readonly PodInfo[],
  namespaces: ClusterSnapshot['namespaces'],
): AntiAffinityTest {
  const index = createSelectorIndex<IndexedTerm>();
  const seen = new Set<string>();
  const visited = new Map<SchedulingConstraints, Set<string>>();
  for (const pod of pods) {
    const { podAntiAffinity } = pod.constraints;
    if (podAntiAffinity.length > 0 && pod.nodeName !== undefined && isNew(visited, pod)) {
      for (const term of podAntiAffinity) {
        addTerm(term, pod.namespace, namespaces, seen, index);
      }
    }
  }
  return seen.size === 0 ? () => undefined : (pod) => firstMatch(index, pod);
}

function isNew(visited: Map<SchedulingConstraints, Set<string>>, { constraints, namespace }: PodInfo): boolean {
  const namespaces = visited.get(constraints);
  if (namespaces === undefined) {
    visited.set(constraints, new Set([namespace]));
    return true;
  }
  const known = namespaces.has(namespace);
  namespaces.add(namespace);
  return !known;
}

function addTerm(
  term: PodAffinityTerm,
  namespace: string,
  namespaces: ClusterSnapshot['namespaces'],
  seen: Set<string>,
  index: SelectorIndex<IndexedTerm>,
): void {
  const implicit = term.namespaces.length === 0 && term.namespaceSelector === undefined;
  const key = JSON.stringify([term, implicit ? namespace : '']);
  if (term.selector === undefined || seen.has(key)) {
    return;
  }
  seen.add(key);
  index.add(term.selector, {
    namespaces: implicit ? new Set([namespace]) : namespacesOf(term, namespaces),
    text: `required anti-affinity of pods in ${namespace} over ${term.topologyKey}`,
  });
}

/** Namespaces that are named, and those that the selector matches; an empty selector stands for all of them. */
function namespacesOf(
  { namespaces: named, namespaceSelector }: PodAffinityTerm,
  known: ClusterSnapshot['namespaces'],
): ReadonlySet<string> | undefined {
  if (namespaceSelector === undefined) {
    return new Set(named);
  }
  if (isEverything(namespaceSelector)) {
    return undefined;
  }
  const selected = [...known].filter(([, labels]) => matches(namespaceSelector, labels)).map(([name]) => name);
  return new Set([...named, ...selected]);
}

function isEverything(selector: Selector): boolean {
  return selector === EVERYTHING || selector.requirements.length === 0;
}

function firstMatch(index: SelectorIndex<IndexedTerm>, pod: PodInfo): string | undefined {
  const found = index.find(pod.labels);
  return found.find(({ namespaces }) => namespaces === undefined || namespaces.has(pod.namespace))?.text;
}
