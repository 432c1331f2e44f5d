import { describe, expect, it } from 'vitest';
import type { ClusterSnapshot, UsageSample } from '../../../src/model/snapshot.ts';
import { after, bytes, milliCpu, seconds } from '../../../src/model/units.ts';
import { createUsageHistory, samplingPeriod } from '../../../src/plan/usage-history.ts';
import { aNode, aPod, aSnapshot, NOW } from '../../support/builders.ts';

const MINUTE = seconds(60);
const MAX_AGE = seconds(90);

/** Bytes that nodes and pods use for each millicore. */
const MEMORY = 1000;

/** Millicores that nodes and pods used in the fifteen seconds before `second`, and memory in proportion. */
interface Use {
  readonly second?: number;
  /** Seconds over which the samples were taken; 15 unless given. */
  readonly window?: number;
  readonly nodes: Readonly<Record<string, number>>;
  readonly pods?: Readonly<Record<string, number>>;
  /** Node by pod; a pod's controller is named as the pod is up to its dash. */
  readonly where?: Readonly<Record<string, string>>;
}

function measured({ second = 0, window = 15, nodes, pods = {}, where = {} }: Use): ClusterSnapshot {
  const takenAt = after(NOW, seconds(second));
  const sample = (cpu: number): UsageSample => ({
    cpu: milliCpu(cpu),
    memory: bytes(MEMORY * cpu),
    timestamp: takenAt,
    window: seconds(window),
  });
  return aSnapshot({
    takenAt,
    nodes: Object.keys(nodes).map((name) => aNode(name)),
    pods: Object.entries(where).map(([name, nodeName]) => aPod(name, { nodeName, owner: name.split('-')[0] ?? name })),
    usage: {
      nodes: new Map(Object.entries(nodes).map(([name, cpu]) => [name, sample(cpu)])),
      pods: new Map(Object.entries(pods).map(([name, cpu]) => [`shop/${name}`, sample(cpu)])),
    },
  });
}

/** What is made of the last of these, after all of them were seen. */
function smooth(...all: readonly Use[]): ClusterSnapshot {
  const history = createUsageHistory(MINUTE, MAX_AGE);
  const snapshots = all.map(measured);
  for (const snapshot of snapshots) {
    history.add(snapshot);
  }
  return history.smooth(snapshots.at(-1) ?? measured({ nodes: {} }));
}

const ofPod = ({ usage }: ClusterSnapshot, name: string) => usage?.pods.get(`shop/${name}`)?.cpu;
const ofNode = ({ usage }: ClusterSnapshot, name: string) => usage?.nodes.get(name)?.cpu;
const memoryOf = ({ usage }: ClusterSnapshot, name: string) =>
  (usage?.nodes.get(name) ?? usage?.pods.get(`shop/${name}`))?.memory;

describe('smoothed usage', () => {
  it('is the first sample as it is', () => {
    const only = smooth({ nodes: { n1: 700 }, pods: { 'web-1': 400 }, where: { 'web-1': 'n1' } });
    expect([ofPod(only, 'web-1'), ofNode(only, 'n1')]).toEqual([400, 700]);
  });

  it('is that of memory as much as that of cores', () => {
    const where = { 'web-1': 'n1' };
    const first = { nodes: { n1: 700, n2: 300 }, pods: { 'web-1': 400 }, where };
    const once = smooth(first);
    expect(['web-1', 'n1', 'n2'].map((name) => memoryOf(once, name))).toEqual([400_000, 700_000, 300_000]);
    const twice = smooth(first, { ...first, second: 60, nodes: { n1: 300, n2: 900 }, pods: { 'web-1': 100 } });
    const faded = Math.exp(-1);
    const mean = (early: number, late: number) => expect.closeTo((MEMORY * (early * faded + late)) / (1 + faded), 3);
    expect(['web-1', 'n1', 'n2'].map((name) => memoryOf(twice, name))).toEqual([
      mean(400, 100),
      mean(700, 300),
      mean(300, 900),
    ]);
  });

  it('of a node is what its pods use, and never less than nothing beyond that', () => {
    const where = { 'web-1': 'n1', 'web-2': 'n1' };
    const only = smooth({ nodes: { n1: 500 }, pods: { 'web-1': 400, 'web-2': 300 }, where });
    expect([ofNode(only, 'n1'), memoryOf(only, 'n1')]).toEqual([700, 700_000]);
  });

  it('lets a sample fade to 1/e within the time constant', () => {
    const where = { 'web-1': 'n1' };
    const later = smooth(
      { nodes: { n1: 400 }, pods: { 'web-1': 400 }, where },
      { second: 60, nodes: { n1: 100 }, pods: { 'web-1': 100 }, where },
    );
    const faded = Math.exp(-1);
    expect(ofPod(later, 'web-1')).toBeCloseTo((400 * faded + 100) / (1 + faded), 6);
  });

  it('lets a sample weigh as much as its window is long', () => {
    const where = { 'web-1': 'n1' };
    const later = smooth(
      { nodes: { n1: 400 }, pods: { 'web-1': 400 }, where, window: 45 },
      { second: 60, nodes: { n1: 100 }, pods: { 'web-1': 100 }, where, window: 15 },
    );
    const faded = 3 * Math.exp(-1);
    expect(ofPod(later, 'web-1')).toBeCloseTo((400 * faded + 100) / (1 + faded), 6);
  });

  it('lets a sample of part of a second weigh as much as that, and one that names no window as much as a second', () => {
    const mean = (window: number) => {
      const early = { nodes: { n1: 400 }, pods: { 'web-1': 400 }, where: { 'web-1': 'n1' }, window };
      return ofPod(smooth(early, { ...early, second: 60, pods: { 'web-1': 100 }, window: 1 }), 'web-1');
    };
    const weighing = (weight: number) => {
      const faded = weight * Math.exp(-1);
      return expect.closeTo((400 * faded + 100) / (1 + faded), 6);
    };
    expect([mean(0.5), mean(1), mean(Number.NaN)]).toEqual([weighing(0.5), weighing(1), weighing(1)]);
  });

  it('takes no sample for that of a pod that was created after it', () => {
    const seen = measured({ nodes: { n1: 400 }, pods: { 'web-1': 300 }, where: { 'web-1': 'n1', 'web-2': 'n1' } });
    const ofSibling = (age: number) => {
      const history = createUsageHistory(MINUTE, MAX_AGE);
      const pods = seen.pods.map((pod) => ({ ...pod, createdAt: after(NOW, seconds(-age)) }));
      history.add({ ...seen, pods });
      return ofPod(history.smooth(seen), 'web-2');
    };
    expect([ofSibling(1), ofSibling(0), ofSibling(-1)]).toEqual([300, 300, undefined]);
  });

  it('counts a sample once, however often it is seen', () => {
    const first = { nodes: { n1: 400 }, pods: { 'web-1': 400 }, where: { 'web-1': 'n1' } };
    const second = { ...first, second: 15, pods: { 'web-1': 100 } };
    expect(smooth(first, second, second, second).usage).toEqual(smooth(first, second).usage);
  });

  it('goes with a pod that was moved: its successor weighs what it did', () => {
    const before = { nodes: { n1: 1000, n2: 100 }, pods: { 'web-1': 800 }, where: { 'web-1': 'n1' } };
    const moved = smooth(before, {
      second: 15,
      nodes: { n1: 200, n2: 900 },
      pods: { 'web-2': 800 },
      where: { 'web-2': 'n2' },
    });
    expect(ofPod(moved, 'web-2')).toBeCloseTo(800, 6);
    expect([ofNode(moved, 'n1'), ofNode(moved, 'n2')]).toEqual([expect.closeTo(200, 6), expect.closeTo(900, 6)]);
  });

  it('goes on for a new pod from what its siblings used, of which its own first sample is one more', () => {
    const first = { nodes: { n1: 800, n2: 0 }, pods: { 'web-1': 800 }, where: { 'web-1': 'n1' } };
    const second = { second: 60, nodes: { n1: 0, n2: 200 }, pods: { 'web-2': 200 }, where: { 'web-2': 'n2' } };
    const faded = Math.exp(-1);
    expect(ofPod(smooth(first, second), 'web-2')).toBeCloseTo((800 * faded + 200) / (1 + faded), 6);
    expect(ofPod(smooth(first, { ...second, pods: { 'api-1': 200 }, where: { 'api-1': 'n2' } }), 'api-1')).toBe(200);
  });

  it('is no longer known of a controller without pods after three time constants, nor of a node that has gone', () => {
    const first = { nodes: { n1: 400, n2: 0 }, pods: { 'web-1': 400 }, where: { 'web-1': 'n1' } };
    const anew = (second: number) => {
      const back = { nodes: { n1: 100, n2: 0 }, pods: { 'web-2': 100 }, where: { 'web-2': 'n1' } };
      return ofPod(smooth(first, { second, nodes: { n1: 0, n2: 0 } }, { ...back, second: second + 1 }), 'web-2');
    };
    expect(anew(181)).toBe(100);
    expect(anew(180)).toBeGreaterThan(100);
    const idle = { nodes: { n1: 400, n2: 0 } };
    const returned = (nodes: Use['nodes']) =>
      ofNode(smooth(idle, { second: 15, nodes }, { second: 30, nodes: { n1: 100, n2: 0 } }), 'n1');
    expect(returned({ n2: 0 })).toBe(100);
    expect(returned({ n1: 100, n2: 0 })).toBeGreaterThan(100);
  });

  it('is that of its siblings for a pod without a sample, as fresh as its node is', () => {
    const where = { 'web-1': 'n1', 'web-2': 'n2' };
    const known = smooth(
      { nodes: { n1: 300, n2: 100 }, pods: { 'web-1': 300 }, where: { 'web-1': 'n1' } },
      { second: 15, nodes: { n1: 300, n2: 400 }, pods: { 'web-1': 300 }, where },
    );
    expect(ofPod(known, 'web-2')).toBeCloseTo(300, 6);
    expect(known.usage?.pods.get('shop/web-2')?.timestamp).toBe(NOW + 15);
  });

  it.each([
    ['not a number', Number.NaN],
    ['negative', -5],
    ['beyond belief', 1e9],
  ])('leaves a sample that is %s to the metrics gate, and the means alone', (_, cpu) => {
    const where = { 'web-1': 'n1' };
    const good = { nodes: { n1: 400 }, pods: { 'web-1': 300 }, where };
    const bad = { second: 15, nodes: { n1: cpu }, pods: { 'web-1': cpu }, where };
    const seen = smooth(good, bad);
    expect([ofPod(seen, 'web-1'), ofNode(seen, 'n1')]).toEqual([cpu, cpu]);
    const recovered = smooth(good, bad, { ...good, second: 30 });
    expect([ofPod(recovered, 'web-1'), ofNode(recovered, 'n1')]).toEqual([
      expect.closeTo(300, 6),
      expect.closeTo(400, 6),
    ]);
  });

  it('says nothing of nodes and pods that have no sample, and nothing without a Metrics API', () => {
    const silent = smooth({ nodes: { n1: 400 } }, { second: 15, nodes: {} });
    expect(silent.usage).toEqual({ nodes: new Map(), pods: new Map() });
    const unserved = { ...measured({ nodes: { n1: 1 } }), usage: undefined };
    const history = createUsageHistory(MINUTE, MAX_AGE);
    history.add(unserved);
    expect(history.smooth(unserved)).toBe(unserved);
  });

  it('is looked at twenty times within the time constant, and no more often than metrics-server measures', () => {
    expect([samplingPeriod(seconds(60)), samplingPeriod(seconds(600))]).toEqual([15, 30]);
  });
});
