import type { PodInfo } from '../model/pod.ts';
import { EVERYTHING, type Labels, matches } from '../model/selector.ts';
import type { ClusterSnapshot } from '../model/snapshot.ts';
import type { ScopeOptions } from './options.ts';

const NO_LABELS: Labels = new Map();

/**
 * A test for whether a policy is about a pod: its namespace, labels and node are selected and nobody else owns it.
 * A pod without a node is judged by namespace and labels alone.
 */
export function scopeTest(scope: ScopeOptions, snapshot: ClusterSnapshot): (pod: PodInfo) => boolean {
  const namespaces = new Map<string, boolean>();
  const nodes = new Map(snapshot.nodes.map((node) => [node.name, matches(scope.nodeSelector, node.labels)]));
  const selectsAllPods = scope.podSelector === EVERYTHING || scope.podSelector.requirements.length === 0;
  const inNamespace = (name: string): boolean => {
    const known = namespaces.get(name) ?? selectsNamespace(scope, name, snapshot.namespaces.get(name) ?? NO_LABELS);
    namespaces.set(name, known);
    return known;
  };
  return (pod) =>
    !scope.foreignPods.has(pod.uid) &&
    inNamespace(pod.namespace) &&
    (selectsAllPods || matches(scope.podSelector, pod.labels)) &&
    (pod.nodeName === undefined || nodes.get(pod.nodeName) === true);
}

function selectsNamespace(
  { excludedNamespaces, namespaceSelector }: ScopeOptions,
  name: string,
  labels: Labels,
): boolean {
  return !excludedNamespaces.has(name) && matches(namespaceSelector, labels);
}
