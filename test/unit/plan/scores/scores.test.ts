import { describe, expect, it } from 'vitest';
import type { NodeInfo } from '../../../../src/model/node.ts';
import type { PodInfo } from '../../../../src/model/pod.ts';
import { EVERYTHING } from '../../../../src/model/selector.ts';
import type { ClusterSnapshot } from '../../../../src/model/snapshot.ts';
import { NO_STORAGE } from '../../../../src/model/storage.ts';
import { bytes } from '../../../../src/model/units.ts';
import { indexNodes } from '../../../../src/plan/node-index.ts';
import { locatePods } from '../../../../src/plan/order.ts';
import { indexOwners } from '../../../../src/plan/owners.ts';
import { sortIntoKinds } from '../../../../src/plan/pod-kinds.ts';
import { rank, SCORES, type ScoreName } from '../../../../src/plan/scores/index.ts';
import {
  ASSUME_NOTHING,
  indexScores,
  SCHEDULER_ASSUMES,
  type ScoreContext,
} from '../../../../src/plan/scores/score-index.ts';
import { anAffinityTerm, aSpread, aTaint, aToleration } from '../../../support/builders/scheduling.ts';
import { aNode, aPod, type PodFields } from '../../../support/builders.ts';

const MIB = 2 ** 20;
const HOSTNAME = 'kubernetes.io/hostname';

interface Scene {
  readonly pod: PodInfo;
  readonly nodes: readonly NodeInfo[];
  /** Running pods. */
  readonly others?: readonly PodInfo[];
  /** Names of nodes that the filters let the pod run on; default all. */
  readonly feasible?: readonly string[];
  readonly namespaces?: ClusterSnapshot['namespaces'];
}

function groundOf({ pod, nodes, others = [], namespaces = new Map() }: Scene): ScoreContext {
  const pods = [pod, ...others];
  const located = locatePods(pods, nodes);
  const kinds = sortIntoKinds(pods);
  const sites = indexNodes({ nodes, pods, located, kinds, storage: NO_STORAGE, namespaces });
  const freeCapacityOf: ScoreContext['freeCapacityOf'] = (site) => {
    const room = sites.rooms[site];
    if (room === undefined) {
      throw new RangeError(`no node ${site}`);
    }
    return room;
  };
  const index = indexScores(sites, indexOwners(kinds, new Map()));
  return { index, assumed: SCHEDULER_ASSUMES, freeCapacityOf, siteOf: (place) => located[place] ?? -1 };
}

function sitesOf({ nodes, feasible }: Scene): Int32Array {
  return Int32Array.from([...nodes.keys()].filter((site) => feasible?.includes(nodes[site]?.name ?? '') ?? true));
}

/** The score of each feasible node. */
function scores(name: ScoreName, scene: Scene): readonly number[] {
  return [...SCORES[name].score(0, sitesOf(scene), groundOf(scene))];
}

/** Running pods by node: `{ a: 2 }` are two pods on node a. */
function running(counts: Readonly<Record<string, number>>, fields: PodFields = {}): readonly PodInfo[] {
  return Object.entries(counts).flatMap(([node, count]) =>
    Array.from({ length: count }, (_, place) => aPod(`${node}-${place}`, { nodeName: node, ...fields })),
  );
}

describe('TaintToleration', () => {
  const soft = (key: string) => aTaint(key, '', 'PreferNoSchedule');
  const nodes = [
    aNode('none'),
    aNode('one', { taints: [soft('x')] }),
    aNode('two', { taints: [soft('x'), soft('y')] }),
  ];

  it('prefers nodes with fewer PreferNoSchedule taints', () => {
    expect(scores('TaintToleration', { pod: aPod('p'), nodes })).toEqual([100, 50, 0]);
  });

  it('does not count taints that the pod tolerates, nor those that keep pods away', () => {
    const pod = aPod('p', { constraints: { tolerations: [aToleration({ key: 'x' })] } });
    const hard = aNode('hard', { taints: [aTaint('z')] });
    expect(scores('TaintToleration', { pod, nodes: [...nodes, hard] })).toEqual([100, 100, 0, 100]);
  });
});

describe('NodeAffinity', () => {
  it('adds up the weights of the preferred terms and gives the best node 100', () => {
    const prefer = (weight: number, key: string) => ({
      weight,
      term: { expressions: [{ key, operator: 'Exists' as const, values: [] }], fields: [] },
    });
    const pod = aPod('p', { constraints: { preferredNodeAffinity: [prefer(2, 'ssd'), prefer(5, 'gpu')] } });
    const nodes = [
      aNode('plain'),
      aNode('ssd', { labels: { ssd: '' } }),
      aNode('both', { labels: { ssd: '', gpu: '' } }),
    ];
    expect(scores('NodeAffinity', { pod, nodes })).toEqual([0, 28, 100]);
    expect(scores('NodeAffinity', { pod, nodes, feasible: ['plain', 'ssd'] })).toEqual([0, 100]);
    expect(scores('NodeAffinity', { pod: aPod('p'), nodes })).toEqual([0, 0, 0]);
  });
});

describe('NodeResourcesFit', () => {
  const sized = (name: string, cpu: number, memory: number) => aNode(name, { allocatable: { cpu, memory } });
  const asking = (cpu: number, memory: number): PodFields => ({ constraints: { requests: { cpu, memory } } });

  it('is the mean share of cpu and memory that is left with the pod', () => {
    const nodes = [sized('a', 4000, 10_000), sized('b', 6000, 10_000)];
    expect(scores('NodeResourcesFit', { pod: aPod('p', asking(3000, 5000)), nodes })).toEqual([37, 50]);
  });

  it('counts what pods on the node request', () => {
    const nodes = [sized('a', 10_000, 20_000), sized('b', 10_000, 20_000)];
    const others = [
      aPod('x', { nodeName: 'a', ...asking(3000, 0) }),
      aPod('y', { nodeName: 'b', ...asking(3000, 5000) }),
    ];
    const withoutDefaults = {
      ...groundOf({ pod: aPod('p', asking(3000, 5000)), nodes, others }),
      assumed: ASSUME_NOTHING,
    };
    expect([...SCORES.NodeResourcesFit.score(0, Int32Array.of(0, 1), withoutDefaults)]).toEqual([57, 45]);
  });

  it('assumes 100m and 200 MiB for pods that request nothing', () => {
    const nodes = [sized('a', 1000, 2000 * MIB), sized('b', 1000, 2000 * MIB)];
    const others = running({ b: 2 }, asking(0, 0));
    expect(scores('NodeResourcesFit', { pod: aPod('p', asking(0, 0)), nodes, others })).toEqual([90, 70]);
  });

  it('assumes something of a resource only for the pods that request none of that one', () => {
    const node = sized('a', 1000, 2000 * MIB);
    const pod = aPod('p', asking(100, 200 * MIB));
    const of = (...pods: readonly PodFields[]) => {
      const others = pods.map((fields, place) => aPod(`x${place}`, { nodeName: 'a', ...fields }));
      return scores('NodeResourcesFit', { pod, nodes: [node], others });
    };
    expect(of()).toEqual([90]);
    // Of cpu and memory: 50 and 80 %, 80 and 40 %, 40 and 30 %.
    expect(of(asking(400, 0))).toEqual([65]);
    expect(of(asking(0, 1000 * MIB))).toEqual([60]);
    expect(of(asking(400, 0), asking(0, 1000 * MIB))).toEqual([35]);
  });

  it('gives nothing for a resource that does not suffice, and leaves out one that is not offered', () => {
    const nodes = [sized('a', 1000, 10_000), sized('b', 0, 10_000), sized('c', 0, 0)];
    expect(scores('NodeResourcesFit', { pod: aPod('p', asking(2000, 5000)), nodes })).toEqual([25, 50, 0]);
  });
});

describe('NodeResourcesBalancedAllocation', () => {
  const node = aNode('a', { allocatable: { cpu: 10_000, memory: 20_000 } });
  const asking = (cpu: number, memory: number): PodFields => ({ constraints: { requests: { cpu, memory } } });

  it('is 75 when the pod changes nothing about the balance of cpu and memory', () => {
    expect(scores('NodeResourcesBalancedAllocation', { pod: aPod('p', asking(1000, 2000)), nodes: [node] })).toEqual([
      75,
    ]);
  });

  it('falls towards 50 when the pod takes them apart, and rises towards 100 when it brings them together', () => {
    const pod = aPod('p', asking(5000, 0));
    const others = [aPod('x', { nodeName: 'b', ...asking(0, 10_000) })];
    const nodes = [node, { ...node, name: 'b' }];
    // a: 1 - 0.5 / 2 = 75 with the pod, 100 without; b: 100 with the pod, 75 without.
    expect(scores('NodeResourcesBalancedAllocation', { pod, nodes, others })).toEqual([62, 87]);
  });

  it('counts a resource that is requested beyond what there is as used up, before and with the pod', () => {
    const on = (cpu: number, memory: number, pod: PodInfo) => {
      const others = [aPod('x', { nodeName: 'a', ...asking(cpu, memory) })];
      return scores('NodeResourcesBalancedAllocation', { pod, nodes: [node], others });
    };
    // Of cpu all was taken already: 100 - 50 / 2 = 75 before, 100 - 40 / 2 = 80 with the pod.
    expect(on(15_000, 10_000, aPod('p', asking(0, 2000)))).toEqual([77]);
    expect(on(10_000, 10_000, aPod('p', asking(0, 2000)))).toEqual([77]);
    expect(on(5000, 30_000, aPod('p', asking(1000, 0)))).toEqual([77]);
    expect(on(5000, 20_000, aPod('p', asking(1000, 0)))).toEqual([77]);
    // The pod itself asks for more than is left: from 100 to 100 - 50 / 2.
    expect(on(5000, 10_000, aPod('p', asking(9000, 0)))).toEqual([62]);
    expect(on(5000, 10_000, aPod('p', asking(0, 90_000)))).toEqual([62]);
  });

  it('leaves the balance out where a node does not offer both', () => {
    const pod = aPod('p', asking(1000, 2000));
    const nodes = [
      aNode('a', { allocatable: { cpu: 0, memory: 20_000 } }),
      aNode('b', { allocatable: { cpu: 10_000, memory: 0 } }),
    ];
    expect(scores('NodeResourcesBalancedAllocation', { pod, nodes })).toEqual([75, 75]);
  });

  it('has an opinion on a pod that requests one of them', () => {
    const [cpu, memory] = [aPod('p', asking(2000, 0)), aPod('p', asking(0, 4000))];
    expect(scores('NodeResourcesBalancedAllocation', { pod: cpu, nodes: [node] })).toEqual([70]);
    expect(scores('NodeResourcesBalancedAllocation', { pod: memory, nodes: [node] })).toEqual([70]);
  });

  it('has no opinion on a pod that requests neither', () => {
    expect(scores('NodeResourcesBalancedAllocation', { pod: aPod('p', asking(0, 0)), nodes: [node] })).toEqual([0]);
  });
});

describe('ImageLocality', () => {
  const holding = (name: string, images: Readonly<Record<string, number>>) =>
    aNode(name, { images: new Map(Object.entries(images).map(([image, mib]) => [image, bytes(mib * MIB)])) });
  const using = (...images: readonly string[]) => aPod('p', { constraints: { images } });

  it.each([
    { images: ['40', '250'], expected: [0, 5] },
    { images: ['40', '300'], expected: [7, 0] },
    { images: ['4000', '10'], expected: [100, 0] },
    { images: ['absent'], expected: [0, 0] },
    { images: [], expected: [0, 0] },
  ])('scores nodes for the images $images by what they have of them', ({ images, expected }) => {
    const nodes = [holding('a', { 40: 40, 300: 300, 4000: 4000 }), holding('b', { 250: 250, 10: 10 })];
    expect(scores('ImageLocality', { pod: using(...images), nodes })).toEqual(expected);
  });

  it('counts an image less the fewer nodes have it', () => {
    const nodes = [holding('a', { 600: 600, 900: 900 }), holding('b', { 300: 300, 600: 600, 900: 900 }), aNode('c')];
    expect(scores('ImageLocality', { pod: using('300', '600', '900'), nodes })).toEqual([32, 36, 0]);
  });
});

describe('InterPodAffinity', () => {
  const nodes = [
    aNode('a', { labels: { zone: '1' } }),
    aNode('b', { labels: { zone: '2' } }),
    aNode('c', { labels: { zone: '2' } }),
    aNode('d'),
  ];
  const toward = (weight: number) => ({ preferredPodAffinity: [{ weight, term: anAffinityTerm({ app: 'db' }) }] });
  const database = { labels: { app: 'db' } };

  it("prefers domains with pods that the pod's preferred terms match", () => {
    const scene = {
      pod: aPod('p', { constraints: toward(5) }),
      nodes,
      others: running({ a: 1, b: 1, c: 1 }, database),
    };
    expect(scores('InterPodAffinity', scene)).toEqual([50, 100, 100, 0]);
  });

  it('avoids domains with pods that its preferred anti-affinity matches', () => {
    const scene = {
      pod: aPod('p', { constraints: toward(-5) }),
      nodes,
      others: running({ a: 1, b: 1, c: 1 }, database),
    };
    expect(scores('InterPodAffinity', scene)).toEqual([50, 0, 0, 100]);
  });

  it('counts preferred terms of running pods that match the pod, and their required affinity with weight 1', () => {
    const pod = aPod('p', database);
    const fond = running({ a: 1 }, { constraints: toward(4) });
    const bound = running({ b: 1 }, { constraints: { podAffinity: [anAffinityTerm({ app: 'db' })] } });
    expect(scores('InterPodAffinity', { pod, nodes, others: [...fond, ...bound] })).toEqual([100, 25, 25, 0]);
  });

  it("heeds the namespaces of the terms on either side, and no other pod's", () => {
    const elsewhere = { ...database, namespace: 'data' };
    const others = running({ b: 1 }, elsewhere);
    const pod = aPod('p', { constraints: toward(5) });
    expect(scores('InterPodAffinity', { pod, nodes, others })).toEqual([0, 0, 0, 0]);
    const anywhere = anAffinityTerm({ app: 'db' }, { namespaceSelector: EVERYTHING });
    const open = aPod('p', { constraints: { preferredPodAffinity: [{ weight: 5, term: anywhere }] } });
    expect(scores('InterPodAffinity', { pod: open, nodes, others })).toEqual([0, 100, 100, 0]);
  });

  it('does not count the pod itself', () => {
    const pod = aPod('p', { ...database, constraints: toward(5) });
    expect(scores('InterPodAffinity', { pod, nodes })).toEqual([0, 0, 0, 0]);
  });
});

describe('PodTopologySpread', () => {
  const foo = { labels: { foo: '' } };
  const spread = (topologyKey: string, maxSkew = 1) =>
    aSpread(foo.labels, { whenUnsatisfiable: 'ScheduleAnyway', topologyKey, maxSkew });
  const nodes = ['a', 'b', 'c', 'd'].map((name) => aNode(name));

  it.each([
    { maxSkew: 1, counts: { a: 2, b: 1, d: 3 }, expected: [20, 60, 100, 0] },
    { maxSkew: 2, counts: { a: 2, b: 1, d: 3 }, expected: [33, 66, 100, 16] },
    { maxSkew: 3, counts: { a: 4, b: 3, c: 2, d: 1 }, expected: [44, 66, 77, 100] },
    { maxSkew: 1, counts: {}, expected: [100, 100, 100, 100] },
  ])('scores $counts by node as kube-scheduler does with maxSkew $maxSkew', ({ maxSkew, counts, expected }) => {
    const pod = aPod('p', { ...foo, constraints: { spread: [spread(HOSTNAME, maxSkew)] } });
    expect(scores('PodTopologySpread', { pod, nodes, others: running(counts, foo) })).toEqual(expected);
  });

  it('counts pods on nodes of the zone that are not candidates themselves', () => {
    const zoned = ['1', '1', '2', '2'].map((zone, place) => aNode('abxy'[place] ?? '', { labels: { zone } }));
    const pod = aPod('p', { ...foo, constraints: { spread: [spread('zone')] } });
    const others = running({ a: 4, b: 2, x: 1, y: 3 }, foo);
    expect(scores('PodTopologySpread', { pod, nodes: zoned, others, feasible: ['a', 'b', 'x'] })).toEqual([
      75, 75, 100,
    ]);
  });

  it('gives a node without the topology key nothing', () => {
    const unlabelled = { ...aNode('b'), labels: new Map() };
    const three = [aNode('a'), unlabelled, aNode('x')];
    const pod = aPod('p', { ...foo, constraints: { spread: [spread(HOSTNAME)] } });
    const others = running({ a: 4, b: 2, x: 1 }, foo);
    expect(scores('PodTopologySpread', { pod, nodes: three, others })).toEqual([16, 0, 100]);
  });

  it('gives the worst of two nodes nothing for a single pod', () => {
    const pod = aPod('p', { ...foo, constraints: { spread: [spread(HOSTNAME)] } });
    expect(scores('PodTopologySpread', { pod, nodes: nodes.slice(0, 2), others: running({ a: 1 }, foo) })).toEqual([
      0, 100,
    ]);
  });

  it('ranks only nodes that carry the keys of all constraints', () => {
    const zoned = [
      aNode('a', { labels: { zone: '1', disk: 'x' } }),
      aNode('b', { labels: { zone: '2' } }),
      aNode('c', { labels: { disk: 'y' } }),
      aNode('d', { labels: { zone: '2', disk: 'y' } }),
    ];
    const pod = aPod('p', { ...foo, constraints: { spread: [spread('zone'), spread('disk')] } });
    // Pods on b and c count nowhere, since these lack a key.
    const others = running({ a: 2, b: 9, c: 9, d: 1 }, foo);
    expect(scores('PodTopologySpread', { pod, nodes: zoned, others })).toEqual([50, 0, 0, 100]);
  });

  describe('over zones with a node that is', () => {
    const zoned = (third: Parameters<typeof aNode>[1]) => [
      aNode('a', { labels: { zone: '1', disk: 'ssd' } }),
      aNode('b', { labels: { zone: '2', disk: 'ssd' } }),
      aNode('c', { ...third, labels: { zone: '1', ...third?.labels } }),
    ];
    const others = running({ a: 1, b: 2, c: 3 }, foo);
    const counted = (
      third: Parameters<typeof aNode>[1],
      constraint: Partial<ReturnType<typeof aSpread>>,
      pod: PodFields = {},
    ) => {
      const own = {
        ...pod,
        ...foo,
        constraints: { ...pod.constraints, spread: [{ ...spread('zone'), ...constraint }] },
      };
      const nodes = zoned(third);
      return scores('PodTopologySpread', { pod: aPod('p', own), nodes, others, feasible: ['a', 'b'] });
    };
    const [all, without] = [
      [50, 100],
      [100, 33],
    ];

    it('tainted, counts its pods unless nodeTaintsPolicy is Honor', () => {
      const tainted = { taints: [aTaint('own')] };
      expect(counted(tainted, {})).toEqual(all);
      expect(counted(tainted, { nodeTaintsPolicy: 'Honor' })).toEqual(without);
      expect(counted({}, { nodeTaintsPolicy: 'Honor' })).toEqual(all);
    });

    it('not selected by the pod, counts its pods only where nodeAffinityPolicy is Ignore', () => {
      const picky = { constraints: { nodeSelector: new Map([['disk', 'ssd']]) } };
      expect(counted({}, {}, picky)).toEqual(without);
      expect(counted({}, { nodeAffinityPolicy: 'Ignore' }, picky)).toEqual(all);
      expect(counted({ labels: { disk: 'ssd' } }, {}, picky)).toEqual(all);
    });
  });

  it('spreads pods without constraints by the system defaults, counting the pods of their controller', () => {
    const others = running({ a: 4, b: 3, c: 2, d: 1 });
    expect(scores('PodTopologySpread', { pod: aPod('p'), nodes, others })).toEqual([44, 66, 77, 100]);
  });

  it('counts neither pods of other controllers nor pods that are being deleted', () => {
    const others = [...running({ a: 2 }, { owner: 'other' }), ...running({ b: 2 }, { terminating: true })];
    expect(scores('PodTopologySpread', { pod: aPod('p'), nodes, others })).toEqual([100, 100, 100, 100]);
  });

  it('has no opinion on pods of controllers that the defaults do not know, nor on pods with hard constraints alone', () => {
    const job = aPod('p', { owner: { kind: 'Job', name: 'j', uid: 'j' } });
    const hard = aPod('p', { constraints: { spread: [aSpread(foo.labels)] } });
    expect(scores('PodTopologySpread', { pod: job, nodes })).toEqual([0, 0, 0, 0]);
    expect(scores('PodTopologySpread', { pod: hard, nodes })).toEqual([0, 0, 0, 0]);
  });
});

describe('rank', () => {
  it("adds all scores with the scheduler's default weights", () => {
    const nodes = [
      aNode('a', { allocatable: { cpu: 1000, memory: 1000 } }),
      aNode('b', { allocatable: { cpu: 1000, memory: 1000 }, taints: [aTaint('x', '', 'PreferNoSchedule')] }),
    ];
    const scene = { pod: aPod('p', { constraints: { requests: { cpu: 200, memory: 200 } } }), nodes };
    // TaintToleration 3 x 100, LeastAllocated 80, PodTopologySpread 2 x 100, BalancedAllocation 75.
    expect([...rank(0, sitesOf(scene), groundOf(scene))]).toEqual([655, 355]);
  });
});
