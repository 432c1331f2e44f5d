import { Ajv } from 'ajv';
import { describe, expect, it, vi } from 'vitest';
import { serviceClassKind } from '../../../src/api/v1alpha1/service-class.ts';
import { compileSchemas, formatProblem, isOurs, validatePolicy, validateResource } from '../../../src/api/validate.ts';

const head = { apiVersion: 'evenkeel.dev/v1alpha1', kind: 'RebalancePolicy', metadata: { name: 'default' } };

function problemsOf(spec: unknown): readonly string[] {
  return validatePolicy({ ...head, spec }).problems.map(formatProblem);
}

function headProblemsOf(object: unknown): readonly string[] {
  return validatePolicy(object).problems.map(formatProblem);
}

describe('validatePolicy', () => {
  it.each<[string, unknown]>([
    ['spec is {}', {}],
    ['spec is absent', undefined],
    ['spec is null', null],
  ])('fills in every default when %s', (_, spec) => {
    const { value, problems } = validatePolicy({ ...head, spec });
    expect(problems).toEqual([]);
    expect(value.spec).toEqual({
      mode: 'DryRun',
      suspend: false,
      strategy: { type: 'RefineLB' },
      makeRoom: 'None',
      load: {
        source: 'MetricsAPI',
        resources: [{ name: 'cpu', weight: 1 }],
        aggregate: 'Weighted',
        maxAge: '90s',
        smoothing: '0s',
        minCoverage: '0.95',
      },
      thresholds: { trigger: '0.10', minGain: '0.005', minImprovement: '0.02', minReduction: '0.05', consecutive: 3 },
      scope: { namespaceSelector: {}, podSelector: {}, nodeSelector: {} },
      budgets: [{ maxMoves: 10, maxConcurrent: 2, perOwner: '25%', perNode: 2, perNamespace: 5 }],
      protections: {
        minPodAge: '5m',
        minReplicas: 2,
        priorityThreshold: 1_000_000,
        localStorage: 'Protect',
        pvc: 'Allow',
        withoutPDB: 'Allow',
        stabilization: '10m',
        cooldown: '10m',
      },
      steering: { mode: 'Auto' },
      historyLimit: 10,
    });
  });

  it('fills in defaults of what is only partly written, and of list items', () => {
    const spec = {
      strategy: { refineLB: {} },
      load: { resources: [{ name: 'memory' }] },
      thresholds: { consecutive: 1 },
    };
    const { value } = validatePolicy({ ...head, spec });
    expect(value.spec.strategy).toEqual({ type: 'RefineLB', refineLB: { overload: '1.05', refinements: 'Standard' } });
    expect(value.spec.load.resources).toEqual([{ name: 'memory', weight: 1 }]);
    expect(value.spec.thresholds).toEqual({
      trigger: '0.10',
      minGain: '0.005',
      minImprovement: '0.02',
      minReduction: '0.05',
      consecutive: 1,
    });
  });

  it('leaves its argument as it is, and defaults of one call never leak into another', () => {
    const object = { ...head, spec: {} };
    const first = validatePolicy(object).value;
    (first.spec.budgets as unknown[]).push('spoilt');
    expect(object).toEqual({ ...head, spec: {} });
    expect(validatePolicy(object).value.spec.budgets).toHaveLength(1);
  });

  it.each<[string, unknown, string]>([
    ['an unknown field near a known one', { strateegy: {} }, 'spec.strateegy: unknown field: strategy? (one of '],
    ['a wrong capital', { Mode: 'DryRun' }, 'spec.Mode: unknown field: mode? (one of mode, interval'],
    ['an unknown field like none', { zzzzzzzz: 1 }, 'spec.zzzzzzzz: unknown field: one of mode, interval'],
    ['an unknown nested field', { budgets: [{ maxMove: 1 }] }, 'spec.budgets[0].maxMove: unknown field: maxMoves? ('],
    [
      'a number for a fraction',
      { thresholds: { trigger: 0.1 } },
      'spec.thresholds.trigger: is 0.1 but must be a string: write it in quotes, "0.1"',
    ],
    [
      'a fraction above 1',
      { thresholds: { trigger: '1.5' } },
      'spec.thresholds.trigger: is "1.5": write a decimal fraction between "0" and "1" with at most six decimals, in quotes, such as "0.05"',
    ],
    [
      'a percentage for a fraction',
      { thresholds: { minGain: '5%' } },
      'spec.thresholds.minGain: is "5%": write a decimal fraction',
    ],
    ['a text for a boolean', { suspend: 'yes' }, 'spec.suspend: is "yes" but must be a boolean'],
    [
      'a text for a whole number',
      { historyLimit: '10' },
      'spec.historyLimit: is "10" but must be an integer: write a whole number from 1 to 100',
    ],
    [
      'a fraction for a whole number',
      { historyLimit: 1.5 },
      'spec.historyLimit: is 1.5 but must be an integer: write a whole number from 1 to 100',
    ],
    [
      'a whole number too large',
      { historyLimit: 101 },
      'spec.historyLimit: is 101: write a whole number from 1 to 100',
    ],
    ['a wrong word', { mode: 'Auto' }, 'spec.mode: is "Auto": write one of DryRun, Approve, Automatic'],
    [
      'a word misspelt',
      { mode: 'Automatc' },
      'spec.mode: is "Automatc": write Automatic? (one of DryRun, Approve, Automatic)',
    ],
    ['a duration too short', { interval: '5s' }, 'spec.interval: must be a duration between 10s and 24h'],
    ['a duration too long', { interval: '24h1s' }, 'spec.interval: must be a duration between 10s and 24h'],
    [
      'the longest text that looks like a duration',
      { interval: '999999h999999h99999h' },
      'spec.interval: must be a duration between 10s and 24h',
    ],
    [
      'a duration in days',
      { interval: '1d' },
      'spec.interval: is "1d": write a duration in hours, minutes and seconds between 10s and 24h, such as 90s or 1h30m',
    ],
    [
      'a number for a duration',
      { interval: 300 },
      'spec.interval: is 300 but must be a string: write a duration in hours, minutes and seconds between 10s and 24h',
    ],
    [
      'a decimal below its least',
      { strategy: { refineLB: { overload: '0.9' } } },
      'spec.strategy.refineLB.overload: must be a decimal between "1.0" and "10.0"',
    ],
    [
      'a decimal above its most',
      { strategy: { refineLB: { overload: '10.5' } } },
      'spec.strategy.refineLB.overload: must be a decimal between "1.0" and "10.0"',
    ],
    [
      'a negative count',
      { budgets: [{ perOwner: -1 }] },
      'spec.budgets[0].perOwner: is -1: write a whole number from 0 to 1000, or a percentage from "0%" to "100%"',
    ],
    [
      'a count in quotes',
      { budgets: [{ perOwner: '25' }] },
      'spec.budgets[0].perOwner: is "25": write a whole number from 0 to 1000, or a percentage',
    ],
    ['more than all', { budgets: [{ perOwner: '101%' }] }, 'spec.budgets[0].perOwner: is "101%": write a whole number'],
    [
      'negative headroom',
      { thresholds: { headroom: [{ cpu: '-500m' }] } },
      'spec.thresholds.headroom[0].cpu: is "-500m": write a quantity such as 500m or 2Gi that is not negative, or a percentage',
    ],
    [
      'a negative count of cores',
      { thresholds: { headroom: [{ cpu: -1 }] } },
      'spec.thresholds.headroom[0].cpu: is -1: write a quantity',
    ],
    [
      'more headroom than all',
      { thresholds: { headroom: [{ memory: '101%' }] } },
      'spec.thresholds.headroom[0].memory: is "101%": write a quantity',
    ],
    [
      'headroom of another resource',
      { thresholds: { headroom: [{ cpus: '1' }] } },
      'spec.thresholds.headroom[0].cpus: unknown field: cpu? (',
    ],
    [
      'headroom of nothing',
      { thresholds: { headroom: [{ nodeSelector: { pool: 'small' } }] } },
      'spec.thresholds.headroom[0]: the entry leaves nothing free: write cpu, memory, or both',
    ],
    ['an unknown way to make room', { makeRoom: 'All' }, 'spec.makeRoom: is "All": write one of None, Pinned'],
    [
      'room beside QoSDriven',
      { strategy: { type: 'QoSDriven' }, makeRoom: 'Pinned' },
      'spec: QoSDriven makes room by ServiceClass: remove makeRoom, or write it in a policy with another strategy',
    ],
    [
      'no strategy, no repair and no room',
      { strategy: { type: 'None' }, makeRoom: 'None' },
      'spec: strategy.type None only repairs and makes room: write repair',
    ],
    [
      'a list of headroom without entries',
      { thresholds: { headroom: [] } },
      'spec.thresholds.headroom: is []: write one to thirty-two entries, or leave headroom out',
    ],
    ['half a pod', { budgets: [{ perOwner: 1.5 }] }, 'spec.budgets[0].perOwner: is 1.5: write a whole number'],
    ['null for a count', { budgets: [{ perOwner: null }] }, 'spec.budgets[0].perOwner: is null: write a whole number'],
    [
      'no budgets',
      { budgets: [] },
      'spec.budgets: is []: write one to twenty budgets, or leave budgets out for the default',
    ],
    [
      'no resources',
      { load: { resources: [] } },
      'spec.load.resources: is []: write one to eight resources, or leave resources out for cpu',
    ],
    [
      'a resource of no such name',
      { load: { resources: [{ name: 'gpu' }] } },
      'spec.load.resources[0].name: is "gpu": write cpu, memory, pods, ephemeral-storage, hugepages-2Mi, or an extended resource such as nvidia.com/gpu',
    ],
    [
      'a query for the load of nodes without the resource that it stands for',
      {
        load: {
          source: 'Prometheus',
          prometheus: { server: 'main', queries: { node: 'pressure' } },
          resources: [{ name: 'memory' }],
        },
      },
      'spec.load: queries.node gives the load of cpu: add {name: cpu} to resources, or remove queries.node',
    ],
    [
      'a resource without a name',
      { load: { resources: [{ weight: 2 }] } },
      'spec.load.resources[0].name: is missing: add it',
    ],
    [
      'an empty budget',
      { budgets: [{ maxMoves: 1 }, {}] },
      'spec.budgets[1]: a budget must limit something: write maxMoves, maxConcurrent, perOwner, perNode, perNamespace or maxOverhead',
    ],
    [
      'a window that limits nothing',
      { budgets: [{ schedule: '0 8 * * *', duration: '1h' }] },
      'spec.budgets[0]: a budget must limit something: write maxMoves, ',
    ],
    [
      'overhead without a window',
      { budgets: [{ maxOverhead: '10m' }] },
      'spec.budgets[0]: maxOverhead and window belong together: write both, such as maxOverhead: 10m with window: 1h',
    ],
    [
      'a sliding window of nothing',
      { budgets: [{ maxMoves: 1, window: '1h' }] },
      'spec.budgets[0]: maxOverhead and window belong together',
    ],
    [
      'a sliding window longer than the history that is kept',
      { budgets: [{ maxOverhead: '10m', window: '25h' }] },
      'spec.budgets[0].window: must be a duration between 1m and 24h',
    ],
    [
      'a schedule without a duration',
      { budgets: [{ maxMoves: 0, schedule: '0 8 * * *' }] },
      'spec.budgets[0]: schedule and duration belong together: write both, such as schedule: "0 8 * * 1-5" with duration: 10h',
    ],
    [
      'a duration without a schedule',
      { budgets: [{ maxMoves: 0, duration: '1h' }] },
      'spec.budgets[0]: schedule and duration belong together',
    ],
    [
      'the zone of a budget without a schedule',
      { budgets: [{ maxMoves: 0, timeZone: 'Europe/Rome' }] },
      'spec.budgets[0]: timeZone needs a schedule: add schedule and duration, or remove timeZone',
    ],
    [
      'interval and schedule',
      { interval: '5m', schedule: '0 3 * * *' },
      'spec: interval and schedule exclude each other: keep one of them',
    ],
    [
      'a zone without schedule',
      { timeZone: 'Europe/Rome' },
      'spec: timeZone needs a schedule: add schedule, or remove timeZone',
    ],
    [
      'settings of another strategy',
      { strategy: { type: 'GreedyLB', refineLB: {} } },
      'spec.strategy: refineLB has no effect with this type: remove refineLB, or write type: RefineLB',
    ],
    [
      'settings of another strategy, by default',
      { strategy: { greedyLB: {} } },
      'spec.strategy: greedyLB has no effect with this type: remove greedyLB, or write type: GreedyLB',
    ],
    [
      'settings of Pack for another strategy',
      { strategy: { pack: {} } },
      'spec.strategy: pack has no effect with this type: remove pack, or write type: Pack',
    ],
    [
      'a share of nodes to pack in percent',
      { strategy: { type: 'Pack', pack: { headroom: '10%' } } },
      'spec.strategy.pack.headroom: is "10%": write a decimal fraction between "0" and "1" with at most six decimals, in quotes, such as "0.05"',
    ],
    [
      'Pack by no resource',
      { strategy: { type: 'Pack', pack: { resources: [] } } },
      'spec.strategy.pack.resources: is []: write one to eight resources, or leave resources out for cpu and memory',
    ],
    [
      'prices of nodes without one of traffic',
      { strategy: { type: 'TrafficAware', trafficAware: { nodes: [{ cpuHour: '0.03' }] } } },
      'spec.strategy.trafficAware: nodes need a price of traffic, too, to be weighed against: write perGiB beside nodes',
    ],
    [
      'prices that leave nodes out',
      {
        strategy: {
          type: 'TrafficAware',
          trafficAware: {
            perGiB: '0.01',
            nodes: [{ nodeSelector: { matchLabels: { pool: 'spot' } }, cpuHour: '0.03' }],
          },
        },
      },
      'spec.strategy.trafficAware: nodes that no price selects would seem free: write a last price without nodeSelector, for all others',
    ],
    [
      'a strategy that only repairs, without repairs',
      { strategy: { type: 'None' } },
      'spec: strategy.type None only repairs and makes room: write repair, such as repair: {podAntiAffinity: Required}, or makeRoom: Pinned',
    ],
    [
      'a taint with its effect',
      { repair: { taints: { includedTaints: ['team=web:NoSchedule'] } } },
      'spec.repair.taints.includedTaints[0]: is "team=web:NoSchedule": write key or key=value; repair.taints.effect selects the effects',
    ],
    [
      'included and excluded taints',
      { repair: { taints: { includedTaints: ['a'], excludedTaints: ['b'] } } },
      'spec.repair.taints: includedTaints and excludedTaints exclude each other: keep one of them',
    ],
    [
      'In without values',
      { scope: { podSelector: { matchExpressions: [{ key: 'a', operator: 'In' }] } } },
      'spec.scope.podSelector.matchExpressions[0]: In and NotIn need values, Exists and DoesNotExist take none: add or remove values',
    ],
    [
      'Exists with values',
      { scope: { podSelector: { matchExpressions: [{ key: 'a', operator: 'Exists', values: ['b'] }] } } },
      'spec.scope.podSelector.matchExpressions[0]: In and NotIn need values',
    ],
    ['a list for spec', [], 'spec: is [] but must be an object'],
    ['a text for spec', 'x', 'spec: is "x" but must be an object'],
  ])('refuses %s and says what to write', (_, spec, message) => {
    const problems = problemsOf(spec);
    expect(problems).toHaveLength(1);
    expect(problems[0]?.startsWith(message), problems[0]).toBe(true);
  });

  it.each<[string, unknown]>([
    ['a limit of controllers alone', { budgets: [{ perOwner: 1 }] }],
    ['a limit of moves at a time alone', { budgets: [{ maxConcurrent: 1 }] }],
    ['the bounds of durations', { interval: '24h', load: { maxAge: '10s' }, protections: { minPodAge: '0s' } }],
    [
      'every way to limit',
      {
        budgets: [
          { maxMoves: 10, maxConcurrent: 2, perOwner: '25%', perNode: 2, perNamespace: 5 },
          { maxOverhead: '10m', window: '1h' },
          { maxMoves: 0, schedule: '0 8 * * 1-5', duration: '10h', timeZone: 'Europe/Rome' },
          { maxOverhead: '1m', window: '24h', schedule: '0 0 * * *', duration: '168h' },
        ],
      },
    ],
    ['the bounds of anti-thrash', { protections: { stabilization: '0s', cooldown: '24h' } }],
    ['a duration of several units', { interval: '1h30m' }],
    ['the bounds of a decimal', { strategy: { refineLB: { overload: '1.0' } } }],
    ['the other bound', { strategy: { refineLB: { overload: '10.0' } } }],
    ['no percent and all percent', { budgets: [{ perOwner: '0%' }, { perOwner: '100%' }, { perOwner: 0 }] }],
    ['the least priority', { protections: { priorityThreshold: -2147483648 } }],
    [
      'selectors',
      {
        scope: {
          podSelector: {
            matchLabels: { app: 'web' },
            matchExpressions: [{ key: 'tier', operator: 'NotIn', values: ['db'] }],
          },
        },
      },
    ],
  ])('accepts %s', (_, spec) => {
    expect(problemsOf(spec)).toEqual([]);
  });

  it('reports every problem at once, CEL rules only for what conforms to the schema', () => {
    const problems = problemsOf({ mode: 'x', historyLimit: 0, interval: '5m', schedule: '* * * * *' });
    expect(problems.map((problem) => problem.split(':')[0])).toEqual(['spec.mode', 'spec.historyLimit']);
  });

  it.each<[string, unknown, string]>([
    ['null', null, 'is not an object: write apiVersion, kind, metadata and spec'],
    ['a list', [], 'is not an object'],
    ['a text', 'policy', 'is not an object'],
    ['a number', 7, 'is not an object'],
    ['undefined', undefined, 'is not an object'],
  ])('refuses %s without throwing', (_, object, message) => {
    expect(headProblemsOf(object).some((problem) => problem.startsWith(message))).toBe(true);
  });

  it.each<[string, unknown, string]>([
    [
      'another version',
      { ...head, apiVersion: 'evenkeel.dev/v1' },
      'apiVersion: is "evenkeel.dev/v1": write evenkeel.dev/v1alpha1',
    ],
    [
      'no version',
      { kind: 'RebalancePolicy', metadata: head.metadata },
      'apiVersion: is missing: write evenkeel.dev/v1alpha1',
    ],
    ['a kind misspelt', { ...head, kind: 'RebalancePolicyy' }, 'kind: is "RebalancePolicyy": write RebalancePolicy'],
    ['no kind', { ...head, kind: undefined }, 'kind: is missing: write RebalancePolicy'],
    ['another of our kinds', { ...head, kind: 'PlacementHint' }, 'kind: is "PlacementHint": write RebalancePolicy'],
    ['no name', { ...head, metadata: {} }, 'metadata.name: is missing: write a name of lower-case letters'],
    ['no metadata', { ...head, metadata: undefined }, 'metadata.name: is missing: write a name of lower-case letters'],
    [
      'a name in capitals',
      { ...head, metadata: { name: 'Default' } },
      'metadata.name: is "Default": write a name of lower-case letters',
    ],
    [
      'a name that is a number',
      { ...head, metadata: { name: 1 } },
      'metadata.name: is 1: write a name of lower-case letters',
    ],
    [
      'a field beside spec',
      { ...head, specs: {} },
      'specs: unknown field: spec? (one of spec, metadata, apiVersion, kind)',
    ],
  ])('refuses %s', (_, object, message) => {
    expect(
      headProblemsOf(object).some((problem) => problem.startsWith(message)),
      headProblemsOf(object).join('\n'),
    ).toBe(true);
  });

  it('reports a wrong kind once', () => {
    const kinds = headProblemsOf({ ...head, kind: 'RebalancePolicyy' }).filter((problem) => problem.startsWith('kind'));
    expect(kinds).toHaveLength(1);
  });

  it.each(['apiVersion', 'kind', 'metadata', 'spec', 'status'])(
    'refuses a policy whose %s is nested too deeply for the stack',
    (field) => {
      const object: unknown = { ...head, spec: {}, [field]: JSON.parse('['.repeat(20_000) + ']'.repeat(20_000)) };
      expect(headProblemsOf(object)).toEqual([
        expect.stringMatching(`^${field}: is nested (more than 64 levels|too) deep`),
      ]);
    },
  );

  it('refuses a kind that is an object with a toString of its own', () => {
    expect(headProblemsOf({ ...head, kind: JSON.parse('{"toString": 1, "valueOf": 2}') })).toEqual([
      'kind: is {"toString":1,"valueOf":2}: write RebalancePolicy',
    ]);
  });

  it('shows a name in quotes and shortened where it could be mistaken for something else', () => {
    const [problem = ''] = problemsOf({ [`\u001b[2J${'x'.repeat(1000)}`]: 1 });
    expect(problem).toMatch(/^spec\["\\u001b\[2Jx{96}\.\.\."\]: unknown field: one of mode, /);
  });

  it('takes __proto__ and constructor for the ordinary keys that they are', () => {
    const labels = '{"__proto__": "a", "constructor": "b"}';
    const spec: unknown = JSON.parse(`{"scope": {"podSelector": {"matchLabels": ${labels}}}}`);
    const { value, problems } = validatePolicy({ ...head, spec });
    expect(problems).toEqual([]);
    expect(JSON.stringify(value.spec.scope.podSelector.matchLabels)).toBe('{"__proto__":"a","constructor":"b"}');
    expect(problemsOf(JSON.parse('{"__proto__": {"mode": "Automatic"}}'))).toEqual([
      expect.stringMatching(/^spec\.__proto__: unknown field: one of mode, /),
    ]);
    expect(problemsOf({ constructor: 1 })).toEqual([expect.stringMatching(/^spec\.constructor: unknown field/)]);
    expect(Object.hasOwn(Object.prototype, 'mode')).toBe(false);
  });

  it('shows at most 80 characters of what was written', () => {
    const [problem = ''] = problemsOf({ mode: 'x'.repeat(10_000) });
    expect(problem.length).toBeLessThan(200);
  });
});

describe('validateResource', () => {
  it('asks for a unit where a number lacks one', () => {
    const members = [
      { name: 'web', workload: { name: 'web' } },
      { name: 'db', workload: { name: 'db' } },
    ];
    const edges = [{ from: 'web', to: 'db', bandwidth: 20 }];
    const metadata = { name: 'checkout', namespace: 'shop' };
    const problems = validateResource({ ...head, kind: 'AppGraph', metadata, spec: { members, edges } }).problems;
    expect(problems.map(formatProblem)).toEqual([
      'spec.edges[0].bandwidth: is 20 but must be a string: write bits per second with a unit k, M, G or T, such as 20M for 20 Mb/s',
    ]);
  });

  it.each<[object, string]>([
    [{}, 'spec: the traffic between members is written in edges or learnt by traffic: write one of them'],
    [
      { edges: [], traffic: { server: 'main', preset: 'Istio' } },
      'spec: the traffic between members is written in edges or learnt by traffic: write one of them',
    ],
    [{ traffic: { server: 'main' } }, 'spec.traffic: traffic is asked for by one query: write either preset or query'],
    [
      { traffic: { server: 'main', preset: 'Istio', window: '5s' } },
      'spec.traffic.window: must be a duration between 1m and 24h',
    ],
    [
      { edges: [{ from: 'web', to: 'db', bandwidth: '1M' }] },
      'spec: an edge names a member that does not exist: write names of members in edges[].from and edges[].to',
    ],
  ])('says what is wrong with the traffic of an AppGraph: %j', (traffic, problem) => {
    const members = [{ name: 'web', workload: { name: 'web' } }];
    const metadata = { name: 'checkout', namespace: 'shop' };
    const { problems } = validateResource({ ...head, kind: 'AppGraph', metadata, spec: { members, ...traffic } });
    expect(problems.map(formatProblem)).toEqual([problem]);
  });

  it('suggests among all kinds', () => {
    const problems = validateResource({ ...head, kind: 'PlacementHnt' }).problems.map(formatProblem);
    expect(problems).toEqual([
      'kind: is "PlacementHnt": write PlacementHint? (one of RebalancePolicy, RebalancePlan, MoveJournal, ServiceClass, QoSLedger, PlacementHint, AppGraph)',
    ]);
  });

  it('leaves rules about updates to the API server', () => {
    const spec = { ownerUID: 'a', nodeName: 'b', plan: 'c', podUID: 'd' };
    expect(validateResource({ ...head, kind: 'PlacementHint', spec }).problems).toEqual([]);
  });
});

describe('compileSchemas', () => {
  it('leaves nothing to compile for the first object of a kind', () => {
    const compiled = vi.spyOn(Ajv.prototype, 'compile');
    const gadgets = { ...serviceClassKind, kind: 'Gadget' };
    compileSchemas([gadgets]);
    expect(compiled).toHaveBeenCalledTimes(1);
    validateResource({ apiVersion: 'evenkeel.dev/v1alpha1', kind: 'Gadget', metadata: { name: 'one' } }, [gadgets]);
    expect(compiled).toHaveBeenCalledTimes(1);
    compiled.mockRestore();
  });
});

describe('isOurs', () => {
  it.each<[unknown, boolean]>([
    [{ apiVersion: 'evenkeel.dev/v1alpha1' }, true],
    [{ apiVersion: 'evenkeel.dev/v2' }, true],
    [{ apiVersion: 'evenkeel.development/v1' }, false],
    [{ apiVersion: 'v1' }, false],
    [{ apiVersion: 3 }, false],
    [null, false],
  ])('%j: %s', (object, ours) => {
    expect(isOurs(object)).toBe(ours);
  });
});
