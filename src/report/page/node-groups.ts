import type { NodeRow } from './state.ts';

const ZONE = 'topology.kubernetes.io/zone';
/** Labels that name the pool of a node: those of Karpenter and of managed clusters. The first one that a node has counts. */
const POOLS = [
  'karpenter.sh/nodepool',
  'eks.amazonaws.com/nodegroup',
  'cloud.google.com/gke-nodepool',
  'kubernetes.azure.com/agentpool',
  'doks.digitalocean.com/node-pool',
];

/** Zone and pool of a node, by its labels. */
export function nodeGroups(labels: ReadonlyMap<string, string>): Pick<NodeRow, 'zone' | 'pool'> {
  const zone = labels.get(ZONE);
  const pool = POOLS.map((label) => labels.get(label)).find((name) => name !== undefined);
  return { ...(zone === undefined ? {} : { zone }), ...(pool === undefined ? {} : { pool }) };
}
