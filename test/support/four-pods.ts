/** As in a snapshot file: nodes a and b of ten cores, and four pods of one core each on node a. */
export function fourPods(): readonly object[] {
  const nodes = ['a', 'b'].map((name) => ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name },
    status: { allocatable: { cpu: '10', memory: '8Gi', pods: '110' } },
  }));
  const pods = [1, 2, 3, 4].map((index) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `web-${index}`, ownerReferences: [{ kind: 'ReplicaSet', name: 'web', controller: true }] },
    spec: { nodeName: 'a', containers: [{ name: 'c', resources: { requests: { cpu: '1' } } }] },
  }));
  return [...nodes, ...pods];
}
