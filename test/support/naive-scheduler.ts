import type { NodeInfo } from '../../src/model/node.ts';
import type { PodAffinityTerm, PodInfo, SpreadConstraint } from '../../src/model/pod.ts';
import { matches } from '../../src/model/selector.ts';
import type { ClusterSnapshot } from '../../src/model/snapshot.ts';

/**
 * InterPodAffinity and PodTopologySpread word by word, counting everything anew for every question; apart from the code
 * under test. Terms name no namespaces, and spread constraints have the default node policies: nodes count that the node selector
 * of the pod selects.
 */
export function isTolerated(pod: PodInfo, node: NodeInfo, snapshot: ClusterSnapshot): boolean {
  const others = snapshot.pods.filter(({ uid, nodeName }) => uid !== pod.uid && nodeName !== undefined);
  const nodeOf = (other: PodInfo) => snapshot.nodes.find(({ name }) => name === other.nodeName);
  const isNear = (other: PodInfo, { topologyKey }: Pick<PodAffinityTerm, 'topologyKey'>): boolean => {
    const value = node.labels.get(topologyKey);
    return value !== undefined && nodeOf(other)?.labels.get(topologyKey) === value;
  };
  const { podAffinity, podAntiAffinity, spread } = pod.constraints;
  const repelled =
    podAntiAffinity.some((term) => others.some((other) => selects(term, pod, other) && isNear(other, term))) ||
    others.some((other) =>
      other.constraints.podAntiAffinity.some((term) => selects(term, other, pod) && isNear(other, term)),
    );
  const matchesAll = (other: PodInfo): boolean => podAffinity.every((term) => selects(term, pod, other));
  const isFirst =
    matchesAll(pod) &&
    !others.some(
      (other) => matchesAll(other) && podAffinity.some(({ topologyKey }) => nodeOf(other)?.labels.has(topologyKey)),
    );
  const attracted = podAffinity.every(
    (term) =>
      node.labels.has(term.topologyKey) &&
      (isFirst || others.some((other) => matchesAll(other) && isNear(other, term))),
  );
  return !repelled && attracted && spread.every((constraint) => isEven(constraint, pod, node, others, snapshot));
}

function selects({ selector }: PodAffinityTerm, holder: PodInfo, other: PodInfo): boolean {
  return selector !== undefined && holder.namespace === other.namespace && matches(selector, other.labels);
}

function isEven(
  { topologyKey, selector, maxSkew, minDomains }: SpreadConstraint,
  pod: PodInfo,
  node: NodeInfo,
  others: readonly PodInfo[],
  { nodes }: ClusterSnapshot,
): boolean {
  const keys = pod.constraints.spread.map((each) => each.topologyKey);
  const counts = new Map<string, number>();
  const counted = nodes.filter(
    ({ labels }) =>
      keys.every((key) => labels.has(key)) &&
      [...pod.constraints.nodeSelector].every(([key, value]) => labels.get(key) === value),
  );
  for (const candidate of counted) {
    const domain = candidate.labels.get(topologyKey) ?? '';
    const here = others.filter(
      ({ nodeName, namespace, terminating, labels }) =>
        nodeName === candidate.name &&
        namespace === pod.namespace &&
        !terminating &&
        selector !== undefined &&
        matches(selector, labels),
    );
    counts.set(domain, (counts.get(domain) ?? 0) + here.length);
  }
  const domain = node.labels.get(topologyKey);
  const self = selector !== undefined && matches(selector, pod.labels) ? 1 : 0;
  const least = counts.size < minDomains ? 0 : Math.min(...counts.values());
  return domain !== undefined && (counts.get(domain) ?? 0) + self - least <= maxSkew;
}
