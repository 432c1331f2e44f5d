import type { ClusterSnapshot } from '../../../../src/model/snapshot.ts';
import { aNode, aPod, aSnapshot } from '../../../support/builders.ts';

/** Nodes of 10 cores with pods in percent of a node. */
export function loaded(...nodes: readonly (readonly number[])[]): ClusterSnapshot {
  const pods = nodes.flatMap((sizes, node) =>
    sizes.map((size, index) => ({
      pod: aPod(`p${node}-${index}`, { nodeName: `n${node}`, constraints: { requests: {} } }),
      size,
    })),
  );
  return aSnapshot({
    nodes: nodes.map((_, index) => aNode(`n${index}`, { allocatable: { cpu: 10_000 } })),
    pods: pods.map(({ pod }) => pod),
    uses: Object.fromEntries(pods.map(({ pod, size }) => [pod.name, size * 100])),
  });
}
