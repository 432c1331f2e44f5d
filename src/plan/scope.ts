import type { PodInfo } from '../model/pod.ts';
import { EVERYTHING, type Labels, matches } from '../model/selector.ts';
import type { ClusterSnapshot } from '../model/snapshot.ts';
import type { ScopeOptions } from './options.ts';

/** What a scope is judged by, besides the pod. */
type Surroundings = Pick<ClusterSnapshot, 'nodes' | 'namespaces'>;

const NO_LABELS: Labels = new Map();

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
  const namespaces = new Map<string, boolean>();
  const nodes = new Map(snapshot.nodes.map((node) => [node.name, matches(scope.nodeSelector, node.labels)]));
  const selectsAllPods = scope.podSelector === EVERYTHING || scope.podSelector.requirements.length === 0;
  const anyForeign = scope.foreignPods.size > 0;
  let last = { name: '', isIn: false };
  const inNamespace = (name: string): boolean => {
    if (name !== last.name) {
      const isIn = namespaces.get(name) ?? selectsNamespace(scope, name, snapshot.namespaces.get(name) ?? NO_LABELS);
      namespaces.set(name, isIn);
      last = { name, isIn };
    }
    return last.isIn;
  };
  return (pod) => {
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
    const isSelected = pod.nodeName === undefined || nodes.get(pod.nodeName) === true;
    return isSelected ? undefined : 'scope.nodeSelector does not select its node';
  };
}

function selectsNamespace(
  { excludedNamespaces, namespaceSelector }: ScopeOptions,
  name: string,
  labels: Labels,
): boolean {
  return !excludedNamespaces.has(name) && matches(namespaceSelector, labels);
}
