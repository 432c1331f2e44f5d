import { readdirSync, readFileSync } from 'node:fs';

/** Objects for the contract tests against a real API server. */

export const NAMESPACE = 'shop';

/** The definitions of crds/ as one stream of YAML. */
export function resourceDefinitions(): string {
  return readdirSync('crds')
    .filter((name) => name.endsWith('.evenkeel.dev.yaml'))
    .map((name) => readFileSync(`crds/${name}`, 'utf8'))
    .join('\n---\n');
}

/** What the adapters need, rule by rule; the test fails when a rule is missing. */
export const NEEDED_RULES: readonly object[] = [
  rule('', ['nodes', 'pods', 'namespaces', 'replicationcontrollers'], ['get', 'list', 'watch']),
  rule('', ['persistentvolumes', 'persistentvolumeclaims'], ['list', 'watch']),
  rule('storage.k8s.io', ['storageclasses', 'csinodes', 'csidrivers'], ['list', 'watch']),
  rule('apps', ['deployments', 'replicasets', 'statefulsets', 'daemonsets'], ['get', 'list', 'watch']),
  rule('batch', ['jobs'], ['get', 'list', 'watch']),
  rule('policy', ['poddisruptionbudgets'], ['list', 'watch']),
  rule('metrics.k8s.io', ['nodes', 'pods'], ['list']),
  rule('evenkeel.dev', ['rebalancepolicies'], ['list', 'watch']),
  rule('evenkeel.dev', ['rebalancepolicies/status', 'rebalanceplans/status'], ['patch']),
  rule('evenkeel.dev', ['rebalanceplans'], ['get', 'list', 'watch', 'create', 'delete']),
  rule('evenkeel.dev', ['movejournals'], ['get', 'list', 'watch', 'create', 'patch', 'delete']),
  rule('evenkeel.dev', ['placementhints'], ['list', 'create', 'delete']),
  rule('evenkeel.dev', ['serviceclasses', 'qosledgers', 'appgraphs'], ['list']),
  {
    ...rule('admissionregistration.k8s.io', ['mutatingadmissionpolicies', 'mutatingadmissionpolicybindings'], ['get']),
    resourceNames: ['evenkeel-placement'],
  },
  rule('events.k8s.io', ['events'], ['create']),
  rule('', ['pods/eviction'], ['create']),
];

function rule(group: string, resources: readonly string[], verbs: readonly string[]): object {
  return { apiGroups: [group], resources, verbs };
}

/** A service account with these rules. */
export function accountWith(name: string, rules: readonly object[]): readonly object[] {
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name };
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace: NAMESPACE } },
    { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name }, rules },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name },
      roleRef,
      subjects: [{ kind: 'ServiceAccount', name, namespace: NAMESPACE }],
    },
  ];
}

/** A node that kwok takes care of. */
export function aKwokNode(name: string): object {
  const size = { cpu: '4', memory: '8Gi', pods: '50' };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: { 'kubernetes.io/hostname': name },
      annotations: { 'metrics.k8s.io/resource-metrics-path': `/metrics/nodes/${name}/metrics/resource` },
    },
    status: { capacity: size, allocatable: size },
  };
}

/** A Deployment whose pods use 50m. */
export function aDeployment(name: string, replicas: number): object {
  const labels = { app: name };
  const container = {
    name: 'main',
    image: 'simulated',
    env: [{ name: 'PASSWORD', value: 'hunter2' }],
    resources: { requests: { cpu: '100m', memory: '64Mi' } },
  };
  const sidecar = {
    name: 'proxy',
    image: 'simulated',
    restartPolicy: 'Always',
    resources: { requests: { cpu: '25m' } },
  };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: NAMESPACE },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels, annotations: { 'kwok.x-k8s.io/usage-cpu': '50m', 'kwok.x-k8s.io/usage-memory': '32Mi' } },
        spec: { containers: [container], initContainers: [sidecar], terminationGracePeriodSeconds: 1 },
      },
    },
  };
}

/**
 * A claim and the disk that it gets, a default class whose driver tracks capacity, a limit of node `a`, and the pod `rich`,
 * which stays pending: it has volumes, anti-affinity and a spread constraint, both by label keys.
 */
export function storageObjects(): readonly object[] {
  const driver = 'disks.example.com';
  const accessModes = ['ReadWriteOnce'];
  const requests = (storage: string) => ({ requests: { storage } });
  const onlyOnA = [{ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['a'] }] }];
  const byRelease = { labelSelector: {}, matchLabelKeys: ['release'], topologyKey: 'kubernetes.io/hostname' };
  const scratch = { spec: { accessModes, resources: requests('1Mi') } };
  return [
    {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: { name: 'usual', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
      provisioner: driver,
      volumeBindingMode: 'WaitForFirstConsumer',
      parameters: { password: 'hunter2' },
    },
    {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'CSIDriver',
      metadata: { name: driver },
      spec: { storageCapacity: true },
    },
    {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'CSINode',
      metadata: { name: 'a' },
      spec: { drivers: [{ name: driver, nodeID: 'a', topologyKeys: [], allocatable: { count: 3 } }] },
    },
    {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: 'disk' },
      spec: {
        capacity: { storage: '2Gi' },
        accessModes,
        storageClassName: 'manual',
        csi: { driver, volumeHandle: 'disk-1', volumeAttributes: { token: 'hunter2' } },
        nodeAffinity: { required: { nodeSelectorTerms: onlyOnA } },
      },
    },
    {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'data', namespace: NAMESPACE },
      spec: { accessModes, storageClassName: 'manual', resources: requests('1Gi') },
    },
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'rich', namespace: NAMESPACE, labels: { release: '7' } },
      spec: {
        nodeSelector: { 'kubernetes.io/hostname': 'nowhere' },
        containers: [{ name: 'main', image: 'simulated', resources: { requests: { cpu: '125m' } } }],
        affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [byRelease] } },
        topologySpreadConstraints: [{ ...byRelease, maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' }],
        volumes: [
          { name: 'data', persistentVolumeClaim: { claimName: 'data' } },
          { name: 'scratch', ephemeral: { volumeClaimTemplate: scratch } },
        ],
      },
    },
  ];
}

/** A PodDisruptionBudget for the pods of a Deployment. */
export function aDisruptionBudget(name: string, app: string, maxUnavailable: number): object {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name, namespace: NAMESPACE },
    spec: { maxUnavailable, selector: { matchLabels: { app } } },
  };
}

/** The least that counts as our admission policy being installed. */
export function admissionPolicy(): readonly object[] {
  const matchConstraints = {
    resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
  };
  const jsonPatch = { expression: '[JSONPatch{op: "add", path: "/metadata/labels/hinted", value: "yes"}]' };
  return [
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingAdmissionPolicy',
      metadata: { name: 'evenkeel-placement' },
      spec: {
        failurePolicy: 'Ignore',
        reinvocationPolicy: 'Never',
        matchConstraints,
        mutations: [{ patchType: 'JSONPatch', jsonPatch }],
      },
    },
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingAdmissionPolicyBinding',
      metadata: { name: 'evenkeel-placement' },
      spec: { policyName: 'evenkeel-placement' },
    },
  ];
}
