import { describe, expect, it } from 'vitest';
import type { UsageSample } from '../../../src/model/snapshot.ts';
import { epochSeconds, seconds } from '../../../src/model/units.ts';
import { loadModel, meanOf, pooledLoad, tabulate, toFraction, toLoad, WHOLE_NODE } from '../../../src/plan/load.ts';
import type { PodUsage } from '../../../src/plan/pod-usage.ts';
import { someOptions } from '../../support/builders/options.ts';
import { aNode, aPod, aSample, NOW, type NodeFields, type PodFields } from '../../support/builders.ts';

interface Shape {
  /** What each node offers, with its sample. */
  readonly nodes: readonly (readonly [NodeFields['allocatable'], UsageSample | undefined])[];
  /** Node, usage of cpu and memory, whether that is measured, and what else is to say of each pod. */
  readonly pods: readonly (readonly [number, readonly [number, number], boolean, PodFields?])[];
  readonly resources?: readonly (readonly [name: PodUsage['resources'][number], weight: number])[];
  readonly aggregate?: 'Weighted' | 'Dominant';
}

function modelOf({ nodes, pods, resources = [['cpu', 1]], aggregate = 'Weighted' }: Shape) {
  const participants = nodes.map(([allocatable = {}, sample], index) => ({
    node: aNode(`n${index}`, { allocatable }),
    sample,
  }));
  const home = Int32Array.from(pods, ([node]) => node);
  const usage: PodUsage = {
    resources: resources.map(([name]) => name),
    values: resources.map((_, index) => Float64Array.from(pods, ([, uses]) => uses[index] ?? 0)),
    sampled: Uint8Array.from(pods, ([, , isSampled]) => (isSampled ? 1 : 0)),
  };
  const infos = pods.map(([, , , fields], index) => aPod(`p${index}`, fields));
  const tables = tabulate(participants, infos, home, usage);
  const options = someOptions({
    load: { resources: resources.map(([name, weight]) => ({ name, weight })), aggregate },
  });
  return { tables, home, options, model: loadModel(tables, home, options) };
}

const amounts = (tables: readonly Float64Array[]) => tables.map((values) => [...values]);

const both = [
  ['cpu', 3],
  ['memory', 1],
] as const;

describe('a load', () => {
  it('is a whole number of billionths of a node', () => {
    expect([WHOLE_NODE, toLoad(0.25), toLoad(1e-10), toLoad(6e-10), toFraction(5e8)]).toEqual([1e9, 2.5e8, 0, 1, 0.5]);
  });
});

describe('the floor of a node', () => {
  it('is what its pods leave of its sample, resource by resource, and never negative', () => {
    const { tables } = modelOf({
      nodes: [
        [{}, aSample(1000, 500)],
        [{}, aSample(100, 100)],
        [{}, undefined],
      ],
      pods: [
        [0, [300, 100], true],
        [0, [200, 100], true],
        [1, [300, 40], true],
        [-1, [9, 9], true],
      ],
      resources: both,
    });
    expect(amounts(tables.floors)).toEqual([
      [500, 0, 0],
      [300, 60, 0],
    ]);
    expect(amounts(tables.usage.values)).toEqual([
      [300, 200, 300, 9],
      [100, 100, 40, 9],
    ]);
  });

  it('is none of what is not measured', () => {
    const { tables } = modelOf({ nodes: [[{}, aSample(1000)]], pods: [[0, [3, 0], false]], resources: [['pods', 1]] });
    expect([amounts(tables.floors), amounts(tables.usage.values)]).toEqual([[[0]], [[3]]]);
  });
});

describe('what pods without samples are thought to use', () => {
  const sampled = (sample: number, ...pods: Shape['pods']) => {
    const { tables } = modelOf({ nodes: [[{}, aSample(sample)]], pods });
    return [amounts(tables.usage.values)[0], amounts(tables.floors)[0]];
  };

  it('is theirs while the sample of their node has room for it', () => {
    expect(sampled(1000, [0, [400, 0], true], [0, [200, 0], false])).toEqual([[400, 200], [400]]);
    expect(sampled(600, [0, [400, 0], true], [0, [200, 0], false])).toEqual([[400, 200], [0]]);
  });

  it('is cut in proportion where it has not', () => {
    expect(sampled(700, [0, [400, 0], true], [0, [200, 0], false], [0, [400, 0], false])).toEqual([
      [400, 100, 200],
      [0],
    ]);
    expect(sampled(300, [0, [400, 0], true], [0, [200, 0], false])).toEqual([[400, 0], [0]]);
  });

  it('comes on top of the sample where the pod is younger than what that is about', () => {
    const at = (createdAt: number) =>
      sampled(500, [0, [400, 0], true], [0, [200, 0], false, { createdAt: epochSeconds(createdAt) }]);
    // Of 20 s ago, over 15 s.
    expect(at(NOW - 35)).toEqual([[400, 100], [0]]);
    expect(at(NOW - 34)).toEqual([[400, 200], [100]]);
  });

  it('comes on top of a sample that names no window from its time on, and of none always', () => {
    const young = (sample: UsageSample | undefined, age: number) =>
      amounts(
        modelOf({
          nodes: [[{}, sample]],
          pods: [[0, [200, 0], false, { createdAt: epochSeconds(NOW - age) }]],
        }).tables.usage.values,
      );
    const timeless = aSample(100, 0, { window: seconds(Number.NaN) });
    expect([young(timeless, 20), young(timeless, 19)]).toEqual([[[100]], [[200]]]);
    expect(young(undefined, 3600)).toEqual([[200]]);
  });

  it('is nothing once the pod is being deleted, measured or not, and that is no floor either', () => {
    const ending = { terminating: true };
    expect(sampled(1000, [0, [400, 0], true, ending], [0, [200, 0], false, ending])).toEqual([[0, 0], [400]]);
  });
});

describe('what a pod adds to a node', () => {
  const sizes: Shape['nodes'] = [
    [{ cpu: 1000, memory: 100 }, undefined],
    [{ cpu: 2000, memory: 400 }, undefined],
    [{ cpu: 500, memory: 0 }, undefined],
    [{ cpu: 0, memory: 0 }, undefined],
  ];
  const pods: Shape['pods'] = [[0, [100, 20], true]];

  it('is a fraction of what that node offers', () => {
    const { model } = modelOf({ nodes: sizes, pods });
    expect(model.dimensions).toBe(1);
    expect([0, 1, 2, 3].map((node) => model.ofPod(0, node, 0))).toEqual([1e8, 5e7, 2e8, 0]);
  });

  it('is the weighted mean over the resources that the node offers', () => {
    const { model } = modelOf({ nodes: sizes, pods, resources: both });
    expect(model.dimensions).toBe(1);
    expect([0, 1, 2, 3].map((node) => model.ofPod(0, node, 0))).toEqual([1.25e8, 5e7, 2e8, 0]);
  });

  it('is one number for each resource where the largest counts', () => {
    const { model } = modelOf({ nodes: sizes, pods, resources: both, aggregate: 'Dominant' });
    expect(model.dimensions).toBe(2);
    expect([0, 1, 2, 3].map((node) => [model.ofPod(0, node, 0), model.ofPod(0, node, 1)])).toEqual([
      [1e8, 2e8],
      [5e7, 5e7],
      [2e8, 0],
      [0, 0],
    ]);
  });

  it('has bounds over some nodes', () => {
    const over = (fields: Partial<Shape>, ...nodes: number[]) => {
      const { model } = modelOf({ nodes: sizes, pods, ...fields });
      const { least, most } = model.boundsOver(nodes);
      return [least(0), most(0)];
    };
    expect(over({}, 0, 1)).toEqual([5e7, 1e8]);
    expect(over({}, 1)).toEqual([5e7, 5e7]);
    expect(over({}, 0, 1, 2, 3)).toEqual([5e7, 2e8]);
    expect(over({ resources: both }, 0, 1)).toEqual([5e7, 1.25e8]);
    expect(over({ resources: both }, 0, 1, 2)).toEqual([5e7, 2e8]);
    expect(over({ resources: both, aggregate: 'Dominant' }, 0, 1)).toEqual([5e7, 2e8]);
    expect(over({ resources: both, aggregate: 'Dominant' }, 0)).toEqual([1e8, 2e8]);
  });

  it('has whole bounds that hold what rounding makes of it', () => {
    const { model } = modelOf({
      nodes: [
        [{ cpu: 3 }, undefined],
        [{ cpu: 7 }, undefined],
      ],
      pods: [[0, [1, 0], true]],
    });
    const { least, most } = model.boundsOver([0, 1]);
    expect([least(0), most(0)]).toEqual([142_857_142, 333_333_334]);
  });

  it('has whole bounds over several resources as well', () => {
    const nodes: Shape['nodes'] = [
      [{ cpu: 3, memory: 3 }, undefined],
      [{ cpu: 7, memory: 7 }, undefined],
    ];
    for (const aggregate of ['Weighted', 'Dominant'] as const) {
      const { model } = modelOf({ nodes, pods: [[0, [1, 1], true]], resources: both, aggregate });
      const { least, most } = model.boundsOver([0, 1]);
      expect([least(0), most(0)]).toEqual([142_857_142, 333_333_334]);
    }
  });

  it('counts on a node that offers a single unit, as of a device', () => {
    const nodes: Shape['nodes'] = [
      [{ cpu: 1, memory: 1 }, aSample(1, 1)],
      [{ cpu: 3, memory: 3 }, aSample(1, 1)],
    ];
    const used: Shape['pods'] = [
      [0, [0.5, 0.5], true],
      [1, [0.5, 0.5], true],
    ];
    for (const fields of [{}, { resources: both }, { resources: both, aggregate: 'Dominant' }] as const) {
      const { tables, home, options, model } = modelOf({ nodes, pods: used, ...fields });
      const pool = pooledLoad(tables, home, options);
      pool.join(0);
      expect([model.ofPod(0, 0, 0), model.ofFloor(0, 0), pool.mean()]).toEqual([5e8, 5e8, 1e9]);
      pool.join(1);
      expect([meanOf(tables, home, 0), model.mean, pool.mean()]).toEqual([0.5, 5e8, 5e8]);
      expect([...model.weights]).toEqual([0.25, 0.75]);
      expect(model.boundsOver([0]).most(0)).toBe(5e8);
      expect(model.boundsOver([0, 1]).most(0)).toBe(5e8);
    }
  });
});

describe('nodes as a load model sees them', () => {
  it('have floors in fractions of what they offer', () => {
    const nodes: Shape['nodes'] = [
      [{ cpu: 1000, memory: 100 }, aSample(300, 20)],
      [{ cpu: 0, memory: 100 }, aSample(300, 20)],
    ];
    const floors = (aggregate: Shape['aggregate']) => {
      const { model } = modelOf({ nodes, pods: [], resources: both, ...(aggregate && { aggregate }) });
      return [0, 1].map((node) => Array.from({ length: model.dimensions }, (_, index) => model.ofFloor(node, index)));
    };
    expect(floors('Weighted')).toEqual([[2.75e8], [2e8]]);
    expect(floors('Dominant')).toEqual([
      [3e8, 2e8],
      [0, 2e8],
    ]);
  });

  it('are of one class where they differ by little in every resource', () => {
    const sizes = [
      { cpu: 1000, memory: 1000 },
      { cpu: 1010, memory: 1010 },
      { cpu: 1200, memory: 1000 },
      { cpu: 1000, memory: 1200 },
    ];
    const { model } = modelOf({ nodes: sizes.map((each) => [each, undefined]), pods: [], resources: both });
    const classes = sizes.map((_, node) => model.sizeClass(node));
    expect(classes[1]).toBe(classes[0]);
    expect(new Set(classes).size).toBe(3);
  });

  it('weigh what they offer, resource by resource, of what all do', () => {
    const nodes: Shape['nodes'] = [
      [{ cpu: 1000, memory: 300 }, undefined],
      [{ cpu: 3000, memory: 100 }, undefined],
    ];
    expect([...modelOf({ nodes, pods: [] }).model.weights]).toEqual([0.25, 0.75]);
    expect([...modelOf({ nodes, pods: [], resources: both }).model.weights]).toEqual([0.375, 0.625]);
    const without: Shape['nodes'] = [[{ cpu: 1000, memory: 0 }, undefined]];
    expect([...modelOf({ nodes: without, pods: [], resources: both }).model.weights]).toEqual([0.75]);
  });

  const mixed: Pick<Shape, 'nodes' | 'pods'> = {
    nodes: [
      [{ cpu: 1000, memory: 100 }, aSample(300, 50)],
      [{ cpu: 3000, memory: 0 }, aSample(500, 50)],
    ],
    pods: [
      [0, [200, 10], true],
      [1, [400, 10], true],
      [-1, [5000, 5000], true],
    ],
  };

  it('have a mean in which what they do not offer does not count', () => {
    const { tables, home, model } = modelOf({ ...mixed, resources: both });
    expect([meanOf(tables, home, 0), meanOf(tables, home, 1)]).toEqual([0.2, 0.5]);
    expect(model.mean).toBe(toLoad(0.275));
    expect(modelOf({ ...mixed, resources: both, aggregate: 'Dominant' }).model.mean).toBe(toLoad(0.5));
    expect(modelOf({ nodes: [[{ cpu: 0 }, undefined]], pods: [[0, [1, 0], true]] }).model.mean).toBe(0);
  });

  it('have the same mean in a pool that all of them have joined, and that of some before', () => {
    for (const aggregate of ['Weighted', 'Dominant'] as const) {
      const { tables, home, options, model } = modelOf({ ...mixed, resources: both, aggregate });
      const pool = pooledLoad(tables, home, options);
      expect(pool.mean()).toBe(0);
      pool.join(0);
      expect(pool.mean()).toBe(toLoad(aggregate === 'Dominant' ? 0.5 : 0.35));
      pool.join(1);
      expect(pool.mean()).toBe(model.mean);
    }
  });
});
