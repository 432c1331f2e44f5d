import { describe, expect, it } from 'vitest';
import { createInterner } from '../../../src/observe/interner.ts';
import { projectPod } from '../../../src/observe/project/pod.ts';
import { aRawPod, type Raw } from './objects.ts';

function constraintsOf(spec: Raw, metadata: Raw = {}) {
  return projectPod(aRawPod('p', { spec, metadata }), createInterner()).pod.constraints;
}

function unsupportedBy(spec: Raw): readonly string[] {
  return constraintsOf(spec).unsupported.map(({ filter }) => filter);
}

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';

describe('constraints of a pod', () => {
  it('hold its tolerations with the API defaults', () => {
    const tolerations = [
      { key: 'a', value: 'b', tolerationSeconds: 300 },
      { operator: 'Exists' },
      { key: 'c', operator: 'Exists', effect: 'NoExecute' },
    ];
    expect(constraintsOf({ tolerations }).tolerations).toEqual([
      { key: 'a', operator: 'Equal', value: 'b', effect: undefined },
      { key: undefined, operator: 'Exists', value: '', effect: undefined },
      { key: 'c', operator: 'Exists', value: '', effect: 'NoExecute' },
    ]);
  });

  it('hold required node affinity, and none where there is none', () => {
    const nodeSelectorTerms = [
      { matchExpressions: [{ key: 'zone', operator: 'In', values: ['z1'] }] },
      { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['a'] }] },
      {},
    ];
    expect(constraintsOf({ affinity: { nodeAffinity: { [REQUIRED]: { nodeSelectorTerms } } } }).nodeAffinity).toEqual([
      { expressions: [{ key: 'zone', operator: 'In', values: ['z1'] }], fields: [] },
      { expressions: [], fields: [{ key: 'metadata.name', operator: 'In', values: ['a'] }] },
      { expressions: [], fields: [] },
    ]);
    expect(constraintsOf({ affinity: { nodeAffinity: {} } }).nodeAffinity).toBeUndefined();
    expect(constraintsOf({ affinity: { nodeAffinity: { [REQUIRED]: {} } } }).nodeAffinity).toEqual([]);
  });

  it('take host ports of containers and sidecars, and all ports with hostNetwork', () => {
    const spec = {
      containers: [
        {
          name: 'c',
          ports: [{ containerPort: 80 }, { containerPort: 81, hostPort: 8081, protocol: 'UDP', hostIP: '127.0.0.1' }],
        },
      ],
      initContainers: [
        { name: 's', restartPolicy: 'Always', ports: [{ containerPort: 90, hostPort: 90 }] },
        { name: 'i', ports: [{ containerPort: 91, hostPort: 91 }] },
      ],
    };
    expect(constraintsOf(spec).hostPorts).toEqual([
      { ip: '0.0.0.0', protocol: 'TCP', port: 90 },
      { ip: '127.0.0.1', protocol: 'UDP', port: 8081 },
    ]);
    expect(constraintsOf({ ...spec, hostNetwork: true }).hostPorts.map(({ port }) => port)).toEqual([80, 90, 8081]);
  });

  it('hold own anti-affinity for its effect on others, label keys merged as by the API server', () => {
    const term = {
      labelSelector: { matchLabels: { app: 'web' } },
      topologyKey: 'kubernetes.io/hostname',
      matchLabelKeys: ['hash', 'app'],
    };
    const { podAntiAffinity, unsupported } = constraintsOf(
      { affinity: { podAntiAffinity: { [REQUIRED]: [term] } } },
      { labels: { app: 'web', hash: 'x' } },
    );
    expect(podAntiAffinity).toEqual([
      {
        selector: {
          requirements: [
            { key: 'app', operator: 'In', values: ['web'] },
            { key: 'hash', operator: 'In', values: ['x'] },
          ],
        },
        namespaces: [],
        namespaceSelector: undefined,
        topologyKey: 'kubernetes.io/hostname',
      },
    ]);
    expect(unsupported.map(({ filter }) => filter)).toEqual(['InterPodAffinity']);
  });

  it.each<[string, Raw, string]>([
    [
      'required pod affinity',
      { affinity: { podAffinity: { [REQUIRED]: [{ topologyKey: 'zone' }] } } },
      'InterPodAffinity',
    ],
    [
      'an enforced spread',
      { topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' }] },
      'PodTopologySpread',
    ],
    [
      'a spread of a kind to come',
      { topologySpreadConstraints: [{ whenUnsatisfiable: 'Perhaps' }] },
      'PodTopologySpread',
    ],
    ['a volume claim', { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }] }, 'VolumeBinding'],
    ['an ephemeral volume', { volumes: [{ name: 'v', ephemeral: {} }] }, 'VolumeBinding'],
    ['an inline CSI volume', { volumes: [{ name: 'v', csi: { driver: 'd' } }] }, 'NodeVolumeLimits'],
    ['a disk', { volumes: [{ name: 'v', gcePersistentDisk: {} }] }, 'VolumeRestrictions'],
    ['a volume of a kind to come', { volumes: [{ name: 'v', quantumDisk: {} }] }, 'VolumeRestrictions'],
    ['a resource claim', { resourceClaims: [{ name: 'gpu' }] }, 'DynamicResources'],
    ['a scheduling gate', { schedulingGates: [{ name: 'g' }] }, 'SchedulingGates'],
    ['another scheduler', { schedulerName: 'mine' }, 'SchedulerName'],
    ['a gang', { schedulingGroup: { podGroupName: 'g' } }, 'GangScheduling'],
    ['user namespaces on the host network', { hostNetwork: true, hostUsers: false }, 'NodeDeclaredFeatures'],
    [
      'a container that restarts all',
      { containers: [{ name: 'c', restartPolicyRules: [{ action: 'RestartAllContainers' }] }] },
      'NodeDeclaredFeatures',
    ],
    ['Windows', { os: { name: 'windows' } }, 'PodOS'],
    ['an unknown toleration operator', { tolerations: [{ key: 'k', operator: 'Like' }] }, 'TaintToleration'],
    ['an unknown taint effect', { tolerations: [{ key: 'k', effect: 'Maybe' }] }, 'TaintToleration'],
    [
      'an unknown affinity operator',
      {
        affinity: {
          nodeAffinity: { [REQUIRED]: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'k', operator: 'Like' }] }] } },
        },
      },
      'NodeAffinity',
    ],
    [
      'an unknown affinity field',
      {
        affinity: {
          nodeAffinity: {
            [REQUIRED]: { nodeSelectorTerms: [{ matchFields: [{ key: 'spec.x', operator: 'In', values: ['a'] }] }] },
          },
        },
      },
      'NodeAffinity',
    ],
  ])('mark %s as not supported', (_, spec, filter) => {
    expect(unsupportedBy(spec)).toEqual([filter]);
  });

  it('do not mind what only ranks nodes, or exists everywhere', () => {
    expect(
      unsupportedBy({
        affinity: {
          podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1 }] },
          nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1 }] },
        },
        topologySpreadConstraints: [{ whenUnsatisfiable: 'ScheduleAnyway' }],
        volumes: [
          { name: 'token', projected: {} },
          { name: 's', secret: {} },
          { name: 'c', configMap: {} },
          { name: 'd', downwardAPI: {} },
          { name: 'n', nfs: {} },
        ],
        os: { name: 'linux' },
      }),
    ).toEqual([]);
  });

  it.each<[string, Raw, boolean]>([
    ['an emptyDir', { emptyDir: {} }, true],
    ['an emptyDir in memory', { emptyDir: { medium: 'Memory' } }, true],
    ['a volume without a source', {}, true],
    ['a hostPath', { hostPath: { path: '/' } }, true],
    ['a config map', { configMap: {} }, false],
  ])('tell whether %s keeps data on the node', (_, source, expected) => {
    const raw = aRawPod('p', { spec: { volumes: [{ name: 'v', ...source }] } });
    expect(projectPod(raw, createInterner()).pod.localStorage).toBe(expected);
  });
});
