import { describe, expect, it } from 'vitest';
import { NO_STORAGE } from '../../../src/model/storage.ts';
import { planningInputOf } from '../../../src/plan/planning-input.ts';
import { classOf, nodeKey, shapeOf, subjectOf } from '../../../src/plan/shapes.ts';
import { someOptions } from '../../support/builders/options.ts';
import { aHostPort, anAffinityTerm, aSpread, aTaint, aToleration } from '../../support/builders/scheduling.ts';
import { aClaim, aStorageClass, aVolume } from '../../support/builders/storage.ts';
import {
  aNode,
  aPod,
  aSnapshot,
  aWorkload,
  labels,
  type PodFields,
  type Resources,
  resources,
  type SnapshotFields,
} from '../../support/builders.ts';
import { clusterOf } from '../../support/state.ts';

const MIB = 2 ** 20;
const inZone = (zone: string) => [
  { expressions: [{ key: 'zone', operator: 'In' as const, values: [zone] }], fields: [] },
];
const using = (name: string) => ({ claims: [{ name, template: undefined }] });

/** Pods in the order of their names on node a, beside a node b that is tainted. */
function clusterWith(pods: readonly PodFields[], rest: SnapshotFields = {}) {
  const all = pods.map((fields, place) => aPod(`p${place}`, { nodeName: 'a', ...fields }));
  const nodes = [aNode('a', { labels: { zone: 'a' } }), aNode('b', { labels: { zone: 'b' }, taints: [aTaint('gpu')] })];
  return clusterOf(
    aSnapshot({ nodes, pods: all, uses: Object.fromEntries(all.map(({ name }) => [name, 100])), ...rest }),
  );
}

/** Whether the two pods share a shape, and whether they share a class. */
function shared(left: PodFields, right: PodFields, rest: SnapshotFields = {}): readonly [boolean, boolean] {
  const { shapes } = clusterWith([left, right], rest);
  return [shapeOf(shapes, 0) === shapeOf(shapes, 1), classOf(shapes, 0) === classOf(shapes, 1)];
}

const asking = (constraints: NonNullable<PodFields['constraints']>): PodFields => ({ constraints });

describe('the shape of a pod', () => {
  it('is shared by pods of all templates that ask for the same', () => {
    const asks = {
      requests: { cpu: 250, memory: MIB, ephemeralStorage: MIB, extended: { gpu: 1 } },
      hostPorts: [aHostPort(80)],
      tolerations: [aToleration({ key: 'gpu' })],
      nodeSelector: labels({ zone: 'a' }),
    };
    expect(shared(asking({ ...asks }), { ...asking({ ...asks }), owner: 'api', labels: { app: 'api' } })).toEqual([
      true,
      true,
    ]);
  });

  it.each<[string, PodFields, PodFields]>([
    ['cpu', asking({ requests: { cpu: 100 } }), asking({ requests: { cpu: 101 } })],
    ['memory', asking({ requests: { memory: 100 } }), asking({ requests: { memory: 101 } })],
    ['storage', asking({ requests: { ephemeralStorage: 100 } }), asking({ requests: { ephemeralStorage: 101 } })],
    [
      'an extended resource',
      asking({ requests: { extended: { gpu: 1 } } }),
      asking({ requests: { extended: { gpu: 2 } } }),
    ],
    ['having an extended resource', asking({ requests: {} }), asking({ requests: { extended: { gpu: 1 } } })],
    ['a host port', asking({ hostPorts: [aHostPort(80)] }), asking({ hostPorts: [aHostPort(81)] })],
    ['having a host port', asking({ hostPorts: [] }), asking({ hostPorts: [aHostPort(80)] })],
    [
      'whom they want to be near',
      asking({ podAffinity: [anAffinityTerm({ app: 'db' })] }),
      asking({ podAffinity: [anAffinityTerm({ app: 'web' })] }),
    ],
    [
      'how far they are spread',
      asking({ spread: [aSpread({ app: 'db' })] }),
      asking({ spread: [aSpread({ app: 'db' }, { maxSkew: 2 })] }),
    ],
  ])('differs by %s, and not by class', (_, left, right) => {
    expect(shared(left, right)).toEqual([false, true]);
  });

  it.each<[string, PodFields, PodFields]>([
    [
      'the nodeSelector',
      asking({ nodeSelector: labels({ zone: 'a' }) }),
      asking({ nodeSelector: labels({ zone: 'b' }) }),
    ],
    ['having a nodeSelector', asking({}), asking({ nodeSelector: labels({ zone: 'b' }) })],
    ['the nodeAffinity', asking({ nodeAffinity: inZone('a') }), asking({ nodeAffinity: inZone('b') })],
    ['having a nodeAffinity', asking({}), asking({ nodeAffinity: inZone('b') })],
    ['the tolerations', asking({ tolerations: [aToleration({ key: 'x' })] }), asking({ tolerations: [aToleration()] })],
    ['having tolerations', asking({}), asking({ tolerations: [aToleration()] })],
  ])('and its class differ by %s', (_, left, right) => {
    expect(shared(left, right)).toEqual([false, false]);
  });

  it('and its class differ by the node to which the template binds', () => {
    const workloads = [aWorkload('web'), aWorkload('pinned', { pinnedNode: 'a' })];
    expect(shared({}, { owner: 'pinned' }, { workloads })).toEqual([false, false]);
    expect(shared({ owner: 'web' }, { owner: 'pinned' }, { workloads: [] })).toEqual([true, true]);
    const elsewhere = [aWorkload('elsewhere', { pinnedNode: 'b' }), ...workloads];
    expect(shared({ owner: 'elsewhere' }, { owner: 'pinned' }, { workloads: elsewhere })).toEqual([false, false]);
  });

  it('and its class differ by the volumes of each pod, though their template is one', () => {
    const constraints = clusterWith([{}]).pods[0]?.constraints;
    const template = constraints === undefined ? {} : { constraints };
    const claims = ['one', 'two', 'three'].map((name) => aClaim(name, { bound: true, volumeName: `v-${name}` }));
    const volumes = [
      aVolume('v-one', { nodeAffinity: inZone('a') }),
      aVolume('v-two', { nodeAffinity: inZone('b') }),
      aVolume('v-three', { nodeAffinity: inZone('b') }),
    ];
    const storage = {
      ...NO_STORAGE,
      claims: new Map(claims.map((claim) => [`shop/${claim.name}`, claim])),
      volumes: new Map(volumes.map((volume) => [volume.name, volume])),
    };
    const pods = ['one', 'two', 'three'].map((name) => ({ ...template, ...using(name) }));
    const { shapes } = clusterWith([template, ...pods], { storage });
    expect([1, 2, 3].map((pod) => shapes.allows(classOf(shapes, pod), 0))).toEqual([true, false, false]);
    expect(shapes.refusedBy(classOf(shapes, 2), 0)).toBe('VolumeBinding');
    // Volumes that are reached from the same nodes are two to whoever counts them, and one to the filters of nodes.
    expect(shapeOf(shapes, 2)).not.toBe(shapeOf(shapes, 3));
    expect(classOf(shapes, 2)).toBe(classOf(shapes, 3));
  });

  it('differs by priority only while the scheduler keeps room for somebody', () => {
    expect(shared({ priority: 1 }, { priority: 2 })).toEqual([true, true]);
    const waiting = { nodeName: undefined, nominatedNode: 'b', phase: 'Pending' as const };
    const { shapes } = clusterWith([{ priority: 1 }, { priority: 2 }, { priority: 1 }, waiting]);
    expect(shapeOf(shapes, 0)).not.toBe(shapeOf(shapes, 1));
    expect(shapeOf(shapes, 0)).toBe(shapeOf(shapes, 2));
    expect(classOf(shapes, 0)).toBe(classOf(shapes, 1));
  });

  it('differs by what the pod prefers only where the policy repairs that', () => {
    const preferring = (zone: string, place: number) => {
      const preferredNodeAffinity = inZone(zone).map((term) => ({ weight: 1, term }));
      return aPod(`p${place}`, { nodeName: 'a', constraints: { preferredNodeAffinity } });
    };
    const snapshot = aSnapshot({ nodes: [aNode('a')], pods: ['x', 'y', 'x'].map(preferring) });
    const shapesWith = (nodeAffinity: 'Required' | 'Preferred') => {
      const { shapes } = planningInputOf(snapshot, someOptions({ repair: { nodeAffinity } }));
      return [...shapes().shapesOf(Uint8Array.of(1, 1, 1), Int32Array.of(0)).ofPod];
    };
    expect(shapesWith('Required')).toEqual([0, 0, 0]);
    expect(shapesWith('Preferred')).toEqual([0, 1, 0]);
  });

  it('is unknown of a pod that is not moved', () => {
    const { shapes } = clusterWith([{}, { nodeName: undefined, phase: 'Pending' }]);
    expect([...shapes.ofPod]).toEqual([0, -1]);
    expect(() => shapeOf(shapes, 1)).toThrow(new RangeError('no shape for pod 1'));
    expect(shapes.classes).toEqual([classOf(shapes, 0)]);
  });

  it('holds what the filters look at', () => {
    const { shapes, pods } = clusterWith([{}, asking({ requests: { cpu: 7 } })]);
    expect(subjectOf(shapes, 1).constraints).toBe(pods[1]?.constraints);
  });

  it('names everything that its verdicts depend on', () => {
    const { shapes } = clusterWith([
      {},
      asking({ podAffinity: [anAffinityTerm({ app: 'a' })] }),
      asking({ podAntiAffinity: [anAffinityTerm({ app: 'b' })] }),
      asking({ spread: [aSpread({ app: 'c' }), aSpread({ app: 'd' })] }),
      { labels: { app: 'b' } },
    ]);
    const counted = [0, 1, 2, 3, 4].map((pod) => shapes.trackersOf[shapeOf(shapes, pod)]?.length);
    expect(counted).toEqual([0, 1, 1, 2, 1]);
  });
});

describe('the class of a shape', () => {
  it('is allowed on a node, or refused by the first of the filters that look at nodes', () => {
    const { shapes } = clusterWith([
      {},
      asking({ tolerations: [aToleration()] }),
      asking({ nodeSelector: labels({ zone: 'b' }) }),
      asking({ nodeSelector: labels({ zone: 'b' }), tolerations: [aToleration()] }),
    ]);
    const verdicts = () =>
      [0, 1, 2, 3].map((pod) =>
        [0, 1].map((node) => [shapes.allows(classOf(shapes, pod), node), shapes.refusedBy(classOf(shapes, pod), node)]),
      );
    const expected = [
      [
        [true, undefined],
        [false, 'TaintToleration'],
      ],
      [
        [true, undefined],
        [true, undefined],
      ],
      [
        [false, 'NodeAffinity'],
        [false, 'TaintToleration'],
      ],
      [
        [false, 'NodeAffinity'],
        [true, undefined],
      ],
    ];
    expect(verdicts()).toEqual(expected);
    expect(verdicts()).toEqual(expected);
    expect(shapes.classes).toHaveLength(4);
  });

  it.each<[string, PodFields]>([
    ['problem', using('gone')],
    ['class that provisions late', using('late')],
    ['taken claim', using('once')],
    ['zone', using('zonal')],
  ])('is not that of a pod without volumes for a pod with a %s', (_, fields) => {
    const zonal = aVolume('v', { labels: new Map([['topology.kubernetes.io/zone', 'a']]) });
    const claims = [
      aClaim('late', { storageClass: 'late' }),
      aClaim('once', { accessModes: ['ReadWriteOncePod'], bound: true, volumeName: 'w' }),
      aClaim('zonal', { bound: true, volumeName: 'v' }),
    ];
    const storage = {
      ...NO_STORAGE,
      claims: new Map(claims.map((claim) => [`shop/${claim.name}`, claim])),
      classes: new Map([['late', aStorageClass('late')]]),
      volumes: new Map([
        ['v', zonal],
        ['w', aVolume('w')],
      ]),
    };
    const cluster = clusterWith([{}, fields, using('once')], { storage });
    expect(classOf(cluster.shapes, 0)).not.toBe(classOf(cluster.shapes, 1));
  });

  it('has no key for pods that may run on every node', () => {
    const { shapes } = clusterWith([{}, asking({ tolerations: [aToleration()] })]);
    expect(nodeKey(subjectOf(shapes, 0))).toBe('');
    expect(nodeKey(subjectOf(shapes, 1))).not.toBe('');
    expect(nodeKey({ ...subjectOf(shapes, 0), pinnedNode: 'a' })).not.toBe('');
  });
});

describe('the size of a shape', () => {
  const sizesOf = (...requests: readonly Resources[]) => {
    const { shapes } = clusterWith(requests.map((each) => asking({ requests: each })));
    return requests.map((_, pod) => {
      const size = shapes.sizeOf[shapeOf(shapes, pod)] ?? -1;
      return { size, requests: shapes.sizes[size]?.constraints.requests };
    });
  };

  it.each([1, 2, 3, 100, 128, 150, 1000, 4095, 4096])(
    'of %i is no more than that, and at least four fifths',
    (asked) => {
      const [found] = sizesOf({ cpu: asked, memory: 1000 * asked, ephemeralStorage: 3 * asked });
      const { cpu = 0, memory = 0, ephemeralStorage = 0 } = found?.requests ?? {};
      for (const share of [cpu / asked, memory / (1000 * asked), ephemeralStorage / (3 * asked)]) {
        expect(share).toBeLessThanOrEqual(1);
        expect(share).toBeGreaterThan(0.8);
      }
    },
  );

  it('is one of four from one power of two to the next', () => {
    const sizes = Array.from({ length: 129 }, (_, place) => 128 + place);
    expect(new Set(sizesOf(...sizes.map((cpu) => ({ cpu }))).map(({ size }) => size)).size).toBe(5);
  });

  it('is nothing of what is not requested, and all of what the cluster counts by name', () => {
    const [none, some] = sizesOf({}, { extended: { gpu: 3 } });
    expect(none?.requests).toEqual(resources());
    expect(some?.requests).toEqual(resources({ extended: { gpu: 3 } }));
  });

  it('differs by each of the resources', () => {
    const found = sizesOf(
      { cpu: 100, memory: 100, ephemeralStorage: 100 },
      { cpu: 200, memory: 100, ephemeralStorage: 100 },
      { cpu: 100, memory: 200, ephemeralStorage: 100 },
      { cpu: 100, memory: 100, ephemeralStorage: 200 },
      { cpu: 100, memory: 100, ephemeralStorage: 100, extended: { gpu: 1 } },
      { cpu: 101, memory: 101, ephemeralStorage: 101 },
      { cpu: 100, memory: 100, ephemeralStorage: 100, extended: { gpu: 2 } },
    );
    expect(found.map(({ size }) => size)).toEqual([0, 1, 2, 3, 4, 0, 5]);
  });
});
