import { aRawNode, aRawPod, aRawReplicaSet, type Raw } from '../../../support/builders/raw.ts';

/** When the cluster is looked at. */
const TAKEN_AT = '2026-02-01T00:00:00Z';
const HOST = 'kubernetes.io/hostname';
const ZONE = 'topology.kubernetes.io/zone';

function node(name: string, zone: string, spec: Raw = {}, labels: Raw = {}): Raw {
  return aRawNode(name, { spec, metadata: { labels: { [HOST]: name, [ZONE]: zone, ...labels } } });
}

interface PodFields {
  readonly namespace: string;
  readonly node: string;
  /** ReplicaSet; default one of its own. */
  readonly owner?: string;
  readonly created?: string;
  readonly labels?: Raw;
  readonly cpu?: string;
  readonly spec?: Raw;
  readonly status?: Raw;
}

function pod(name: string, { namespace, node: nodeName, owner = name, ...fields }: PodFields): Raw {
  const { created = '2026-01-25T00:00:00Z', labels = {}, cpu = '50m', spec = {}, status = {} } = fields;
  return aRawPod(name, {
    metadata: {
      namespace,
      uid: `${namespace}-${name}`,
      creationTimestamp: created,
      labels,
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: owner, uid: `${namespace}-${owner}`, controller: true },
      ],
    },
    spec: {
      nodeName,
      containers: [{ name: 'main', image: 'app:1', resources: { requests: { cpu, memory: '64Mi' } } }],
      ...spec,
    },
    status,
  });
}

const apart = {
  labels: { app: 'api' },
  spec: {
    affinity: {
      podAntiAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [
          { topologyKey: HOST, labelSelector: { matchLabels: { app: 'api' } } },
        ],
      },
    },
  },
};

function spread(app: string, whenUnsatisfiable: string): Pick<PodFields, 'labels' | 'spec' | 'owner' | 'namespace'> {
  const labelSelector = { matchLabels: { app } };
  return {
    namespace: 'zones',
    owner: app,
    labels: { app },
    spec: { topologySpreadConstraints: [{ maxSkew: 1, topologyKey: ZONE, whenUnsatisfiable, labelSelector }] },
  };
}

const needsSsd = {
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: 'disk', operator: 'In', values: ['ssd'] }] }],
      },
    },
  },
};
const likesZoneB = {
  affinity: {
    nodeAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 10, preference: { matchExpressions: [{ key: ZONE, operator: 'In', values: ['b'] }] } },
      ],
    },
  },
};

const waiting = (reason: string, restartCount: number): Raw => ({
  conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: '2026-01-26T00:00:00Z' }],
  containerStatuses: [{ name: 'main', restartCount, state: { waiting: { reason } } }],
});
const ended = (reason: string, exitCode: number): Raw => ({
  phase: 'Failed',
  conditions: [],
  containerStatuses: [{ name: 'main', restartCount: 0, state: { terminated: { reason, exitCode } } }],
});

const PODS = [
  pod('drained', { namespace: 'tainted', node: 'old', owner: 'agent' }),
  pod('elsewhere', { namespace: 'tainted', node: 'c1', owner: 'agent' }),
  pod('slowed', { namespace: 'tainted', node: 'slow' }),
  pod('database', { namespace: 'affinity', node: 'a1', spec: needsSsd }),
  pod('cache', { namespace: 'affinity', node: 'a1', spec: likesZoneB, labels: { tier: 'cache' } }),
  pod('api-blue', { namespace: 'apart', node: 'a2', ...apart }),
  pod('api-green', { namespace: 'apart', node: 'a2', ...apart }),
  ...['a1', 'a2', 'a3'].map((at) => pod(`web-${at}`, { ...spread('web', 'DoNotSchedule'), node: at })),
  ...['a1', 'a2', 'a3'].map((at) => pod(`log-${at}`, { ...spread('log', 'ScheduleAnyway'), node: at })),
  pod('twin-1', { namespace: 'twins', node: 'b1', owner: 'twin' }),
  pod('twin-2', { namespace: 'twins', node: 'b1', owner: 'twin' }),
  pod('crashing', {
    namespace: 'crashing',
    node: 'b2',
    labels: { app: 'worker' },
    status: waiting('CrashLoopBackOff', 120),
  }),
  pod('shaky', {
    namespace: 'crashing',
    node: 'b2',
    labels: { app: 'worker' },
    status: { containerStatuses: [{ name: 'main', restartCount: 10, state: { running: {} } }] },
  }),
  pod('ancient', { namespace: 'aged', node: 'b2', created: '2025-11-01T00:00:00Z', spec: { priority: 200 } }),
  pod('fresh', { namespace: 'aged', node: 'b2', created: '2026-01-31T12:00:00Z' }),
  pod('imageless', { namespace: 'stuck', node: 'a3', status: { phase: 'Pending', ...waiting('ImagePullBackOff', 0) } }),
  pod('evicted', { namespace: 'batch', node: 'a3', status: { phase: 'Failed', reason: 'Evicted', conditions: [] } }),
  pod('killed', { namespace: 'batch', node: 'a3', status: ended('OOMKilled', 137) }),
  ...['x', 'y', 'z'].map((name) => pod(`heavy-${name}`, { namespace: 'load', node: 'c1', cpu: '1' })),
];

function replicaSets(): readonly Raw[] {
  const owners = Map.groupBy(PODS, ({ metadata }) => {
    const { namespace, ownerReferences } = metadata as { namespace: string; ownerReferences: { name: string }[] };
    return `${namespace}/${ownerReferences[0]?.name}`;
  });
  return [...owners].map(([key, pods]) => {
    const [namespace = '', name = ''] = key.split('/');
    const replicas = pods.length;
    const creationTimestamp = '2025-11-01T00:00:00Z';
    return {
      ...aRawReplicaSet(name, {
        metadata: { namespace, uid: `${namespace}-${name}`, generation: 1, creationTimestamp },
        spec: { replicas },
      }),
      status: { observedGeneration: 1, replicas, readyReplicas: replicas, availableReplicas: replicas },
    };
  });
}

/** A cluster in which each plugin of the descheduler finds something to do, each in a namespace of its own. */
export const CLUSTER = {
  apiVersion: 'v1',
  kind: 'List',
  metadata: { annotations: { 'evenkeel.dev/taken-at': TAKEN_AT } },
  items: [
    node('a1', 'a'),
    node('a2', 'a'),
    node('a3', 'a'),
    node('b1', 'b'),
    node('b2', 'b', {}, { disk: 'ssd' }),
    node('c1', 'c'),
    node('old', 'c', { taints: [{ key: 'maintenance', value: 'planned', effect: 'NoSchedule' }] }, { pool: 'spare' }),
    node('slow', 'c', { taints: [{ key: 'slow', effect: 'PreferNoSchedule' }] }),
    ...PODS,
    ...replicaSets(),
  ],
};
