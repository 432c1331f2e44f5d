/**
 * Objects of a cluster of 5,000 nodes and 100,000 pods as large as an API server of production sends them: managedFields,
 * environment, probes, volumes, statuses, images. Made one by one from their number, so that no process holds all of them.
 */
export const NODES = 5_000;
/** Every node runs five pods of DaemonSets, each with a node affinity of its own. */
const DAEMONS_PER_NODE = 5;
const DEPLOYMENTS = 2_500;
const REPLICAS = 30;
export const PODS: number = NODES * DAEMONS_PER_NODE + DEPLOYMENTS * REPLICAS;
/** Revisions of a Deployment that are kept, next to the current one. */
const OLD_REVISIONS = 5;
const NAMESPACES = 250;
const CLAIMS = 5_000;

type Raw = Record<string, unknown>;

const STARTED = '2026-01-01T10:00:00Z';
const REGISTRY = 'registry.example.com/platform';

function uidOf(kind: string, index: number): string {
  const text = Buffer.from(`${kind}-${index}`).toString('hex').padEnd(32, '0').slice(-32);
  return `${text.slice(0, 8)}-${text.slice(8, 12)}-${text.slice(12, 16)}-${text.slice(16, 20)}-${text.slice(20)}`;
}

const nodeName = (index: number): string => `ip-10-${index >> 8}-${index & 255}-17.eu-central-1.compute.internal`;
const namespaceOf = (deployment: number): string => `team-${deployment % NAMESPACES}`;
const appOf = (deployment: number): string => `service-${deployment}`;
const hashOf = (deployment: number, revision = 0): string =>
  `7d${(deployment * 7 + revision).toString(36).padStart(8, 'b')}`;

function metadata(kind: string, index: number, name: string, more: Raw): Raw {
  return {
    name,
    uid: uidOf(kind, index),
    resourceVersion: String(1_000_000 + index),
    creationTimestamp: STARTED,
    ...more,
    managedFields: [
      managed('kube-controller-manager', { 'f:metadata': FIELDS, 'f:spec': FIELDS }),
      managed('kubelet', { 'f:status': FIELDS }, 'status'),
    ],
  };
}

/** The keys of managedFields that a pod of three containers has. */
const FIELDS: Raw = Object.fromEntries(
  Array.from({ length: 10 }, (_, index) => [
    `k:{"containerPort":${8000 + index},"protocol":"TCP"}`,
    { '.': {}, 'f:containerPort': {}, 'f:name': {}, 'f:protocol': {} },
  ]),
);

function managed(manager: string, fieldsV1: Raw, subresource?: string): Raw {
  return {
    manager,
    operation: 'Update',
    apiVersion: 'v1',
    time: STARTED,
    fieldsType: 'FieldsV1',
    fieldsV1,
    subresource,
  };
}

function container(name: string, app: string): Raw {
  return {
    name,
    image: `${REGISTRY}/${app}/${name}:v1.${app.length}.0-3f2a9c1`,
    command: ['/usr/bin/server', '--config=/etc/server/config.yaml', '--log-level=info'],
    ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }],
    env: Array.from({ length: 12 }, (_, index) => ({
      name: `SETTING_${index}`,
      value: `value-of-${app}-${name}-${index}`,
    })),
    resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '256Mi' } },
    volumeMounts: [
      { name: 'config', mountPath: '/etc/server', readOnly: true },
      { name: 'kube-api-access', mountPath: '/var/run/secrets/kubernetes.io/serviceaccount', readOnly: true },
    ],
    livenessProbe: probe('/healthz'),
    readinessProbe: probe('/readyz'),
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    imagePullPolicy: 'IfNotPresent',
    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] }, readOnlyRootFilesystem: true },
  };
}

function probe(path: string): Raw {
  const httpGet = { path, port: 8080, scheme: 'HTTP' };
  return {
    httpGet,
    initialDelaySeconds: 5,
    timeoutSeconds: 1,
    periodSeconds: 10,
    successThreshold: 1,
    failureThreshold: 3,
  };
}

function podSpec(app: string, labels: Raw): Raw {
  return {
    containers: [container('main', app), container('proxy', app)],
    initContainers: [container('init', app)],
    volumes: [
      { name: 'config', configMap: { name: `${app}-config`, defaultMode: 420 } },
      {
        name: 'kube-api-access',
        projected: {
          sources: [
            { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
            { configMap: { name: 'kube-root-ca.crt' } },
          ],
          defaultMode: 420,
        },
      },
    ],
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
    dnsPolicy: 'ClusterFirst',
    serviceAccountName: app,
    securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    schedulerName: 'default-scheduler',
    priority: 0,
    enableServiceLinks: true,
    preemptionPolicy: 'PreemptLowerPriority',
    tolerations: ['not-ready', 'unreachable'].map((key) => ({
      key: `node.kubernetes.io/${key}`,
      operator: 'Exists',
      effect: 'NoExecute',
      tolerationSeconds: 300,
    })),
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: 'topology.kubernetes.io/zone',
        whenUnsatisfiable: 'ScheduleAnyway',
        labelSelector: { matchLabels: labels },
      },
    ],
  };
}

function podStatus(index: number, app: string): Raw {
  const statusOf = (name: string, state: Raw): Raw => ({
    name,
    ready: true,
    restartCount: 0,
    started: true,
    image: `${REGISTRY}/${app}/${name}:v1.${app.length}.0-3f2a9c1`,
    imageID: `${REGISTRY}/${app}/${name}@sha256:${uidOf('image', index).repeat(2).slice(0, 64)}`,
    containerID: `containerd://${uidOf(name, index).repeat(2).slice(0, 64)}`,
    allocatedResources: { cpu: '100m', memory: '128Mi' },
    resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '256Mi' } },
    state,
    lastState: {},
  });
  const conditions = ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled'];
  return {
    phase: 'Running',
    conditions: conditions.map((type) => ({ type, status: 'True', lastProbeTime: null, lastTransitionTime: STARTED })),
    hostIP: '10.1.2.3',
    hostIPs: [{ ip: '10.1.2.3' }],
    podIP: `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`,
    podIPs: [{ ip: `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}` }],
    startTime: STARTED,
    containerStatuses: ['main', 'proxy'].map((name) => statusOf(name, { running: { startedAt: STARTED } })),
    initContainerStatuses: [statusOf('init', { terminated: { exitCode: 0, reason: 'Completed', startedAt: STARTED } })],
    qosClass: 'Burstable',
  };
}

function pod(index: number): Raw {
  return index < NODES * DAEMONS_PER_NODE ? daemonPod(index) : deployedPod(index);
}

function deployedPod(index: number): Raw {
  const deployment = Math.floor((index - NODES * DAEMONS_PER_NODE) / REPLICAS);
  const app = appOf(deployment);
  const hash = hashOf(deployment);
  const labels = {
    app,
    'app.kubernetes.io/name': app,
    'app.kubernetes.io/part-of': namespaceOf(deployment),
    'pod-template-hash': hash,
  };
  const name = `${app}-${hash}-${index.toString(36).padStart(5, '0')}`;
  const owner = {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    name: `${app}-${hash}`,
    uid: uidOf('rs', deployment * (OLD_REVISIONS + 1)),
  };
  return {
    metadata: metadata('pod', index, name, {
      generateName: `${app}-${hash}-`,
      namespace: namespaceOf(deployment),
      labels,
      annotations: {
        'prometheus.io/scrape': 'true',
        'kubectl.kubernetes.io/restartedAt': STARTED,
        'example.com/checksum': uidOf('c', index),
      },
      ownerReferences: [{ ...owner, controller: true, blockOwnerDeletion: true }],
    }),
    spec: { ...podSpec(app, { app }), nodeName: nodeName(index % NODES) },
    status: podStatus(index, app),
  };
}

function daemonPod(index: number): Raw {
  const node = nodeName(index % NODES);
  const app = `daemon-${Math.floor(index / NODES)}`;
  const term = { matchFields: [{ key: 'metadata.name', operator: 'In', values: [node] }] };
  const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] } };
  return {
    metadata: metadata('pod', index, `${app}-${index.toString(36).padStart(5, '0')}`, {
      generateName: `${app}-`,
      namespace: 'kube-system',
      labels: { app, 'controller-revision-hash': '6f8d9c7b5', 'pod-template-generation': '3' },
      ownerReferences: [
        {
          apiVersion: 'apps/v1',
          kind: 'DaemonSet',
          name: app,
          uid: uidOf('ds', Math.floor(index / NODES)),
          controller: true,
        },
      ],
    }),
    spec: { ...podSpec(app, { app }), nodeName: node, affinity: { nodeAffinity } },
    status: podStatus(index, app),
  };
}

function node(index: number): Raw {
  const name = nodeName(index);
  const size = {
    cpu: '16',
    memory: '65843052Ki',
    pods: '110',
    'ephemeral-storage': '209702892Ki',
    'hugepages-2Mi': '0',
  };
  return {
    metadata: metadata('node', index, name, {
      labels: {
        'kubernetes.io/hostname': name,
        'kubernetes.io/arch': 'amd64',
        'kubernetes.io/os': 'linux',
        'node.kubernetes.io/instance-type': 'm6i.4xlarge',
        'topology.kubernetes.io/region': 'eu-central-1',
        'topology.kubernetes.io/zone': `eu-central-1${'abc'[index % 3]}`,
        'topology.ebs.csi.aws.com/zone': `eu-central-1${'abc'[index % 3]}`,
      },
      annotations: { 'csi.volume.kubernetes.io/nodeid': JSON.stringify({ 'ebs.csi.aws.com': `i-${index}` }) },
    }),
    spec: { podCIDR: `10.${index >> 8}.${index & 255}.0/24`, providerID: `aws:///eu-central-1a/i-${index}` },
    status: {
      capacity: size,
      allocatable: size,
      conditions: ['MemoryPressure', 'DiskPressure', 'PIDPressure', 'Ready'].map((type) => ({
        type,
        status: type === 'Ready' ? 'True' : 'False',
        lastHeartbeatTime: STARTED,
        lastTransitionTime: STARTED,
        reason: `Kubelet${type}`,
        message: `kubelet says of ${type} that all is well`,
      })),
      addresses: [
        { type: 'InternalIP', address: '10.1.2.3' },
        { type: 'Hostname', address: name },
      ],
      nodeInfo: {
        machineID: uidOf('machine', index),
        kubeletVersion: 'v1.36.3',
        osImage: 'Bottlerocket',
        kernelVersion: '6.12.0',
      },
      // A kubelet reports its fifty largest images, each by tag and by digest.
      images: Array.from({ length: 50 }, (_, image) => {
        const app = appOf((index * 7 + image) % DEPLOYMENTS);
        const digest = uidOf('image', (index * 7 + image) % DEPLOYMENTS)
          .repeat(2)
          .slice(0, 64);
        const names = [
          `${REGISTRY}/${app}/main@sha256:${digest}`,
          `${REGISTRY}/${app}/main:v1.${app.length}.0-3f2a9c1`,
        ];
        return { names, sizeBytes: 50_000_000 + image };
      }),
    },
  };
}

function template(app: string): Raw {
  return { metadata: { labels: { app } }, spec: podSpec(app, { app }) };
}

function replicaSet(index: number): Raw {
  const deployment = Math.floor(index / (OLD_REVISIONS + 1));
  const revision = index % (OLD_REVISIONS + 1);
  const app = appOf(deployment);
  const replicas = revision === 0 ? REPLICAS : 0;
  return {
    metadata: metadata('rs', index, `${app}-${hashOf(deployment, revision)}`, {
      namespace: namespaceOf(deployment),
      labels: { app, 'pod-template-hash': hashOf(deployment, revision) },
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'Deployment', name: app, uid: uidOf('deploy', deployment), controller: true },
      ],
      generation: 1,
    }),
    spec: { replicas, selector: { matchLabels: { app } }, template: template(app) },
    status: { replicas, readyReplicas: replicas, availableReplicas: replicas, observedGeneration: 1 },
  };
}

function deployment(index: number): Raw {
  const app = appOf(index);
  return {
    metadata: metadata('deploy', index, app, { namespace: namespaceOf(index), labels: { app }, generation: 1 }),
    spec: { replicas: REPLICAS, selector: { matchLabels: { app } }, template: template(app) },
    status: {
      replicas: REPLICAS,
      updatedReplicas: REPLICAS,
      readyReplicas: REPLICAS,
      availableReplicas: REPLICAS,
      observedGeneration: 1,
    },
  };
}

function daemonSet(index: number): Raw {
  const app = `daemon-${index}`;
  return {
    metadata: metadata('ds', index, app, { namespace: 'kube-system', generation: 1 }),
    spec: { selector: { matchLabels: { app } }, template: template(app) },
    status: { desiredNumberScheduled: NODES, observedGeneration: 1 },
  };
}

function budget(index: number): Raw {
  const app = appOf(index);
  return {
    metadata: metadata('pdb', index, app, { namespace: namespaceOf(index), generation: 1 }),
    spec: { maxUnavailable: '10%', selector: { matchLabels: { app } } },
    status: {
      disruptionsAllowed: 3,
      observedGeneration: 1,
      currentHealthy: REPLICAS,
      desiredHealthy: 27,
      expectedPods: REPLICAS,
    },
  };
}

function volume(index: number): Raw {
  const zone = { key: 'topology.ebs.csi.aws.com/zone', operator: 'In', values: [`eu-central-1${'abc'[index % 3]}`] };
  return {
    metadata: metadata('pv', index, `pvc-${uidOf('pvc', index)}`, {}),
    spec: {
      capacity: { storage: '20Gi' },
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'gp3',
      claimRef: { namespace: namespaceOf(index), name: `data-${index}`, uid: uidOf('pvc', index) },
      csi: { driver: 'ebs.csi.aws.com', volumeHandle: `vol-${index}`, volumeAttributes: { type: 'gp3' } },
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [zone] }] } },
    },
    status: { phase: 'Bound' },
  };
}

function claim(index: number): Raw {
  return {
    metadata: metadata('pvc', index, `data-${index}`, {
      namespace: namespaceOf(index),
      annotations: { 'pv.kubernetes.io/bind-completed': 'yes' },
    }),
    spec: {
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'gp3',
      volumeName: `pvc-${uidOf('pvc', index)}`,
      resources: { requests: { storage: '20Gi' } },
    },
    status: { phase: 'Bound' },
  };
}

function csiNode(index: number): Raw {
  const driver = { name: 'ebs.csi.aws.com', nodeID: `i-${index}`, allocatable: { count: 26 } };
  return { metadata: metadata('csinode', index, nodeName(index), {}), spec: { drivers: [driver] } };
}

function sample(usage: Raw): Raw {
  return { timestamp: new Date().toISOString().replace(/\.\d+/, ''), window: '15s', ...usage };
}

function podMetrics(index: number): Raw {
  const { name, namespace } = pod(index)['metadata'] as { name: string; namespace: string };
  const usage = { cpu: '52384129n', memory: '98304Ki' };
  return {
    metadata: { name, namespace },
    ...sample({ containers: ['main', 'proxy'].map((each) => ({ name: each, usage })) }),
  };
}

function nodeMetrics(index: number): Raw {
  return {
    metadata: { name: nodeName(index) },
    ...sample({ usage: { cpu: `${4 + (index % 9)}384129012n`, memory: '31457280Ki' } }),
  };
}

/** How many objects a resource has, and the one of each number. */
export interface Population {
  readonly count: number;
  readonly make: (index: number) => Raw;
}

/** By the URL path of their list. */
export const POPULATIONS: ReadonlyMap<string, Population> = new Map([
  ['/api/v1/pods', { count: PODS, make: pod }],
  ['/api/v1/nodes', { count: NODES, make: node }],
  [
    '/api/v1/namespaces',
    { count: NAMESPACES, make: (index) => ({ metadata: metadata('ns', index, `team-${index}`, {}) }) },
  ],
  ['/apis/apps/v1/replicasets', { count: DEPLOYMENTS * (OLD_REVISIONS + 1), make: replicaSet }],
  ['/apis/apps/v1/deployments', { count: DEPLOYMENTS, make: deployment }],
  ['/apis/apps/v1/daemonsets', { count: DAEMONS_PER_NODE, make: daemonSet }],
  ['/apis/policy/v1/poddisruptionbudgets', { count: DEPLOYMENTS / 5, make: budget }],
  ['/api/v1/persistentvolumes', { count: CLAIMS, make: volume }],
  ['/api/v1/persistentvolumeclaims', { count: CLAIMS, make: claim }],
  ['/apis/storage.k8s.io/v1/csinodes', { count: NODES, make: csiNode }],
  ['/apis/metrics.k8s.io/v1beta1/pods', { count: PODS, make: podMetrics }],
  ['/apis/metrics.k8s.io/v1beta1/nodes', { count: NODES, make: nodeMetrics }],
]);
