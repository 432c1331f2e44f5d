import type { SnapshotKind } from '../../src/observe/kind-table.ts';

type Raw = Readonly<Record<string, unknown>>;

const SINCE = '2026-01-01T00:00:00Z';
const SAMPLED = '2026-01-01T01:00:00Z';
const SELECTOR = {
  matchLabels: { app: 'web' },
  matchExpressions: [{ key: 'tier', operator: 'In', values: ['a', 'b'] }],
};
const NODE_TERM = {
  matchExpressions: [{ key: 'zone', operator: 'NotIn', values: ['c'] }],
  matchFields: [{ key: 'metadata.name', operator: 'In', values: ['a', 'b'] }],
};
const POD_TERM = {
  topologyKey: 'zone',
  labelSelector: SELECTOR,
  namespaces: ['shop'],
  namespaceSelector: {},
  matchLabelKeys: ['app'],
  mismatchLabelKeys: ['tier'],
};
const POD_TERMS = {
  requiredDuringSchedulingIgnoredDuringExecution: [POD_TERM],
  preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 5, podAffinityTerm: POD_TERM }],
};
const CLAIM_SPEC = {
  accessModes: ['ReadWriteOnce'],
  storageClassName: 's',
  volumeMode: 'Filesystem',
  selector: SELECTOR,
  resources: { requests: { storage: '1Gi' } },
};
const CONTAINER = {
  name: 'web',
  image: 'registry/web:v1',
  resources: { requests: { cpu: '100m', memory: '128Mi', 'example.com/gpu': 1 }, limits: { memory: '1Gi' } },
  ports: [{ containerPort: 80, hostPort: 8080, hostIP: '127.0.0.1', protocol: 'TCP' }],
};
const STATUS = { name: 'web', allocatedResources: { cpu: '100m' }, resources: { requests: { cpu: '100m' } } };

function meta(name: string, rest: Raw = {}): Raw {
  return { name, namespace: 'shop', uid: `uid-${name}`, generation: 2, creationTimestamp: SINCE, ...rest };
}

function workload(apiVersion: string, kind: SnapshotKind): Raw {
  return {
    apiVersion,
    kind,
    metadata: meta('app', {
      uid: kind === 'ReplicaSet' ? 'uid-app' : `uid-${kind}`,
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'Deployment', name: 'app', uid: 'uid-Deployment', controller: true },
      ],
    }),
    spec: {
      replicas: 3,
      parallelism: 2,
      minReadySeconds: 5,
      template: { spec: { nodeName: '', containers: [CONTAINER] } },
      podFailurePolicy: {
        rules: [{ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] }],
      },
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
    },
    status: {
      observedGeneration: 2,
      replicas: 3,
      updatedReplicas: 3,
      readyReplicas: 3,
      availableReplicas: 3,
      conditions: [{ type: 'Progressing', status: 'True', lastUpdateTime: SINCE }],
    },
  };
}

/** One valid object of each kind that a snapshot is made from, with every field that is read. */
export const RAW_KINDS: Readonly<Record<SnapshotKind, Raw>> = {
  Node: {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: meta('a', { labels: { 'kubernetes.io/hostname': 'a', zone: 'z1' } }),
    spec: { unschedulable: false, taints: [{ key: 'spot', value: 'yes', effect: 'PreferNoSchedule' }] },
    status: {
      allocatable: { cpu: '4', memory: '16Gi', pods: '110', 'ephemeral-storage': '100Gi', 'example.com/gpu': '2' },
      conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: SINCE }],
      images: [{ names: ['registry/web:v1'], sizeBytes: 1_000_000 }],
    },
  },
  Pod: {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: meta('web-1', {
      labels: { app: 'web', tier: 'a', 'pod-template-hash': 'x1' },
      annotations: { 'evenkeel.dev/do-not-evict': 'false' },
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'app', uid: 'uid-app', controller: true }],
    }),
    spec: {
      nodeName: 'a',
      schedulerName: 'default-scheduler',
      priority: 10,
      priorityClassName: 'high',
      nodeSelector: { zone: 'z1' },
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [NODE_TERM] },
          preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 3, preference: NODE_TERM }],
        },
        podAffinity: POD_TERMS,
        podAntiAffinity: POD_TERMS,
      },
      tolerations: [{ key: 'spot', operator: 'Equal', value: 'yes', effect: 'NoSchedule', tolerationSeconds: 5 }],
      topologySpreadConstraints: [
        {
          maxSkew: 1,
          minDomains: 2,
          topologyKey: 'zone',
          whenUnsatisfiable: 'DoNotSchedule',
          labelSelector: SELECTOR,
          matchLabelKeys: ['app'],
          nodeAffinityPolicy: 'Honor',
          nodeTaintsPolicy: 'Ignore',
        },
      ],
      hostNetwork: false,
      overhead: { cpu: '10m' },
      resources: { requests: { cpu: '200m' } },
      schedulingGates: [],
      os: { name: 'linux' },
      volumes: [
        { name: 'p', persistentVolumeClaim: { claimName: 'c' } },
        { name: 'e', emptyDir: {} },
        { name: 'g', ephemeral: { volumeClaimTemplate: { spec: CLAIM_SPEC } } },
        { name: 'd', awsElasticBlockStore: { volumeID: 'vol-1' } },
      ],
      containers: [CONTAINER],
      initContainers: [{ ...CONTAINER, name: 'init', restartPolicy: 'Always' }],
    },
    status: {
      phase: 'Running',
      nominatedNodeName: '',
      conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: SINCE }],
      resources: { requests: { cpu: '200m' } },
      containerStatuses: [STATUS],
      initContainerStatuses: [{ ...STATUS, name: 'init' }],
    },
  },
  Namespace: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop', labels: { team: 'a' } } },
  Deployment: workload('apps/v1', 'Deployment'),
  ReplicaSet: workload('apps/v1', 'ReplicaSet'),
  StatefulSet: workload('apps/v1', 'StatefulSet'),
  DaemonSet: workload('apps/v1', 'DaemonSet'),
  Job: workload('batch/v1', 'Job'),
  ReplicationController: workload('v1', 'ReplicationController'),
  PodDisruptionBudget: {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: meta('web'),
    spec: { selector: SELECTOR, minAvailable: '50%', unhealthyPodEvictionPolicy: 'AlwaysAllow' },
    status: { observedGeneration: 2, disruptionsAllowed: 1 },
  },
  PriorityClass: {
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name: 'high' },
    value: 1000,
    globalDefault: true,
  },
  PersistentVolume: {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: 'v' },
    spec: {
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOnce'],
      storageClassName: 's',
      volumeMode: 'Filesystem',
      claimRef: { namespace: 'shop', name: 'c', uid: 'uid-c' },
      nodeAffinity: { required: { nodeSelectorTerms: [NODE_TERM] } },
      csi: { driver: 'd', volumeHandle: 'h' },
    },
    status: { phase: 'Bound' },
  },
  PersistentVolumeClaim: {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: meta('c', { annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } }),
    spec: { ...CLAIM_SPEC, volumeName: 'v' },
    status: { phase: 'Bound' },
  },
  StorageClass: {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name: 's', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
    provisioner: 'd',
    volumeBindingMode: 'WaitForFirstConsumer',
    allowedTopologies: [{ matchLabelExpressions: [{ key: 'zone', values: ['z1'] }] }],
  },
  CSINode: {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'CSINode',
    metadata: { name: 'a' },
    spec: { drivers: [{ name: 'd', allocatable: { count: 4 } }] },
  },
  CSIDriver: {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'CSIDriver',
    metadata: { name: 'd' },
    spec: { storageCapacity: true },
  },
  NodeMetrics: {
    apiVersion: 'metrics.k8s.io/v1beta1',
    kind: 'NodeMetrics',
    metadata: { name: 'a' },
    timestamp: SAMPLED,
    window: '20.5s',
    usage: { cpu: '2500m', memory: '2Gi' },
  },
  PodMetrics: {
    apiVersion: 'metrics.k8s.io/v1beta1',
    kind: 'PodMetrics',
    metadata: { name: 'web-1', namespace: 'shop' },
    timestamp: SAMPLED,
    window: '20.5s',
    containers: [{ name: 'web', usage: { cpu: '1500m', memory: '1Gi' } }],
  },
  RebalancePlan: {
    apiVersion: 'evenkeel.dev/v1alpha1',
    kind: 'RebalancePlan',
    metadata: { name: 'p-1' },
    spec: {
      moves: [
        {
          pod: { namespace: 'shop', name: 'web-0', uid: 'uid-web-0' },
          owner: { kind: 'ReplicaSet', name: 'app', uid: 'uid-app' },
          from: 'a',
          to: 'b',
          cost: '30',
        },
      ],
    },
    status: {
      moves: [
        {
          podUID: 'uid-web-0',
          phase: 'Landed',
          startedAt: SINCE,
          finishedAt: '2026-01-01T00:01:00Z',
          unavailableSeconds: 20,
          replacement: { name: 'web-1', uid: 'uid-web-1', node: 'b' },
        },
      ],
    },
  },
  AppGraph: {
    apiVersion: 'evenkeel.dev/v1alpha1',
    kind: 'AppGraph',
    metadata: meta('checkout'),
    spec: {
      members: [
        { name: 'web', workload: { kind: 'Deployment', name: 'web' } },
        { name: 'cart', selector: SELECTOR },
      ],
      edges: [{ from: 'web', to: 'cart', bandwidth: '20M' }],
    },
  },
  ServiceClass: {
    apiVersion: 'evenkeel.dev/v1alpha1',
    kind: 'ServiceClass',
    metadata: { name: 'gold', uid: 'uid-gold' },
    spec: {
      slo: '0.9',
      importance: 1,
      window: '1h',
      mode: 'Aggregated',
      penalties: [{ below: '0.9', surcharge: '0.1' }],
      priorityClassNames: ['high'],
    },
  },
  QoSLedger: {
    apiVersion: 'evenkeel.dev/v1alpha1',
    kind: 'QoSLedger',
    metadata: { name: 'replicaset-app', namespace: 'shop', uid: 'uid-ledger' },
    spec: { owner: { kind: 'ReplicaSet', name: 'app', uid: 'uid-app' }, className: 'gold' },
    status: {
      slo: '0.9',
      admittedAt: SINCE,
      asOf: '2026-01-01T00:01:00Z',
      useful: 90,
      discarded: 0,
      pending: 30,
      running: 1,
      waiting: 1,
      instances: [
        { pod: 'uid-web-1', running: true, useful: 60, discarded: 0, pending: 0, attempt: 5 },
        {
          running: false,
          useful: 30,
          discarded: 0,
          pending: 30,
          left: { pod: 'uid-web-0', at: '2026-01-01T00:00:30Z', preempted: true },
        },
      ],
      checkpoints: [{ at: SINCE, useful: 0, discarded: 0, pending: 0 }],
      preemptions: 1,
      overhead: 5,
      startup: { hot: { count: 2, total: 5 } },
    },
  },
};
