import { describe, expect, it } from 'vitest';
import { createInterner } from '../../../src/observe/interner.ts';
import { projectPod } from '../../../src/observe/project/pod.ts';
import { aRawPod, type Raw } from '../../support/builders/raw.ts';

function constraintsOf(spec: Raw, metadata: Raw = {}) {
  return projectPod(aRawPod('p', { spec, metadata }), createInterner()).pod.constraints;
}

function unsupportedBy(spec: Raw): readonly string[] {
  return constraintsOf(spec).unsupported.map(({ filter }) => filter);
}

/** How often constraints are read of these pods, which one cache sees. */
function readings(...pods: readonly Raw[]): number {
  const interner = createInterner();
  let read = 0;
  for (const pod of pods) {
    projectPod(pod, {
      ...interner,
      constraints: (key, make) =>
        interner.constraints(key, () => {
          read += 1;
          return make();
        }),
    });
  }
  return read;
}

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

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

  it('hold preferred node affinity with its weights', () => {
    const preference = { matchExpressions: [{ key: 'disk', operator: 'In', values: ['ssd'] }] };
    const { preferredNodeAffinity, unsupported } = constraintsOf({
      affinity: { nodeAffinity: { [PREFERRED]: [{ weight: 80, preference }, { weight: 1 }] } },
    });
    expect(preferredNodeAffinity).toEqual([
      { weight: 80, term: { expressions: [{ key: 'disk', operator: 'In', values: ['ssd'] }], fields: [] } },
      { weight: 1, term: { expressions: [], fields: [] } },
    ]);
    expect(unsupported).toEqual([]);
    expect(constraintsOf({}).preferredNodeAffinity).toEqual([]);
  });

  it.each([
    ['In', [false, true, true]],
    ['NotIn', [false, true, true]],
    ['Exists', [true, false, false]],
    ['DoesNotExist', [true, false, false]],
    ['Gt', [false, true, false]],
    ['Lt', [false, true, false]],
  ])('take no value, one or two for %s of a node label: %j', (operator, taken) => {
    const required = (values: readonly string[]) => ({
      nodeSelectorTerms: [{ matchExpressions: [{ key: 'cores', operator, values }] }],
    });
    const isTaken = (values: readonly string[]) => {
      const { nodeAffinity, unsupported } = constraintsOf({
        affinity: { nodeAffinity: { [REQUIRED]: required(values) } },
      });
      expect(nodeAffinity).toEqual(
        unsupported.length === 0 ? [{ expressions: [{ key: 'cores', operator, values }], fields: [] }] : [],
      );
      return unsupported.length === 0;
    };
    expect([[], ['8'], ['8', '16']].map(isTaken)).toEqual(taken);
  });

  it.each([
    ['metadata.name', 'In', ['a'], true],
    ['metadata.name', 'NotIn', ['a'], true],
    ['metadata.name', 'In', ['a', 'b'], false],
    ['metadata.name', 'Exists', [], false],
    ['metadata.name', 'Gt', ['1'], false],
    ['spec.unschedulable', 'In', ['a'], false],
  ])('take the node field %s %s %j: %s', (key, operator, values, isTaken) => {
    const nodeSelectorTerms = [{ matchFields: [{ key, operator, values }] }];
    expect(unsupportedBy({ affinity: { nodeAffinity: { [REQUIRED]: { nodeSelectorTerms } } } })).toEqual(
      isTaken ? [] : ['NodeAffinity'],
    );
  });

  it.each([
    [1, true],
    [100, true],
    [0, false],
    [101, false],
    [undefined, false],
  ])('take %s for the weight of a preference: %s', (weight, isTaken) => {
    const { preferredNodeAffinity, unsupported } = constraintsOf({
      affinity: { nodeAffinity: { [PREFERRED]: [{ weight, preference: {} }] } },
    });
    expect(preferredNodeAffinity.map((term) => term.weight)).toEqual(isTaken ? [weight] : []);
    expect(unsupported.map(({ detail }) => detail)).toEqual(
      isTaken ? [] : [expect.stringContaining('is not a weight: write a number from 1 to 100')],
    );
  });

  it('name one image for each container as nodes list them, init containers first', () => {
    const containers = ['web', 'registry.local:5000/web', 'web:1.2', 'web@sha256:abc', undefined].map(
      (image, index) => ({
        name: `c${index}`,
        image,
      }),
    );
    expect(constraintsOf({ containers, initContainers: [{ name: 'i', image: 'web' }] }).images).toEqual([
      'web:latest',
      'web:latest',
      'registry.local:5000/web:latest',
      'web:1.2',
      'web@sha256:abc',
      ':latest',
    ]);
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

  it.each<[string, Raw]>([
    ['a preference that is none', { [PREFERRED]: [{ weight: 1, preference: 'ssd' }] }],
    ['terms that are no list', { [REQUIRED]: { nodeSelectorTerms: 'ssd' } }],
  ])('say of node affinity with %s that it is not supported, and where', (_, nodeAffinity) => {
    const { unsupported } = constraintsOf({ affinity: { nodeAffinity } });
    expect(unsupported).toEqual([
      { filter: 'NodeAffinity', detail: expect.stringContaining('spec.affinity.nodeAffinity.') },
    ]);
  });

  it('hold no required node affinity where it cannot be read, and the preferred one all the same', () => {
    const nodeAffinity = {
      [REQUIRED]: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'k', operator: 'Like' }] }] },
      [PREFERRED]: [{ weight: 2, preference: {} }],
    };
    const { nodeAffinity: required, preferredNodeAffinity } = constraintsOf({ affinity: { nodeAffinity } });
    expect(required).toEqual([]);
    expect(preferredNodeAffinity.map(({ weight }) => weight)).toEqual([2]);
  });

  it('put host ports in the order of number, protocol and address, from the first port on', () => {
    const port = (hostPort: number, protocol: string, hostIP: string) => ({
      containerPort: 9,
      hostPort,
      protocol,
      hostIP,
    });
    const ports = [
      port(1, 'UDP', '10.0.0.9'),
      port(53, 'TCP', '10.0.0.1'),
      port(53, 'TCP', '10.0.0.2'),
      port(53, 'UDP', '10.0.0.1'),
    ];
    const taken = ports.map(({ hostPort, protocol, hostIP }) => ({ ip: hostIP, protocol, port: hostPort }));
    for (const listed of [ports, ports.toReversed()]) {
      expect(constraintsOf({ containers: [{ name: 'c', ports: listed }] }).hostPorts).toEqual(taken);
    }
  });

  it('take no host port of a container port without a number', () => {
    const containers = [{ name: 'c', ports: [{ name: 'web' }] }];
    expect(constraintsOf({ containers, hostNetwork: true }).hostPorts).toEqual([]);
    expect(constraintsOf({ containers }).hostPorts).toEqual([]);
  });

  it('say of a toleration which word of it is not known, and keep the others', () => {
    const tolerations = [{ key: 'a', operator: 'Like', effect: 'Maybe' }, { key: 'b', effect: 'Maybe' }, { key: 'c' }];
    const { tolerations: kept, unsupported } = constraintsOf({ tolerations });
    expect(kept.map(({ key }) => key)).toEqual(['c']);
    expect(unsupported.map(({ detail }) => detail)).toEqual([
      'spec.tolerations[0] has the unknown operator "Like"',
      'spec.tolerations[1] has the unknown effect "Maybe"',
    ]);
  });

  it.each<[string, Raw]>([
    ['the usual scheduler, by its name or none', { schedulerName: '' }],
    ['Linux, by its name', { os: { name: 'linux' } }],
    ['an operating system without a name', { os: { name: '' } }],
    ['the host network alone', { hostNetwork: true }],
    ['user namespaces alone', { hostUsers: false }],
    ['user namespaces of the host on its network', { hostNetwork: true, hostUsers: true }],
    ['a container that restarts alone', { containers: [{ name: 'c', restartPolicyRules: [{ action: 'Restart' }] }] }],
    ['no gang', { schedulingGroup: null, workloadRef: null }],
  ])('support %s', (_, spec) => {
    expect(unsupportedBy(spec)).toEqual([]);
  });

  it.each<[string, Raw, string]>([
    ['a gang by reference', { workloadRef: { name: 'w' } }, 'GangScheduling'],
    [
      'one rule of one init container that restarts all',
      {
        containers: [{ name: 'a', restartPolicyRules: [{ action: 'Restart' }] }, { name: 'b' }],
        initContainers: [
          { name: 'c', restartPolicyRules: [{ action: 'Restart' }, { action: 'RestartAllContainers' }] },
          { name: 'd' },
        ],
      },
      'NodeDeclaredFeatures',
    ],
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
      'an unknown operator of preferred affinity',
      {
        affinity: {
          nodeAffinity: {
            [PREFERRED]: [{ weight: 1, preference: { matchExpressions: [{ key: 'k', operator: 'Like' }] } }],
          },
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
});

describe('constraints of pods of one template', () => {
  const containers = [{ name: 'web', image: 'web', env: [{ name: 'ID', value: '1' }] }];
  const statuses = [{ name: 'web', restartCount: 1, allocatedResources: { cpu: '1' } }];
  const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:05Z' }];
  const first = aRawPod('p', { spec: { containers }, status: { containerStatuses: statuses, conditions } });

  it('are read once, however the pods fare and whatever their containers are told', () => {
    const other = aRawPod('q', {
      spec: { containers: containers.map((container) => ({ ...container, env: [] })) },
      status: {
        containerStatuses: statuses.map((each) => ({ ...each, restartCount: 9 })),
        conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: '2026-01-01T00:09:00Z' }],
      },
    });
    expect(readings(first, other)).toBe(1);
  });

  it.each<[string, Raw, Raw]>([
    ['another image', { containers: [{ name: 'web', image: 'other' }] }, {}],
    ['an init container', { containers, initContainers: [{ name: 'init', image: 'web' }] }, {}],
    ['a resize that waits', { containers }, { conditions: [...conditions, { type: 'PodResizePending' }] }],
    [
      'other resources given',
      { containers },
      { containerStatuses: [{ name: 'web', allocatedResources: { cpu: '2' } }] },
    ],
    ['other resources given to the pod', { containers }, { allocatedResources: { cpu: '2' } }],
  ])('are read again with %s', (_, spec, status) => {
    const other = aRawPod('q', { spec, status: { containerStatuses: statuses, conditions, ...status } });
    expect(readings(first, other)).toBe(2);
  });

  it.each<[string, unknown]>([
    [
      'is nested too deeply',
      {
        toJSON: () => {
          throw new RangeError('Maximum call stack size exceeded');
        },
      },
    ],
    ['is no JSON', { cpu: 1n }],
  ])('are a problem of the pod where its spec %s', (_, overhead) => {
    expect(() => constraintsOf({ overhead })).toThrow('spec: is nested too deeply, or is no JSON');
  });

  it('are no problem of the pod where something else went wrong', () => {
    const labels = { app: 'web' };
    const spec = {
      get overhead(): unknown {
        throw new Error('not ours');
      },
    };
    expect(() => constraintsOf(spec, { labels })).toThrow(new Error('not ours'));
  });
});
