import type { PodInfo } from '../model/pod.ts';
import { EVERYTHING, type Labels, matches } from '../model/selector.ts';
import type { ClusterSnapshot } from '../model/snapshot.ts';
import type { ScopeOptions } from './options.ts';

/** What a scope is judged by, besides the pod. */
type Surroundings = Pick<ClusterSnapshot, 'nodes' | 'namespaces'>;

/** The only label that a namespace is known to have when there is no object of it: the API server sets it. */
export const NAMESPACE_NAME_LABEL = 'kubernetes.io/metadata.name';

/**
 * A test for whether a policy is about a pod: its namespace, labels and node are selected and nobody else owns it.
 * A pod without a node is judged by namespace and labels alone.
 */
export function scopeTest(scope: ScopeOptions, snapshot: Surroundings): (pod: PodInfo) => boolean {
  const problemOf = scopeProblem(scope, snapshot);
  return (pod) => problemOf(pod) === undefined;
}

/** Why a policy is not about a pod, as a clause; `undefined` when it is. */
export function scopeProblem(scope: ScopeOptions, snapshot: Surroundings): (pod: PodInfo) => string | undefined {
  const nodes = new Map(snapshot.nodes.map((node) => [node.name, matches(scope.nodeSelector, node.labels)]));
  const problemOf = scopeProblemOnNode(scope, snapshot);
  return (pod) => problemOf(pod, pod.nodeName === undefined || nodes.get(pod.nodeName) === true);
}

/** The same for callers that know whether the pod's node is selected; a pod without a node counts as if it were on one that is. */
export function scopeProblemOnNode(
  scope: ScopeOptions,
  snapshot: Pick<Surroundings, 'namespaces'>,
): (pod: PodInfo, isOnSelectedNode: boolean) => string | undefined {
  const namespaces = new Map<string, boolean>();
  const selectsAllPods = scope.podSelector === EVERYTHING || scope.podSelector.requirements.length === 0;
  const anyForeign = scope.foreignPods.size > 0;
  let last = { name: '', isIn: false };
  const inNamespace = (name: string): boolean => {
    if (name !== last.name) {
      const isIn = namespaces.get(name) ?? selectsNamespace(scope, name, snapshot.namespaces.get(name));
      namespaces.set(name, isIn);
      last = { name, isIn };
    }
    return last.isIn;
  };
  return (pod, isOnSelectedNode) => {
    if (anyForeign && scope.foreignPods.has(pod.uid)) {
      return 'an older policy owns it';
    }
    if (!inNamespace(pod.namespace)) {
      return scope.excludedNamespaces.has(pod.namespace)
        ? 'pods of its namespace are never moved'
        : 'scope.namespaceSelector does not select its namespace';
    }
    if (!selectsAllPods && !matches(scope.podSelector, pod.labels)) {
      return 'scope.podSelector does not select it';
    }
    return isOnSelectedNode ? undefined : 'scope.nodeSelector does not select its node';
  };
}

/** Of a namespace without an object (`labels` are undefined) only the name is known: no other expression selects it. */
function selectsNamespace(
  { excludedNamespaces, namespaceSelector }: ScopeOptions,
  name: string,
  labels: Labels | undefined,
): boolean {
  const { requirements } = namespaceSelector;
  const isKnown = labels !== undefined || requirements.every(({ key }) => key === NAMESPACE_NAME_LABEL);
  const known = labels ?? new Map([[NAMESPACE_NAME_LABEL, name]]);
  return !excludedNamespaces.has(name) && isKnown && matches(namespaceSelector, known);
}

/** Namespaces of pods that the selector of a scope cannot be judged for, since there is no object of them; by name. */
export function unknownNamespaces(
  { excludedNamespaces, namespaceSelector }: ScopeOptions,
  { pods, namespaces }: Pick<ClusterSnapshot, 'pods' | 'namespaces'>,
): readonly string[] {
  if (namespaceSelector.requirements.every(({ key }) => key === NAMESPACE_NAME_LABEL)) {
    return [];
  }
  const named = new Set(pods.map(({ namespace }) => namespace));
  return [...named].filter((name) => !namespaces.has(name) && !excludedNamespaces.has(name)).sort();
}
