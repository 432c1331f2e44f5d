import { describe, expect, it } from 'vitest';
import type { RebalancePlan } from '../../../src/api/v1alpha1/rebalance-plan.ts';
import { policyObject } from '../../support/resources.ts';
import { runCli } from '../../support/run-cli.ts';

const NOON = '2026-01-01T12:00:00Z';
const EARLIER = '2026-01-01T00:00:00Z';

/**
 * A cluster in which this name is a label, its value, an annotation, an extended resource, a topology key, a namespace, a
 * node, a controller, a volume, a claim, a storage class and a priority class; and a policy that selects by it. As text:
 * what an object literal does with the key __proto__ is not what JSON means by it.
 */
function clusterWith(name: string): string {
  const labels = { KEY: 'KEY' };
  const selector = { matchLabels: labels, matchExpressions: [{ key: 'KEY', operator: 'Exists' }] };
  const node = (node: string, zone: string, used: string): readonly object[] => [
    {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: node, labels: { KEY: zone, 'kubernetes.io/hostname': node }, annotations: labels },
      spec: { taints: [{ key: 'KEY', value: 'KEY', effect: 'NoSchedule' }] },
      status: {
        allocatable: { cpu: '4', memory: '16Gi', pods: '110', KEY: '6' },
        conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: EARLIER }],
      },
    },
    {
      apiVersion: 'metrics.k8s.io/v1beta1',
      kind: 'NodeMetrics',
      metadata: { name: node },
      timestamp: NOON,
      window: '20s',
      usage: { cpu: used, memory: '1Gi' },
    },
  ];
  const pod = (pod: string, cpu: string): readonly object[] => [
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: pod,
        namespace: 'KEY',
        uid: pod,
        creationTimestamp: EARLIER,
        labels,
        annotations: labels,
        ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'KEY', uid: 'KEY', controller: true }],
      },
      spec: {
        nodeName: 'KEY',
        priorityClassName: 'KEY',
        nodeSelector: { KEY: 'a' },
        tolerations: [{ key: 'KEY', operator: 'Equal', value: 'KEY', effect: 'NoSchedule' }],
        topologySpreadConstraints: [
          { maxSkew: 5, topologyKey: 'KEY', whenUnsatisfiable: 'DoNotSchedule', labelSelector: selector },
        ],
        affinity: {
          podAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'KEY', labelSelector: selector }],
          },
        },
        volumes: [{ name: 'KEY', persistentVolumeClaim: { claimName: 'KEY' } }],
        containers: [
          { name: 'KEY', image: 'KEY', resources: { requests: { cpu: '100m', KEY: 1 }, limits: { KEY: 1 } } },
        ],
      },
      status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: EARLIER }] },
    },
    {
      apiVersion: 'metrics.k8s.io/v1beta1',
      kind: 'PodMetrics',
      metadata: { name: pod, namespace: 'KEY' },
      timestamp: NOON,
      window: '20s',
      containers: [{ name: 'KEY', usage: { cpu, memory: '100Mi' } }],
    },
  ];
  const claim = {
    accessModes: ['ReadWriteMany'],
    storageClassName: 'KEY',
    resources: { requests: { storage: '1Gi' } },
  };
  const objects = [
    ...node('KEY', 'a', '3100m'),
    ...node('node-2', 'a', '100m'),
    ...node('node-3', 'b', '200m'),
    ...pod('p-1', '600m'),
    ...pod('p-2', '700m'),
    ...pod('p-3', '800m'),
    ...pod('p-4', '900m'),
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'KEY', labels } },
    {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: { name: 'KEY', namespace: 'KEY', uid: 'KEY', creationTimestamp: EARLIER },
      spec: { replicas: 4 },
      status: { replicas: 4, readyReplicas: 4, availableReplicas: 4 },
    },
    {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'KEY', namespace: 'KEY' },
      spec: { selector, maxUnavailable: 3 },
    },
    { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name: 'KEY' }, value: 100 },
    { apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', metadata: { name: 'KEY' }, provisioner: 'KEY' },
    {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: 'KEY' },
      spec: {
        capacity: { storage: '1Gi' },
        accessModes: ['ReadWriteMany'],
        storageClassName: 'KEY',
        claimRef: { namespace: 'KEY', name: 'KEY' },
        csi: { driver: 'KEY', volumeHandle: 'KEY' },
        nodeAffinity: {
          required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'KEY', operator: 'In', values: ['a'] }] }] },
        },
      },
      status: { phase: 'Bound' },
    },
    {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'KEY', namespace: 'KEY', annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } },
      spec: { ...claim, volumeName: 'KEY' },
      status: { phase: 'Bound' },
    },
    {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'CSINode',
      metadata: { name: 'KEY' },
      spec: { drivers: [{ name: 'KEY', allocatable: { count: 9 } }] },
    },
    policyObject('p', {
      scope: { namespaceSelector: selector, podSelector: selector, nodeSelector: { matchLabels: { KEY: 'a' } } },
      budgets: [{ perOwner: '50%', perNode: 2, perNamespace: 2 }],
    }),
  ];
  const text = objects.map((object) => JSON.stringify(object)).join('\n---\n');
  return text.replaceAll('KEY', name);
}

/** Moves and rejections, with the name taken out again, and the hash of labels that bear it. */
async function planWith(name: string): Promise<Pick<RebalancePlan['spec'], 'moves' | 'rejectionCounts' | 'message'>> {
  const { stdout, stderr, code } = await runCli(['plan', '-f', '-', '-o', 'json'], clusterWith(name));
  expect([stderr, code]).toEqual(['', 0]);
  const { spec } = JSON.parse(
    stdout.replaceAll(name, 'KEY').replaceAll(/("labelsHash": )"[0-9a-f]{16}"/g, '$1"HASH"'),
  ) as RebalancePlan;
  return { moves: spec.moves, rejectionCounts: spec.rejectionCounts, message: spec.message };
}

describe('evenkeel plan', () => {
  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])(
    'takes %s for a name like any other, wherever it stands',
    async (name) => {
      const ordinary = await planWith('ordinary');
      expect(ordinary.moves.map(({ pod, to }) => `${pod.name} to ${to}`)).toHaveLength(2);
      expect(await planWith(name)).toEqual(ordinary);
    },
  );
});
