import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { RebalancePolicySpec } from '../../../src/api/v1alpha1/rebalance-policy.ts';
import { validateResource } from '../../../src/api/validate.ts';
import { convertDescheduler } from '../../../src/import/descheduler/convert.ts';
import { POLICY_SETTINGS } from '../../../src/import/descheduler/document.ts';
import { EVICTOR_SETTINGS } from '../../../src/import/descheduler/evictor.ts';
import { PLUGINS } from '../../../src/import/descheduler/plugins.ts';
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

describe('a policy', () => {
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
    expect(resources).toMatchObject([{ spec: { repair: { maxLifetime: { age: '168h' } } } }]);
    expect(notes.filter(({ effect }) => effect === 'Lost')).toEqual([]);
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

  it.each<[string, object, object, string]>([
    [
      'RemoveDuplicates',
      { removeDuplicates: { excludeOwnerKinds: ['Job'] } },
      {},
      'removeDuplicates.excludeOwnerKinds',
    ],
    [
      'PodLifeTime',
      { podLifeTime: { maxPodLifeTimeSeconds: 5 } },
      { maxLifetime: { age: '1m' } },
      'podLifeTime.maxPodLifeTimeSeconds',
    ],
    [
      'PodLifeTime',
      { podLifeTime: { maxPodLifeTimeSeconds: 60, podStatusPhases: ['Pending', 'Succeeded'] } },
      { maxLifetime: { age: '1m', states: ['Pending'] } },
      'podLifeTime.podStatusPhases',
    ],
    [
      'RemovePodsHavingTooManyRestarts',
      { podsHavingTooManyRestarts: { podRestartThreshold: 3, includingInitContainers: true, speed: 1 } },
      { restarts: { atLeast: 3, includingInit: true } },
      'podsHavingTooManyRestarts.speed',
    ],
    [
      'RemoveFailedPods',
      { failedPods: { reasons: ['Evicted'], minPodLifetimeSeconds: 90 }, labelSelector: {}, thresholds: 1 },
      { failed: { reasons: ['Evicted'], minAge: '1m30s' } },
      'thresholds',
    ],
    [
      'RemovePodsViolatingNodeTaints',
      { excludedTaints: ['a=b', 'c'], includePreferNoSchedule: true, speed: 1 },
      { taints: { effect: 'PreferNoSchedule', excludedTaints: ['a=b', 'c'] } },
      'speed',
    ],
    [
      'RemovePodsViolatingTopologySpreadConstraint',
      { includeSoftConstraints: true, topologyBalanceNodeFit: false },
      { topologySpread: { constraints: 'All' } },
      'topologyBalanceNodeFit',
    ],
    [
      'RemovePodsViolatingNodeAffinity',
      { nodeAffinityType: ['preferredDuringSchedulingIgnoredDuringExecution'] },
      { nodeAffinity: 'Preferred' },
      'nodeAffinityType',
    ],
  ])('of version v1alpha1 has parameters of %s where they were then', (name, params, repair, path) => {
    const { resources, notes } = convert({
      apiVersion: 'descheduler/v1alpha1',
      kind: 'DeschedulerPolicy',
      strategies: { [name]: { enabled: true, params } },
    });
    const repairs = resources.map((resource) => (resource as { spec: { repair: object } }).spec.repair);
    expect(repairs).toEqual(Object.keys(repair).length === 0 ? [] : [repair]);
    expect(notes.map((note) => note.path)).toContain(`strategies.${name}.params.${path}`);
  });

  it('of version v1alpha1 keeps to the lowest threshold of its strategies, and says so', () => {
    const threshold = (thresholdPriority: number) => ({ enabled: true, params: { thresholdPriority } });
    const { resources, notes } = convert({
      apiVersion: 'descheduler/v1alpha1',
      kind: 'DeschedulerPolicy',
      strategies: {
        RemoveDuplicates: threshold(900),
        RemovePodsViolatingNodeTaints: threshold(300),
        RemovePodsViolatingInterPodAntiAffinity: { enabled: true },
      },
    });
    expect(resources).toMatchObject([{ spec: { protections: { priorityThreshold: 300 } } }]);
    expect(notes.map(noteLine)).toContain(
      'Changed strategies.RemovePodsViolatingNodeTaints.params.thresholdPriority: is the lowest threshold, and applies to all strategies: a RebalancePolicy has one',
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
        matchLabels: { disk: 'ssd' },
        matchExpressions: [
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

describe('the tables of settings', () => {
  const fields = [
    ...PLUGINS.flatMap(({ becomes, settings }) => [becomes, ...settings.map(([, ours]) => ours)]),
    ...EVICTOR_SETTINGS.map(([, ours]) => ours),
    ...POLICY_SETTINGS.map(([, ours]) => ours),
  ].filter((field) => field !== 'none');

  it.each([...new Set(fields)])('name a field that there is: %s', (field) => {
    const [path = ''] = field.split(':');
    expect(path.split('.').reduce<unknown>(childOf, RebalancePolicySpec)).toBeDefined();
  });
});

interface Schema {
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly items?: Schema;
}

function childOf(schema: unknown, name: string): unknown {
  const { properties } = schema as Schema;
  const child = properties?.[name.replace('[]', '')] as Schema | undefined;
  return name.endsWith('[]') ? child?.items : child;
}

describe('a converted HighNodeUtilization', () => {
  it('packs by the same thresholds, and fills nodes as far', () => {
    const args = { thresholds: { cpu: 1.1, memory: 57 }, numberOfNodes: 2 };
    const fields = { balance: [['HighNodeUtilization', args]] } satisfies Fields;
    expect(specOf(fields)).toMatchObject({
      strategy: {
        type: 'Pack',
        pack: {
          resources: [
            { name: 'cpu', below: '0.011' },
            { name: 'memory', below: '0.57' },
          ],
          headroom: '0',
          minNodeAge: '0s',
        },
      },
    });
    expect(notesOf(fields)).toContain('Lost profiles[0].pluginConfig[0].args.numberOfNodes');
  });

  it('is no second strategy for the pods that LowNodeUtilization balances', () => {
    const packing = ['HighNodeUtilization', { thresholds: { cpu: 20 } }] as const;
    const fields: Fields = { balance: [lowNodeUtilization, packing] };
    expect(specOf(fields)).toMatchObject({ strategy: { type: 'RefineLB' } });
    expect(notesOf(fields)).toContain('Lost profiles[0].plugins.balance.enabled[1]');
  });
});

describe('several profiles', () => {
  const withProfiles = (...profiles: readonly Fields[]): Conversion =>
    convert({
      apiVersion: 'descheduler/v1alpha2',
      kind: 'DeschedulerPolicy',
      profiles: profiles.flatMap((fields) => (aDeschedulerPolicy(fields) as { profiles: object[] }).profiles),
    });
  const taints = ['RemovePodsViolatingNodeTaints'] as const;

  it('become one policy where they protect the same: a pod has one policy', () => {
    const { resources } = withProfiles({ balance: [['RemoveDuplicates']] }, { deschedule: [taints] });
    expect(resources).toMatchObject([
      { metadata: { name: 'profilename' }, spec: { repair: { duplicates: true, taints: { effect: 'NoSchedule' } } } },
    ]);
  });

  it('become policies of other names where they protect other pods, and what they share is announced', () => {
    const { resources, notes } = withProfiles(
      { balance: [['RemoveDuplicates']] },
      { evictor: { minReplicas: 5 }, deschedule: [taints] },
    );
    expect(resources).toMatchObject([{ metadata: { name: 'profilename' } }, { metadata: { name: 'profilename-2' } }]);
    expect(notes.map(noteLine).join('\n')).toMatch(
      /Lost profiles\[1\]: policies profilename and profilename-2 select some/,
    );
  });

  it('with one plugin set in two ways for the same pods keep the first, and say so', () => {
    const lifetime = (maxPodLifeTimeSeconds: number): Fields => ({
      deschedule: [['PodLifeTime', { maxPodLifeTimeSeconds }]],
    });
    const { resources, notes } = withProfiles(lifetime(3600), lifetime(7200), lifetime(3600));
    expect(resources).toMatchObject([{ spec: { repair: { maxLifetime: { age: '1h' } } } }]);
    expect(notes.filter(({ effect }) => effect === 'Lost').map(({ path }) => path)).toEqual([
      'profiles[1].plugins.deschedule.enabled[0]',
    ]);
  });

  it('need not be divided for ever', () => {
    const many = Array.from({ length: 12 }, (_, index) => [
      `Profile${index}`,
      { maxPodLifeTimeSeconds: 3600, labelSelector: { matchLabels: { [`label-${index}`]: 'x' } } },
    ]);
    const profiles = many.map(([name, args]) => ({
      name,
      pluginConfig: [{ name: 'PodLifeTime', args }],
      plugins: { deschedule: { enabled: ['PodLifeTime'] } },
    }));
    expect(() => convert({ apiVersion: 'descheduler/v1alpha2', kind: 'DeschedulerPolicy', profiles })).toThrow(
      'profiles[0]: has so many different namespaces and label selectors that more than 20 policies would be needed',
    );
  });

  it('of kube-system alone become nothing', () => {
    const { resources, notes } = withProfiles({
      deschedule: [['PodLifeTime', { maxPodLifeTimeSeconds: 60, namespaces: { include: ['kube-system'] } }]],
    });
    expect(resources).toEqual([]);
    expect(notes.map(noteLine)).toContain(
      'Lost profiles[0].pluginConfig[0].args.namespaces.include: pods of kube-system are never moved',
    );
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
      'PodLifeTime without any condition',
      aDeschedulerPolicy({ deschedule: [['PodLifeTime', { namespaces: { include: ['a'] } }]] }),
      /args\.maxPodLifeTimeSeconds: is missing/,
    ],
    [
      'an unknown state',
      aDeschedulerPolicy({ deschedule: [['PodLifeTime', { states: ['Sleeping'] }]] }),
      /args\.states: has Sleeping: write some of Pending, Running/,
    ],
    [
      'restarts without a number',
      aDeschedulerPolicy({ deschedule: [['RemovePodsHavingTooManyRestarts', {}]] }),
      /args\.podRestartThreshold: is 0/,
    ],
    [
      'restarts in an unknown state',
      aDeschedulerPolicy({
        deschedule: [['RemovePodsHavingTooManyRestarts', { podRestartThreshold: 1, states: ['Failed'] }]],
      }),
      /args\.states: has Failed: write Running, CrashLoopBackOff or both/,
    ],
    [
      'node affinity without a type',
      aDeschedulerPolicy({ deschedule: [['RemovePodsViolatingNodeAffinity']] }),
      /nodeAffinityType: is missing/,
    ],
    [
      'taints that are included and excluded',
      aDeschedulerPolicy({
        deschedule: [['RemovePodsViolatingNodeTaints', { includedTaints: ['a'], excludedTaints: ['b'] }]],
      }),
      /includedTaints and excludedTaints exclude each other/,
    ],
    [
      'an unknown constraint',
      aDeschedulerPolicy({ balance: [['RemovePodsViolatingTopologySpreadConstraint', { constraints: ['Maybe'] }]] }),
      /args\.constraints: has Maybe: write DoNotSchedule, ScheduleAnyway or both/,
    ],
    [
      'packing without thresholds',
      aDeschedulerPolicy({ balance: [['HighNodeUtilization', {}]] }),
      /args\.thresholds: is missing/,
    ],
    [
      'namespaces that are included and excluded',
      aDeschedulerPolicy({ balance: [['RemoveDuplicates', { namespaces: { include: ['a'], exclude: ['b'] } }]] }),
      /args\.namespaces: include and exclude exclude each other/,
    ],
    [
      'an unknown operator',
      aDeschedulerPolicy({
        evictor: { labelSelector: { matchExpressions: [{ key: 'a', operator: 'Near', values: ['b'] }] } },
        balance: [lowNodeUtilization],
      }),
      /labelSelector\.matchExpressions\[0\]\.operator: is Near: write In, NotIn/,
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
