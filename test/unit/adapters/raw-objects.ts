import fc from 'fast-check';

const quantity = fc.constantFrom('0', '100m', '1', '1.5', '2', '128Mi', '1Gi', 1, 0.5);
const resourceList = fc.dictionary(
  fc.constantFrom('cpu', 'memory', 'ephemeral-storage', 'example.com/gpu', 'hugepages-2Mi'),
  quantity,
  { maxKeys: 3 },
);
const resources = fc.record({ requests: resourceList, limits: resourceList }, { requiredKeys: [] });
const labels = fc.dictionary(
  fc.constantFrom('app', 'tier', '__proto__', 'constructor', 'kubernetes.io/arch'),
  fc.constantFrom('a', 'b', ''),
  { maxKeys: 3 },
);
const selector = fc.record(
  {
    matchLabels: labels,
    matchExpressions: fc.array(
      fc.record({ key: fc.constant('app'), operator: fc.constant('In'), values: fc.constant(['a', 'b']) }),
      { maxLength: 2 },
    ),
  },
  { requiredKeys: [] },
);
const container = fc.record(
  {
    name: fc.constantFrom('a', 'b', 'c'),
    image: fc.constant('registry/image:v1'),
    command: fc.constant(['run', '--password=hunter2']),
    env: fc.constant([{ name: 'TOKEN', value: 'hunter2' }]),
    restartPolicy: fc.constantFrom('Always', 'OnFailure'),
    resources,
    ports: fc.array(
      fc.record(
        {
          containerPort: fc.integer({ min: 1, max: 9 }),
          hostPort: fc.integer({ min: 0, max: 9 }),
          protocol: fc.constantFrom('TCP', 'UDP'),
        },
        { requiredKeys: ['containerPort'] },
      ),
      { maxLength: 2 },
    ),
  },
  { requiredKeys: ['name'] },
);
const volume = fc.constantFrom<unknown>(
  { name: 't', projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } },
  { name: 's', secret: { secretName: 'hunter2' } },
  { name: 'e', emptyDir: { medium: 'Memory' } },
  { name: 'n' },
  { name: 'h', hostPath: { path: '/hunter2' } },
  { name: 'p', persistentVolumeClaim: { claimName: 'data', readOnly: true } },
  {
    name: 'g',
    ephemeral: {
      volumeClaimTemplate: {
        metadata: { labels: { secret: 'hunter2' }, annotations: { secret: 'hunter2' } },
        spec: {
          accessModes: ['ReadWriteOnce'],
          resources: { requests: { storage: '1Gi' }, limits: { storage: '2Gi' } },
          selector: { matchLabels: { tier: 'a' } },
          dataSource: { kind: 'VolumeSnapshot', name: 'hunter2' },
        },
      },
    },
  },
  {
    name: 'o',
    ephemeral: {
      volumeClaimTemplate: {
        metadata: { annotations: { 'volume.beta.kubernetes.io/storage-class': 'old' } },
        spec: { volumeAttributesClassName: 'gold', volumeMode: 'Block' },
      },
    },
  },
  { name: 'g', gcePersistentDisk: { pdName: 'hunter2' } },
  { name: 'x', csi: { driver: 'd', volumeAttributes: { token: 'hunter2' } } },
);
const affinityOf = <Term>(term: fc.Arbitrary<Term>, preferred: readonly unknown[]) =>
  fc.record(
    {
      requiredDuringSchedulingIgnoredDuringExecution: term,
      preferredDuringSchedulingIgnoredDuringExecution: fc.constant(preferred),
    },
    { requiredKeys: [] },
  );
const podTerm = fc.array(
  fc.record(
    {
      labelSelector: selector,
      topologyKey: fc.constant('zone'),
      namespaceSelector: selector,
      matchLabelKeys: fc.constant(['app']),
    },
    { requiredKeys: ['topologyKey'] },
  ),
  { maxLength: 2 },
);
const matchExpressions = [{ key: 'zone', operator: 'In', values: ['a'] }];
const preferredPods = [{ weight: 7, podAffinityTerm: { topologyKey: 'rack', labelSelector: { matchExpressions } } }];
const affinity = fc.record(
  {
    nodeAffinity: affinityOf(fc.constant({ nodeSelectorTerms: [{ matchExpressions }] }), [
      { weight: 3, preference: { matchExpressions } },
    ]),
    podAffinity: affinityOf(podTerm, preferredPods),
    podAntiAffinity: affinityOf(podTerm, preferredPods),
  },
  { requiredKeys: [] },
);
const conditions = fc.array(
  fc.record({
    type: fc.constantFrom('Ready', 'Initialized', 'PodResizePending'),
    status: fc.constantFrom('True', 'False'),
    reason: fc.constantFrom('Infeasible', 'Deferred'),
    message: fc.constant('hunter2'),
    lastTransitionTime: fc.constant('2026-01-01T00:00:00Z'),
  }),
  { maxLength: 3 },
);
const statuses = fc.array(
  fc.record(
    { name: fc.constantFrom('a', 'b', 'c'), allocatedResources: resourceList, resources },
    { requiredKeys: ['name'] },
  ),
  { maxLength: 2 },
);

const metadata = fc.record(
  {
    name: fc.constantFrom('p', 'q', 'r'),
    namespace: fc.constantFrom('shop', 'bank'),
    uid: fc.uuid(),
    labels,
    annotations: fc.dictionary(
      fc.constantFrom(
        'evenkeel.dev/do-not-evict',
        'kubernetes.io/config.mirror',
        'kubernetes.io/config.source',
        'kubectl.kubernetes.io/last-applied-configuration',
      ),
      fc.constantFrom('true', 'hunter2', 'api'),
    ),
    ownerReferences: fc.constantFrom(
      [],
      [
        {
          apiVersion: 'apps/v1',
          kind: 'ReplicaSet',
          name: 'web',
          uid: 'rs',
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    ),
    creationTimestamp: fc.constant('2026-01-01T00:00:00Z'),
    deletionTimestamp: fc.constant('2026-01-01T00:10:00Z'),
    managedFields: fc.constant([{ manager: 'kubectl' }]),
  },
  { requiredKeys: ['name'] },
);

/** Pods with every field that a projection reads, in many combinations, and with secrets (`hunter2`) in fields that it does not. */
export const rawPods = fc.record(
  {
    apiVersion: fc.constant('v1'),
    kind: fc.constant('Pod'),
    metadata,
    spec: fc.record(
      {
        nodeName: fc.constantFrom('a', 'b'),
        containers: fc.array(container, { maxLength: 3 }),
        initContainers: fc.array(container, { maxLength: 3 }),
        volumes: fc.array(volume, { maxLength: 3 }),
        affinity,
        nodeSelector: labels,
        tolerations: fc.constantFrom(
          [],
          [{ operator: 'Exists' }],
          [{ key: 'a', value: 'b', effect: 'NoSchedule', tolerationSeconds: 3 }],
        ),
        topologySpreadConstraints: fc.constantFrom(
          [],
          [{ maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' }],
          [
            {
              maxSkew: 2,
              topologyKey: 'zone',
              whenUnsatisfiable: 'ScheduleAnyway',
              labelSelector: { matchExpressions },
              matchLabelKeys: ['app'],
              minDomains: 2,
              nodeAffinityPolicy: 'Ignore',
              nodeTaintsPolicy: 'Honor',
            },
          ],
        ),
        hostNetwork: fc.boolean(),
        hostUsers: fc.boolean(),
        priority: fc.integer({ min: 0, max: 9 }),
        priorityClassName: fc.constantFrom('high', 'system-node-critical'),
        overhead: resourceList,
        resources,
        schedulerName: fc.constantFrom('default-scheduler', 'mine'),
        schedulingGates: fc.constantFrom([], [{ name: 'g' }]),
        resourceClaims: fc.constantFrom([], [{ name: 'gpu', resourceClaimName: 'hunter2' }]),
        os: fc.constantFrom({ name: 'linux' }, { name: 'windows' }),
        serviceAccountName: fc.constant('hunter2'),
      },
      { requiredKeys: [] },
    ),
    status: fc.record(
      {
        phase: fc.constantFrom('Running', 'Pending', 'Succeeded'),
        nominatedNodeName: fc.constant('b'),
        conditions,
        containerStatuses: statuses,
        initContainerStatuses: statuses,
        resources,
        allocatedResources: resourceList,
        podIP: fc.constant('10.0.0.1'),
      },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: ['apiVersion', 'kind', 'metadata'] },
);

/** The other kinds of a snapshot, as an API server sends them. */
export const RAW_OTHERS: readonly unknown[] = [
  {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: 'a',
      uid: 'n',
      labels: { zone: 'a' },
      creationTimestamp: '2026-01-01T00:00:00Z',
      annotations: { secret: 'hunter2' },
    },
    spec: {
      unschedulable: true,
      taints: [{ key: 'k', value: 'v', effect: 'NoSchedule', timeAdded: '2026-01-01T00:00:00Z' }],
      providerID: 'hunter2',
    },
    status: {
      capacity: { cpu: '4' },
      allocatable: { cpu: '3', memory: '1Gi', pods: '10' },
      conditions: [
        { type: 'DiskPressure', status: 'False' },
        { type: 'Ready', status: 'True' },
      ],
      images: [{ names: ['registry/image:v1'], sizeBytes: 12345, pulledBy: 'hunter2' }],
    },
  },
  {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'shop', uid: 's', labels: { team: 'x' }, annotations: { secret: 'hunter2' } },
  },
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace: 'shop', uid: 'd' },
    spec: { replicas: 3, template: { spec: { containers: [{ env: [{ value: 'hunter2' }] }] } } },
  },
  {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name: 'web',
      namespace: 'shop',
      uid: 'rs',
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: 'd', controller: true }],
    },
    spec: { replicas: 3, minReadySeconds: 4, template: { spec: { nodeName: 'a' } } },
    status: { readyReplicas: 3 },
  },
  {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'j', namespace: 'shop', uid: 'j' },
    spec: {
      parallelism: 2,
      podFailurePolicy: {
        rules: [{ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] }],
      },
    },
  },
  {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'b', namespace: 'shop', uid: 'b', generation: 2 },
    spec: { minAvailable: 1, selector: { matchLabels: { app: 'a' } } },
    status: { observedGeneration: 2, disruptionsAllowed: 1, conditions: [] },
  },
  {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'c', namespace: 'shop' },
    spec: { maxUnavailable: '50%', selector: {} },
  },
  {
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name: 'high', uid: 'h' },
    value: 7,
    globalDefault: true,
    description: 'hunter2',
  },
  {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: 'v', uid: 'v', labels: { zone: 'a' }, annotations: { secret: 'hunter2' } },
    spec: {
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOnce'],
      claimRef: { kind: 'PersistentVolumeClaim', namespace: 'shop', name: 'data', uid: 'c', resourceVersion: '7' },
      csi: { driver: 'd', volumeHandle: 'h', nodeStageSecretRef: { name: 'hunter2' } },
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions }] } },
      mountOptions: ['password=hunter2'],
    },
    status: { phase: 'Bound', message: 'hunter2' },
  },
  {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: 'w', uid: 'w', annotations: { 'volume.beta.kubernetes.io/storage-class': 'old' } },
    spec: { azureDisk: { diskURI: 'uri', diskName: 'hunter2' }, volumeMode: 'Block' },
    status: { phase: 'Available' },
  },
  {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: 'x', uid: 'x' },
    spec: { storageClassName: 'fast', volumeAttributesClassName: 'gold', local: { path: 'hunter2' } },
    status: { phase: 'Available' },
  },
  {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name: 'data',
      namespace: 'shop',
      uid: 'c',
      annotations: { 'pv.kubernetes.io/bind-completed': 'yes', secret: 'hunter2' },
    },
    spec: {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '1Gi' } },
      selector: { matchLabels: { tier: 'a' } },
      storageClassName: 'fast',
      volumeMode: 'Filesystem',
      volumeName: 'v',
      dataSource: { kind: 'VolumeSnapshot', name: 'hunter2' },
    },
    status: { phase: 'Bound', conditions: [{ type: 'Resizing', message: 'hunter2' }] },
  },
  {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'byhand', namespace: 'shop', annotations: { secret: 'hunter2' } },
    spec: { volumeName: 'v' },
    status: { phase: 'Lost' },
  },
  {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: {
      name: 'fast',
      uid: 'f',
      creationTimestamp: '2026-01-01T00:00:00Z',
      annotations: { 'storageclass.kubernetes.io/is-default-class': 'true', secret: 'hunter2' },
    },
    provisioner: 'd',
    parameters: { password: 'hunter2' },
    volumeBindingMode: 'WaitForFirstConsumer',
    allowedTopologies: [{ matchLabelExpressions: [{ key: 'zone', values: ['a'] }] }],
  },
  {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'CSINode',
    metadata: { name: 'a', uid: 'a' },
    spec: { drivers: [{ name: 'd', nodeID: 'hunter2', topologyKeys: ['zone'], allocatable: { count: 3 } }] },
  },
  {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'CSIDriver',
    metadata: { name: 'd', uid: 'd' },
    spec: { storageCapacity: true, tokenRequests: [{ audience: 'hunter2' }] },
  },
  {
    apiVersion: 'metrics.k8s.io/v1beta1',
    kind: 'NodeMetrics',
    metadata: { name: 'a', labels: { zone: 'a' } },
    timestamp: '2026-01-01T00:00:00Z',
    window: '20.5s',
    usage: { cpu: '123456n', memory: '7Ki' },
  },
  {
    apiVersion: 'metrics.k8s.io/v1beta1',
    kind: 'PodMetrics',
    metadata: { name: 'p', namespace: 'shop' },
    timestamp: '2026-01-01T00:00:00Z',
    window: '20s',
    containers: [
      { name: 'a', usage: { cpu: '1m', memory: '1Mi' } },
      { name: 'b', usage: { cpu: 'x' } },
    ],
  },
];
