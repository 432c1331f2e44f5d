import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { validateResource } from '../../../src/api/validate.ts';
import { convertDescheduler } from '../../../src/import/descheduler/convert.ts';
import { unwrap } from '../../../src/import/descheduler/wrapped.ts';
import { type Conversion, noteLine } from '../../../src/import/note.ts';

interface Fields {
  readonly settings?: object;
  readonly evictor?: object;
  readonly balance?: readonly (readonly [string, object?])[];
  readonly deschedule?: readonly (readonly [string, object?])[];
}

/** A policy with one profile. */
function aDeschedulerPolicy({ settings = {}, evictor, balance = [], deschedule = [] }: Fields): object {
  const configured = [
    ...(evictor === undefined ? [] : [['DefaultEvictor', evictor] as const]),
    ...balance,
    ...deschedule,
  ];
  const enabled = (plugins: readonly (readonly [string, object?])[]) => ({ enabled: plugins.map(([name]) => name) });
  return {
    apiVersion: 'descheduler/v1alpha2',
    kind: 'DeschedulerPolicy',
    ...settings,
    profiles: [
      {
        name: 'ProfileName',
        pluginConfig: configured.map(([name, args]) => ({ name, ...(args === undefined ? {} : { args }) })),
        plugins: { balance: enabled(balance), deschedule: enabled(deschedule) },
      },
    ],
  };
}

const levels = (percent: number) => ({ cpu: percent, memory: percent, pods: percent });
const usual = { thresholds: levels(20), targetThresholds: levels(50) };
const lowNodeUtilization = ['LowNodeUtilization', usual] as const;

function convert(policy: unknown): Conversion {
  return convertDescheduler(unwrap(policy, parse));
}

function specOf(fields: Fields): Record<string, unknown> {
  const [resource] = convert(aDeschedulerPolicy(fields)).resources;
  return (resource as { spec: Record<string, unknown> }).spec;
}

function notesOf(fields: Fields): readonly string[] {
  return convert(aDeschedulerPolicy(fields)).notes.map(({ effect, path }) => `${effect} ${path}`);
}

describe('each example of the descheduler’s documentation', () => {
  const lifeTime = ['PodLifeTime', { maxPodLifeTimeSeconds: 86400 }] as const;
  const examples: readonly (readonly [string, Fields, policies: number, lost: readonly string[]])[] = [
    [
      'the default evictor with limits',
      {
        settings: { nodeSelector: 'node=node1', maxNoOfPodsToEvictPerNode: 5000, maxNoOfPodsToEvictPerNamespace: 5000 },
        evictor: {
          evictSystemCriticalPods: true,
          evictFailedBarePods: true,
          evictLocalStoragePods: true,
          nodeFit: true,
        },
        balance: [lowNodeUtilization],
      },
      1,
      ['profiles[0].pluginConfig[0].args.evictFailedBarePods'],
    ],
    [
      'RemoveDuplicates',
      { balance: [['RemoveDuplicates', { excludeOwnerKinds: ['ReplicaSet'] }]] },
      0,
      ['RemoveDuplicates'],
    ],
    ['LowNodeUtilization', { balance: [lowNodeUtilization] }, 1, []],
    [
      'HighNodeUtilization',
      {
        balance: [
          [
            'HighNodeUtilization',
            { thresholds: levels(20), evictableNamespaces: { exclude: ['kube-system', 'namespace1'] } },
          ],
        ],
      },
      0,
      ['HighNodeUtilization'],
    ],
    [
      'RemovePodsViolatingInterPodAntiAffinity',
      { deschedule: [['RemovePodsViolatingInterPodAntiAffinity']] },
      0,
      ['RemovePodsViolatingInterPodAntiAffinity'],
    ],
    [
      'RemovePodsViolatingNodeAffinity',
      {
        deschedule: [
          ['RemovePodsViolatingNodeAffinity', { nodeAffinityType: ['requiredDuringSchedulingIgnoredDuringExecution'] }],
        ],
      },
      0,
      ['RemovePodsViolatingNodeAffinity'],
    ],
    [
      'RemovePodsViolatingNodeTaints',
      { deschedule: [['RemovePodsViolatingNodeTaints', { excludedTaints: ['dedicated=special-user', 'reserved'] }]] },
      0,
      ['RemovePodsViolatingNodeTaints'],
    ],
    [
      'RemovePodsViolatingTopologySpreadConstraint',
      { balance: [['RemovePodsViolatingTopologySpreadConstraint', { includeSoftConstraints: false }]] },
      0,
      ['RemovePodsViolatingTopologySpreadConstraint'],
    ],
    [
      'RemovePodsHavingTooManyRestarts',
      {
        deschedule: [['RemovePodsHavingTooManyRestarts', { podRestartThreshold: 100, includingInitContainers: true }]],
      },
      0,
      ['RemovePodsHavingTooManyRestarts'],
    ],
    [
      'PodLifeTime',
      { deschedule: [['PodLifeTime', { maxPodLifeTimeSeconds: 86400, states: ['Pending'] }]] },
      0,
      ['PodLifeTime'],
    ],
    [
      'RemoveFailedPods',
      { deschedule: [['RemoveFailedPods', { reasons: ['NodeAffinity'], minPodLifetimeSeconds: 3600 }]] },
      0,
      ['RemoveFailedPods'],
    ],
    [
      'namespaces',
      { deschedule: [['PodLifeTime', { namespaces: { include: ['namespace1', 'namespace2'] } }]] },
      0,
      ['PodLifeTime'],
    ],
    [
      'a priority threshold',
      { evictor: { priorityThreshold: { value: 10000 } }, deschedule: [lifeTime] },
      0,
      ['PodLifeTime'],
    ],
    [
      'labels',
      { deschedule: [['PodLifeTime', { labelSelector: { matchLabels: { component: 'redis' } } }]] },
      0,
      ['PodLifeTime'],
    ],
    ['node fit', { evictor: { nodeFit: true }, deschedule: [lifeTime] }, 0, ['PodLifeTime']],
    [
      'several plugins together',
      {
        balance: [['RemoveDuplicates'], lowNodeUtilization, ['RemovePodsViolatingTopologySpreadConstraint']],
        deschedule: [['RemovePodsViolatingInterPodAntiAffinity'], ['RemovePodsHavingTooManyRestarts']],
      },
      1,
      [
        'RemoveDuplicates',
        'RemovePodsViolatingTopologySpreadConstraint',
        'RemovePodsViolatingInterPodAntiAffinity',
        'RemovePodsHavingTooManyRestarts',
      ],
    ],
  ];

  it.each(examples)('%s is converted, and what is lost is named', (_, fields, policies, lost) => {
    const { resources, notes } = convert(aDeschedulerPolicy(fields));
    expect(resources).toHaveLength(policies);
    expect(resources.flatMap((resource) => validateResource(resource).problems)).toEqual([]);
    const losses = notes.filter(({ effect }) => effect === 'Lost');
    for (const name of lost) {
      expect(losses.some(({ path, message }) => path === name || message.startsWith(`${name}:`))).toBe(true);
    }
    expect(losses).toHaveLength(lost.length + (policies === 0 ? 1 : 0)); // a profile that balances nothing is a loss of its own
  });

  it('of version v1alpha1', () => {
    const { resources, notes } = convert({
      apiVersion: 'descheduler/v1alpha1',
      kind: 'DeschedulerPolicy',
      evictLocalStoragePods: true,
      maxNoOfPodsToEvictPerNode: 5,
      strategies: {
        PodLifeTime: { enabled: true, params: { podLifeTime: { maxPodLifeTimeSeconds: 604800 } } },
        RemoveDuplicates: { enabled: false },
        LowNodeUtilization: {
          enabled: true,
          params: {
            thresholdPriority: 1000,
            nodeResourceUtilizationThresholds: { thresholds: { cpu: 20 }, targetThresholds: { cpu: 50 } },
          },
        },
      },
    });
    expect(resources).toMatchObject([
      {
        metadata: { name: 'descheduler' },
        spec: {
          thresholds: { trigger: '0.3' },
          budgets: [{ perNode: 5 }],
          protections: { localStorage: 'Allow', priorityThreshold: 1000 },
        },
      },
    ]);
    expect(notes.filter(({ effect }) => effect === 'Lost').map(({ path }) => path)).toEqual(['strategies.PodLifeTime']);
  });

  it('of version v1alpha1 is spoken of by its own paths', () => {
    const strategy = (params: object) => ({
      apiVersion: 'descheduler/v1alpha1',
      kind: 'DeschedulerPolicy',
      evictSystemCriticalPods: true,
      strategies: { LowNodeUtilization: { enabled: true, params } },
    });
    const thresholds = { thresholds: { cpu: 20, pods: 20 }, targetThresholds: { cpu: 50, pods: 50 } };
    const { notes } = convert(strategy({ nodeResourceUtilizationThresholds: { ...thresholds, numberOfNodes: 3 } }));
    const params = 'strategies.LowNodeUtilization.params';
    expect(notes.map(({ path }) => path)).toEqual(
      expect.arrayContaining([
        'evictSystemCriticalPods',
        `${params}.nodeResourceUtilizationThresholds.thresholds`,
        `${params}.nodeResourceUtilizationThresholds.numberOfNodes`,
      ]),
    );
    const named = { nodeResourceUtilizationThresholds: thresholds, thresholdPriorityClassName: 'mine' };
    const { notes: others } = convert({ ...strategy(named), evictSystemCriticalPods: false });
    expect(others.map(({ path }) => path)).toContain(`${params}.thresholdPriorityClassName`);
    const wrong = { ...thresholds, thresholds: { cpu: 'x', pods: 20 } };
    expect(() => convert(strategy({ nodeResourceUtilizationThresholds: wrong }))).toThrow(
      `${params}.nodeResourceUtilizationThresholds.thresholds.cpu: is "x"`,
    );
  });

  it('in the values of its Helm chart', () => {
    const { resources } = convert({
      kind: 'CronJob',
      schedule: '*/2 * * * *',
      deschedulerPolicy: {
        profiles: (aDeschedulerPolicy({ balance: [lowNodeUtilization] }) as { profiles: object[] }).profiles,
      },
    });
    expect(resources).toMatchObject([{ spec: { schedule: '*/2 * * * *' } }]);
  });

  it('in a ConfigMap', () => {
    const policy = aDeschedulerPolicy({ balance: [lowNodeUtilization] });
    const { resources } = convert({ apiVersion: 'v1', kind: 'ConfigMap', data: { 'policy.yaml': stringify(policy) } });
    expect(resources).toHaveLength(1);
  });
});

describe('a converted LowNodeUtilization', () => {
  it('only reports, by requests, and keeps what the descheduler takes for granted', () => {
    expect(specOf({ balance: [lowNodeUtilization] })).toEqual({
      mode: 'DryRun',
      strategy: { type: 'RefineLB' },
      load: {
        source: 'Requests',
        resources: [{ name: 'cpu' }, { name: 'memory' }, { name: 'pods' }],
        aggregate: 'Dominant',
      },
      thresholds: { trigger: '0.3', consecutive: 1 },
      protections: { minPodAge: '0s', minReplicas: 1, priorityThreshold: 2_000_000_000, localStorage: 'Protect' },
    });
  });

  it('acts at the sum of both deviations from the mean', () => {
    const deviation = { useDeviationThresholds: true, thresholds: { cpu: 3 }, targetThresholds: { cpu: 4.5 } };
    expect(specOf({ balance: [['LowNodeUtilization', deviation]] })).toMatchObject({
      thresholds: { trigger: '0.075' },
    });
  });

  it('reads measured load where the descheduler did', () => {
    for (const metricsUtilization of [{ metricsServer: true }, { source: 'KubernetesMetrics' }]) {
      expect(specOf({ balance: [['LowNodeUtilization', { ...usual, metricsUtilization }]] })).toMatchObject({
        load: { source: 'MetricsAPI' },
      });
    }
  });

  it('asks Prometheus what the descheduler asked it, by the label that that found nodes by', () => {
    const fields = {
      balance: [
        [
          'LowNodeUtilization',
          {
            thresholds: { MetricResource: 20 },
            targetThresholds: { MetricResource: 60 },
            metricsUtilization: { source: 'Prometheus', prometheus: { query: 'instance:node_cpu:rate:sum' } },
          },
        ],
      ],
    } satisfies Fields;
    expect(specOf(fields)).toMatchObject({
      load: {
        source: 'Prometheus',
        prometheus: {
          server: 'main',
          queries: { node: 'label_replace(instance:node_cpu:rate:sum, "node", "$1", "instance", "(.+)")' },
        },
        resources: [{ name: 'cpu' }],
      },
    });
    expect(notesOf(fields)).toContain('Changed profiles[0].pluginConfig[0].args.metricsUtilization.prometheus.query');
  });

  it('is refused without the query that it is to ask', () => {
    const metricsUtilization = { source: 'Prometheus' };
    expect(() => specOf({ balance: [['LowNodeUtilization', { ...usual, metricsUtilization }]] })).toThrow(
      'metricsUtilization.prometheus.query: is missing: write the query that gives the load of nodes',
    );
  });

  it('balances extended resources', () => {
    const args = { thresholds: { 'nvidia.com/gpu': 20 }, targetThresholds: { 'nvidia.com/gpu': 70 } };
    expect(specOf({ balance: [['LowNodeUtilization', args]] })).toMatchObject({
      load: { resources: [{ name: 'nvidia.com/gpu' }] },
      thresholds: { trigger: '0.5' },
    });
  });

  it('takes limits over, the tighter one of two', () => {
    const fields: Fields = {
      settings: { maxNoOfPodsToEvictTotal: 5000, maxNoOfPodsToEvictPerNode: 10 },
      balance: [['LowNodeUtilization', { ...usual, evictionLimits: { node: 3 } }]],
    };
    expect(specOf(fields)).toMatchObject({ budgets: [{ maxMoves: 1000, perNode: 3 }] });
    expect(notesOf(fields)).toContain('Changed maxNoOfPodsToEvictTotal');
  });

  it('keeps to the same nodes, namespaces and pods', () => {
    const scope = specOf({
      settings: { nodeSelector: 'disk=ssd,zone in (a, b)' },
      evictor: { labelSelector: { matchLabels: { tier: 'web' } }, nodeSelector: '!spot' },
      balance: [['LowNodeUtilization', { ...usual, evictableNamespaces: { exclude: ['kube-system'] } }]],
    })['scope'];
    expect(scope).toEqual({
      namespaceSelector: {
        matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: ['kube-system'] }],
      },
      podSelector: { matchLabels: { tier: 'web' } },
      nodeSelector: {
        matchExpressions: [
          { key: 'disk', operator: 'In', values: ['ssd'] },
          { key: 'zone', operator: 'In', values: ['a', 'b'] },
          { key: 'spot', operator: 'DoesNotExist' },
        ],
      },
    });
  });

  it('protects the same pods', () => {
    const protections = (evictor: object) => specOf({ evictor, balance: [lowNodeUtilization] })['protections'];
    expect(protections({ minReplicas: 3, minPodAge: '48h' })).toMatchObject({ minReplicas: 3, minPodAge: '48h' });
    expect(protections({ podProtections: { defaultDisabled: ['PodsWithLocalStorage'] } })).toMatchObject({
      localStorage: 'Allow',
    });
    expect(protections({ ignorePvcPods: true, ignorePodsWithoutPDB: true })).toMatchObject({
      pvc: 'Protect',
      withoutPDB: 'Protect',
    });
    const extraEnabled = ['PodsWithPVC', 'PodsWithoutPDB'];
    expect(protections({ podProtections: { extraEnabled } })).toMatchObject({ pvc: 'Protect', withoutPDB: 'Protect' });
    const config = { PodsWithPVC: { protectedStorageClasses: [{ name: 'local' }, { name: 'fast' }] } };
    const some = protections({ podProtections: { extraEnabled, config } });
    expect(some).toMatchObject({ protectedStorageClasses: ['local', 'fast'] });
    expect(some).not.toHaveProperty('pvc');
    expect(protections({ priorityThreshold: { name: 'system-node-critical' } })).toMatchObject({
      priorityThreshold: 2_000_001_000,
    });
  });

  it('moves nothing above a PriorityClass whose value only the cluster knows, and says so', () => {
    const fields = { evictor: { priorityThreshold: { name: 'mine' } }, balance: [lowNodeUtilization] };
    expect(specOf(fields)).toMatchObject({ protections: { priorityThreshold: 0 } });
    expect(notesOf(fields)).toContain('Changed profiles[0].pluginConfig[0].args.priorityThreshold.name');
  });

  it('never moves what the descheduler would rather not evict, and says so', () => {
    const pathOf = (noEvictionPolicy: string) =>
      notesOf({ evictor: { noEvictionPolicy }, balance: [lowNodeUtilization] });
    expect(pathOf('Preferred')).toContain('Changed profiles[0].pluginConfig[0].args.noEvictionPolicy');
    expect(pathOf('Mandatory').filter((note) => note.includes('noEvictionPolicy'))).toEqual([]);
    expect(notesOf({ evictor: {}, balance: [lowNodeUtilization] })).toContain(
      'Changed profiles[0].pluginConfig[0].args.noEvictionPolicy',
    );
  });

  it.each<[string, object, RegExp]>([
    ['system-critical pods', { evictSystemCriticalPods: true }, /system-critical priority .* never are/],
    ['nodes that do not fit, where it says nothing', {}, /nodeFit: is not true/],
    ['nodes that do not fit, where it says so', { nodeFit: false }, /nodeFit: is not true/],
    ['pods of Jobs', {}, /pods of a Job are moved only when/],
    ['pods that are not Ready', {}, /pods that are not Ready stay/],
    ['stabilization', {}, /10m after a rollout .*protections\.stabilization/],
    ['cooldown', {}, /after a move \(protections\.cooldown\)/],
  ])('says what it does otherwise about %s', (_what, evictor, says) => {
    const { notes } = convert(aDeschedulerPolicy({ evictor, balance: [lowNodeUtilization] }));
    expect(notes.map(noteLine).join('\n')).toMatch(says);
  });

  it('says nothing of nodes that do not fit where they were left alone, too', () => {
    const notes = notesOf({ evictor: { nodeFit: true }, balance: [lowNodeUtilization] });
    expect(notes.filter((note) => note.includes('nodeFit'))).toEqual([]);
  });

  it.each([
    ['1.5h', '1h30m'],
    ['.5m', '30s'],
    ['90m', '90m'],
    ['1h0.5s', '1h1s'],
    ['1500ms', '2s'],
  ])('takes a duration of Go such as %s', (minPodAge, ours) => {
    const { resources } = convert(aDeschedulerPolicy({ evictor: { minPodAge }, balance: [lowNodeUtilization] }));
    expect(resources).toMatchObject([{ spec: { protections: { minPodAge: ours } } }]);
    expect(resources.flatMap((resource) => validateResource(resource).problems)).toEqual([]);
  });

  it('names what it does not know', () => {
    const fields: Fields = {
      settings: { maxNoOfPods: 1 },
      evictor: { evictEverything: true },
      balance: [['LowNodeUtilization', { ...usual, speed: 'high' }], ['Mine']],
    };
    expect(notesOf(fields)).toEqual(
      expect.arrayContaining([
        'Lost maxNoOfPods',
        'Lost profiles[0].pluginConfig[0].args.evictEverything',
        'Lost profiles[0].pluginConfig[1].args.speed',
        'Lost profiles[0].plugins.balance.enabled[1]',
      ]),
    );
  });
});

describe('two profiles of one name', () => {
  it('become two policies', () => {
    const policy = aDeschedulerPolicy({ balance: [lowNodeUtilization] }) as { profiles: object[] };
    const { resources } = convert({ ...policy, profiles: [...policy.profiles, ...policy.profiles] });
    expect(resources).toMatchObject([{ metadata: { name: 'profilename' } }, { metadata: { name: 'profilename-2' } }]);
  });
});

describe('what is no policy of the descheduler', () => {
  const mistakes: readonly (readonly [string, unknown, RegExp])[] = [
    ['a list', [], /the policy: .* is not an object/],
    [
      'another kind',
      { apiVersion: 'v1', kind: 'Pod' },
      /is v1 Pod: write a DeschedulerPolicy of descheduler\/v1alpha1 or/,
    ],
    ['an empty ConfigMap', { kind: 'ConfigMap', data: {} }, /the policy/],
    [
      'thresholds of other resources',
      aDeschedulerPolicy({
        balance: [['LowNodeUtilization', { thresholds: { cpu: 1 }, targetThresholds: { memory: 2 } }]],
      }),
      /args: thresholds has no memory: write percentages/,
    ],
    [
      'thresholds upside down',
      aDeschedulerPolicy({
        balance: [['LowNodeUtilization', { thresholds: { cpu: 60 }, targetThresholds: { cpu: 50 } }]],
      }),
      /thresholds\.cpu is above targetThresholds\.cpu/,
    ],
    [
      'a percentage above 100',
      aDeschedulerPolicy({
        balance: [['LowNodeUtilization', { thresholds: { cpu: 20 }, targetThresholds: { cpu: 150 } }]],
      }),
      /targetThresholds\.cpu: is 150: write a percentage from 0 to 100/,
    ],
    [
      'a selector that is none',
      aDeschedulerPolicy({ settings: { nodeSelector: 'a ~ b' }, balance: [lowNodeUtilization] }),
      /nodeSelector: "a ~ b" is no part of a label selector/,
    ],
  ];

  it.each(mistakes)('%s is refused with what to write', (_, policy, message) => {
    expect(() => convert(policy)).toThrow(message);
  });
});
