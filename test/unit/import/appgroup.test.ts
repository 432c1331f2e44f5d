import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { validateResource } from '../../../src/api/validate.ts';
import { importAppGroup } from '../../../src/cli/import.ts';
import { lintCommand } from '../../../src/cli/lint.ts';
import { convertAppGroups } from '../../../src/import/appgroup/convert.ts';

const workload = (selector: string, fields: object = {}) => ({
  kind: 'Deployment',
  name: selector,
  selector,
  ...fields,
});
const dependency = (selector: string, fields: object = { minBandwidth: '20M' }) => ({
  workload: workload(selector),
  ...fields,
});

function anAppGroup(workloads: readonly object[], spec: object = {}, metadata: object = {}): object {
  return {
    apiVersion: 'appgroup.diktyo.x-k8s.io/v1alpha1',
    kind: 'AppGroup',
    metadata: { name: 'checkout', namespace: 'shop', ...metadata },
    spec: { workloads, ...spec },
  };
}

/** A NetworkTopology with these costs, `[origin, destination, fields]`, between zones. */
function aTopology(costs: readonly (readonly [string, string, object])[], spec: object = {}): object {
  const originList = costs.map(([origin, destination, fields]) => ({ origin, costList: [{ destination, ...fields }] }));
  const topologyList = [{ topologyKey: 'topology.kubernetes.io/zone', originList }];
  return {
    apiVersion: 'networktopology.diktyo.x-k8s.io/v1alpha1',
    kind: 'NetworkTopology',
    metadata: { name: 'traffic' },
    spec: { weights: [{ name: 'UserDefined', topologyList }], ...spec },
  };
}

function converted(...documents: readonly object[]) {
  const { resources, notes } = convertAppGroups(documents);
  expect(resources.flatMap((resource) => validateResource(resource).problems)).toEqual([]);
  const [first] = resources as readonly { metadata: object; spec: Record<string, unknown> }[];
  return {
    metadata: first?.metadata,
    spec: first?.spec ?? {},
    count: resources.length,
    told: notes.map(({ effect, path }) => `${effect} ${path}`),
  };
}

describe('an AppGroup', () => {
  const web = { workload: workload('web'), dependencies: [dependency('db')] };
  const db = { workload: workload('db') };

  it('becomes an AppGraph whose members have the labels that scheduler-plugins looks for', () => {
    const { metadata, spec, told } = converted(anAppGroup([web, db]));
    expect(metadata).toEqual({ name: 'checkout', namespace: 'shop' });
    const labels = (selector: string) => ({
      matchLabels: { 'appgroup.diktyo.x-k8s.io': 'checkout', 'appgroup.diktyo.x-k8s.io.workload': selector },
    });
    expect(spec).toEqual({
      members: ['web', 'db'].map((name) => ({ name, selector: labels(name) })),
      edges: [{ from: 'web', to: 'db', bandwidth: '20M' }],
    });
    expect(told).toEqual(['Changed spec.workloads']);
  });

  it.each([
    ['100Mi', '104.858M'],
    ['1500k', '1.5M'],
    ['10Gi', '10.737G'],
    [100, '0.1k'],
    ['2T', '2T'],
  ])('with minBandwidth %s has an edge of %s', (minBandwidth, bandwidth) => {
    const from = { workload: workload('web'), dependencies: [dependency('db', { minBandwidth })] };
    expect(converted(anAppGroup([from, db])).spec).toMatchObject({ edges: [{ bandwidth }] });
  });

  it('says what an AppGraph does not have, on its path', () => {
    const dependencies = [dependency('db', { minBandwidth: '1M', maxNetworkCost: 20, retries: 3 })];
    const spec = { numMembers: 2, topologySortingAlgorithm: 'KahnSort', priority: 1 };
    expect(converted(anAppGroup([{ ...web, dependencies }, db], spec)).told).toEqual([
      'Lost spec.numMembers',
      'Lost spec.topologySortingAlgorithm',
      'Changed spec.workloads',
      'Lost spec.priority',
      'Lost spec.workloads[0].dependencies[0].maxNetworkCost',
      'Lost spec.workloads[0].dependencies[0].retries',
    ]);
  });

  it.each([
    ['without bandwidth', [dependency('db', {})]],
    ['on itself', [dependency('web')]],
    ['on what is no workload of it', [dependency('cache')]],
  ])('loses a dependency %s', (_, dependencies) => {
    const { spec, told } = converted(anAppGroup([{ ...web, dependencies }, db]));
    expect(spec['edges']).toEqual([]);
    expect(told).toEqual(['Lost spec.workloads[0].dependencies[0]']);
  });

  it('loses the second of two dependencies on one workload', () => {
    const dependencies = [dependency('db'), dependency('db', { minBandwidth: '5M' })];
    const { spec, told } = converted(anAppGroup([{ ...web, dependencies }, db]));
    expect(spec['edges']).toEqual([{ from: 'web', to: 'db', bandwidth: '20M' }]);
    expect(told).toContain('Lost spec.workloads[0].dependencies[1]');
  });

  it('is about one namespace: its own, or that of its first workload', () => {
    const elsewhere = { workload: workload('db', { namespace: 'data' }) };
    const own = converted(anAppGroup([web, elsewhere]));
    expect(own.told).toContain('Lost spec.workloads[1].workload.namespace');
    expect(own.spec['members']).toHaveLength(1);
    expect(converted(anAppGroup([elsewhere], {}, { namespace: undefined })).metadata).toEqual({
      name: 'checkout',
      namespace: 'data',
    });
  });
});

describe('a NetworkTopology', () => {
  const policyOf = (...args: Parameters<typeof aTopology>) => {
    const { spec, told } = converted(aTopology(...args));
    const { trafficAware } = spec['strategy'] as { trafficAware: object };
    return { trafficAware, told, mode: spec['mode'] };
  };
  const ORIGINS = 'spec.weights[0].topologyList[0].originList';

  it('becomes a policy in mode DryRun, with its costs as prices and its capacities', () => {
    const { trafficAware, told, mode } = policyOf([
      ['a', 'b', { networkCost: 5, bandwidthCapacity: '1G' }],
      ['b', 'a', { networkCost: 5, bandwidthCapacity: '1G' }],
      ['a', 'c', { networkCost: 10 }],
    ]);
    expect(trafficAware).toEqual({
      domain: 'topology.kubernetes.io/zone',
      perGiB: '10',
      links: [
        { between: ['a', 'b'], perGiB: '5', capacity: '2G' },
        { between: ['a', 'c'], perGiB: '10' },
      ],
    });
    expect(mode).toBe('DryRun');
    expect(told).toEqual([
      'Changed spec',
      `Changed ${ORIGINS}`,
      `Changed ${ORIGINS}`,
      `Changed ${ORIGINS}[0].costList[0].bandwidthCapacity`,
    ]);
  });

  it('without costs has capacities alone', () => {
    const { trafficAware, told } = policyOf([
      ['a', 'b', { bandwidthCapacity: '1G' }],
      ['a', 'c', {}],
    ]);
    expect(trafficAware).toEqual({
      domain: 'topology.kubernetes.io/zone',
      links: [{ between: ['a', 'b'], capacity: '1G' }],
    });
    expect(told).toEqual(['Changed spec', `Changed ${ORIGINS}[0].costList[0].bandwidthCapacity`]);
  });

  it('with other costs and limits in the two directions has the higher price and no limit', () => {
    const { trafficAware, told } = policyOf([
      ['a', 'b', { networkCost: 5, bandwidthCapacity: '1G' }],
      ['b', 'a', { networkCost: 7 }],
    ]);
    expect(trafficAware).toMatchObject({ links: [{ between: ['a', 'b'], perGiB: '7' }] });
    expect(told).toContain(`Changed ${ORIGINS}[1].costList[0].networkCost`);
    expect(told).toContain(`Lost ${ORIGINS}[0].costList[0].bandwidthCapacity`);
  });

  it('scales costs above the highest price', () => {
    const { trafficAware } = policyOf([
      ['a', 'b', { networkCost: 5000 }],
      ['a', 'c', { networkCost: 50 }],
    ]);
    expect(trafficAware).toMatchObject({ perGiB: '1000', links: [{ perGiB: '1000' }, { perGiB: '10' }] });
  });

  it('says what a policy does not have, on its path', () => {
    const costs = [
      ['a', 'a', { networkCost: 1 }],
      ['a', 'b', { bandwidthAllocated: '1M' }],
      ['a', 'c', { networkCost: 1, latency: 4 }],
    ] as const;
    const other = { name: 'NetperfCosts', topologyList: [] };
    const [region, zone] = ['region', 'zone'].map((name) => ({
      topologyKey: `topology.kubernetes.io/${name}`,
      originList: costs.map(([origin, destination, fields]) => ({ origin, costList: [{ destination, ...fields }] })),
    }));
    const weights = [{ name: 'UserDefined', topologyList: [region, zone] }, other];
    const { told } = policyOf([], { weights, configmapName: 'netperf' });
    const at = 'spec.weights[0].topologyList[1].originList';
    expect(told).toEqual([
      'Changed spec',
      'Lost spec.configmapName',
      'Lost spec.weights[1]',
      'Lost spec.weights[0].topologyList[0]',
      `Lost ${at}[0].costList[0]`,
      `Lost ${at}[1].costList[0].bandwidthAllocated`,
      `Lost ${at}[2].costList[0].latency`,
      `Changed ${at}`,
      `Changed ${at}`,
      `Changed ${at}[1].costList[0].networkCost`,
    ]);
  });

  it('of several the first one is converted', () => {
    const { count, told } = converted(aTopology([['a', 'b', { networkCost: 1 }]]), aTopology([]));
    expect(count).toBe(1);
    expect(told).toContain('Lost [1].spec');
  });
});

describe('documents', () => {
  const topology = (costs: Parameters<typeof aTopology>[0]) => aTopology(costs);
  const group = (fields: object) => anAppGroup([{ workload: workload('web') }, fields]);

  it('may be lists, as kubectl writes them', () => {
    const items = [anAppGroup([{ workload: workload('web') }]), topology([['a', 'a', {}]])];
    const { count, told } = converted({ apiVersion: 'v1', kind: 'List', items });
    expect(count).toBe(2);
    expect(told[0]).toBe('Changed items[1].spec');
  });

  it.each([
    ['text', 'hello', /^kind: is missing: write appgroup\.diktyo/],
    [
      'another kind',
      { apiVersion: 'v1', kind: 'Pod' },
      /^kind: is v1 Pod: write appgroup\.diktyo.* or networktopology\.dik/,
    ],
    ['no name', anAppGroup([], {}, { name: undefined }), /^metadata\.name: is missing/],
    ['no workloads', anAppGroup([]), /^spec\.workloads: is missing: write the workloads/],
    ['no workload', group({}), /^spec\.workloads\[1\]\.workload: is missing: write kind, name and selector/],
    [
      'no selector',
      group({ workload: { kind: 'Deployment', name: 'a' } }),
      /^spec\.workloads\[1\]\.workload\.selector: is mis/,
    ],
    [
      'a workload twice',
      group({ workload: workload('web') }),
      /\.selector: web is written twice: write each workload once/,
    ],
    [
      'a strange bandwidth',
      group({ workload: workload('a'), dependencies: [dependency('web', { minBandwidth: 'fast' })] }),
      /^spec\.workloads\[1\]\.dependencies\[0\]\.minBandwidth: "fast" is not a quantity/,
    ],
    [
      'a bandwidth below 0',
      group({ workload: workload('a'), dependencies: [dependency('web', { minBandwidth: '-1M' })] }),
      /minBandwidth: -1M is no bandwidth: write 0 to 999999T bits per second/,
    ],
    ['no weights', aTopology([], { weights: [] }), /^spec\.weights: has no costs: write a topologyList/],
    ['a cost below 0', topology([['a', 'b', { networkCost: -1 }]]), /networkCost: -1 is below 0: write 0 or more/],
    ['a cost as text', topology([['a', 'b', { networkCost: '5' }]]), /networkCost: "5" is not a whole number/],
  ])('with %s are refused with what to write', (_, document, message) => {
    expect(() => convertAppGroups([document])).toThrow(message);
  });
});

describe('evenkeel import appgroup', () => {
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'evenkeel-appgroup-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it('converts the example into what lint passes', async () => {
    const example = join(import.meta.dirname, '..', '..', '..', 'examples', 'applications', 'scheduler-plugins.yaml');
    const { stdout, stderr, exitCode } = await importAppGroup([example], { output: 'yaml', exitCode: true });
    expect(stdout.match(/^kind: .*$/gm)).toEqual(['kind: AppGraph', 'kind: RebalancePolicy']);
    expect(stderr).toContain('scheduler-plugins.yaml: 2 resources; ');
    expect(exitCode).toBe(2);
    const file = join(folder, 'imported.yaml');
    await writeFile(file, stdout);
    const linted = await lintCommand([file], 'json');
    expect([JSON.parse(linted.stdout).problems, linted.exitCode]).toEqual([[], 0]);
  });
});
