import type { PodAffinityTerm, PodInfo, SpreadConstraint } from '../../model/pod.ts';
import { matches } from '../../model/selector.ts';
import type { ClusterSnapshot } from '../../model/snapshot.ts';
import type { PodKind, PodKinds } from '../pod-kinds.ts';
import { createSelectorIndex } from '../topology/selector-index.ts';
import { resolveTerm, selects, type Term } from '../topology/terms.ts';
import { groupBy } from './group-by.ts';

/** A term of some pods that has a say in where a pod goes. */
export interface Attraction {
  readonly topologyKey: string;
  /** Negative: keeps away. */
  readonly weight: number;
  /** The pods that carry the term. */
  readonly pods: Int32Array;
}

/** Index from affinity terms to the pods that they match. Pods are named by their place; results are cached. */
export interface TermIndex {
  /** Pods that a preferred term of a pod in this namespace matches, group by group; `undefined`: it selects none. */
  readonly matching: (term: PodAffinityTerm, namespace: string) => readonly Int32Array[] | undefined;
  /** Preferred terms, and required affinity terms, of other pods that match a pod. */
  readonly attracting: (pod: PodInfo) => readonly Attraction[];
  /** Pods in this namespace that a spread constraint counts, group by group. */
  readonly spreadOver: (constraint: SpreadConstraint, namespace: string) => readonly Int32Array[];
}

/** What a required affinity term of a pod that runs is worth to the pods that it matches (hardPodAffinityWeight). */
const HARD_AFFINITY_WEIGHT = 1;

interface Group {
  readonly kind: PodKind;
  readonly pods: Int32Array;
}

/** Files the terms of all kinds of pods by the labels that they match. */
export function indexTerms({ list, ofPod }: PodKinds, namespaces: ClusterSnapshot['namespaces']): TermIndex {
  const members = groupBy(ofPod, list.length);
  const groups = list.map((kind, place): Group => ({ kind, pods: members(place) }));
  const attractions = createSelectorIndex<Attraction & { readonly term: Term }>();
  for (const { kind, pods } of groups.filter((group) => attracts(group.kind))) {
    for (const { term, weight } of attractionsOf(kind)) {
      const resolved = resolveTerm(term, kind.namespace, namespaces);
      if (resolved !== undefined) {
        attractions.add(resolved.selector, { topologyKey: term.topologyKey, weight, pods, term: resolved });
      }
    }
  }
  const those = (test: (kind: PodKind) => boolean): readonly Int32Array[] =>
    groups.filter(({ kind }) => test(kind)).map(({ pods }) => pods);
  return {
    matching: remembered((term: PodAffinityTerm, namespace) => {
      const resolved = resolveTerm(term, namespace, namespaces);
      return resolved && those((kind) => selects(resolved, kind.namespace, kind.labels));
    }),
    attracting: ({ labels, namespace }) =>
      attractions.find(labels).filter(({ term }) => term.namespaces?.includes(namespace) ?? true),
    spreadOver: remembered(({ selector }: SpreadConstraint, namespace) =>
      // An empty selector counts no pods (podtopologyspread.countPodsMatchSelector), nor does a null one.
      selector === undefined || selector.requirements.length === 0
        ? []
        : those((kind) => kind.namespace === namespace && !kind.terminating && matches(selector, kind.labels)),
    ),
  };
}

/** Whether pods of a kind have terms that have a say in where other pods go. */
export function attracts({ constraints }: PodKind): boolean {
  const { podAffinity, preferredPodAffinity } = constraints;
  return podAffinity.length > 0 || preferredPodAffinity.length > 0;
}

function attractionsOf({ constraints }: PodKind): PodInfo['constraints']['preferredPodAffinity'] {
  const required = constraints.podAffinity.map((term) => ({ term, weight: HARD_AFFINITY_WEIGHT }));
  return [...required, ...constraints.preferredPodAffinity];
}

/** Remembers by the identity of the term, which pods of one template share, and by namespace. */
function remembered<Key extends object, Value>(
  find: (key: Key, namespace: string) => Value,
): (key: Key, namespace: string) => Value {
  const known = new Map<Key, Map<string, { readonly value: Value }>>();
  return (key, namespace) => {
    const byNamespace = known.get(key) ?? new Map<string, { readonly value: Value }>();
    known.set(key, byNamespace);
    const found = byNamespace.get(namespace) ?? { value: find(key, namespace) };
    byNamespace.set(namespace, found);
    return found.value;
  };
}
