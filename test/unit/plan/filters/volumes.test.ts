import { describe, expect, it } from 'vitest';
import type { PodInfo } from '../../../../src/model/pod.ts';
import { DRIVER_MISSING, NO_STORAGE, type StorageInfo } from '../../../../src/model/storage.ts';
import { verdictsIn } from '../../../../src/plan/verdicts.ts';
import { aClaim, aStorageClass, aVolume } from '../../../support/builders/storage.ts';
import { aNode, aPod, aSnapshot, labels, selecting } from '../../../support/builders.ts';

const ZONE = 'topology.kubernetes.io/zone';
const NODES = [
  aNode('a', { labels: { [ZONE]: 'a' } }),
  aNode('b', { labels: { [ZONE]: 'b' } }),
  aNode('bare', { labels: {} }),
];
const onlyOn = (value: string) => [
  { expressions: [{ key: ZONE, operator: 'In' as const, values: [value] }], fields: [] },
];

function storage(fields: {
  readonly claims?: readonly ReturnType<typeof aClaim>[];
  readonly volumes?: readonly ReturnType<typeof aVolume>[];
  readonly classes?: readonly ReturnType<typeof aStorageClass>[];
  readonly attachLimits?: StorageInfo['attachLimits'];
}): StorageInfo {
  return {
    ...NO_STORAGE,
    claims: new Map(fields.claims?.map((claim) => [`${claim.namespace}/${claim.name}`, claim])),
    volumes: new Map(fields.volumes?.map((volume) => [volume.name, volume])),
    classes: new Map(fields.classes?.map((each) => [each.name, each])),
    ...(fields.attachLimits === undefined ? {} : { attachLimits: fields.attachLimits }),
  };
}

const WITH_DATA = { claims: [{ name: 'data', template: undefined }] };

/** By node, the filters that refuse the pod. */
function refusals(pod: PodInfo, known: StorageInfo, pods: readonly PodInfo[] = []): Record<string, readonly string[]> {
  const verdict = verdictsIn(aSnapshot({ nodes: NODES, pods, storage: known }));
  return Object.fromEntries(NODES.map((node) => [node.name, verdict(pod, node).refusals.map(({ filter }) => filter)]));
}

describe('VolumeBinding', () => {
  const pod = aPod('p', WITH_DATA);
  const bound = aClaim('data', { volumeName: 'v', bound: true });

  it('wants a node within reach of a bound volume', () => {
    const known = storage({ claims: [bound], volumes: [aVolume('v', { nodeAffinity: onlyOn('b') })] });
    expect(refusals(pod, known)).toEqual({ a: ['VolumeBinding'], b: [], bare: ['VolumeBinding'] });
  });

  it('wants a node that meets any of the terms of a bound volume', () => {
    const known = storage({
      claims: [bound],
      volumes: [aVolume('v', { nodeAffinity: [...onlyOn('a'), ...onlyOn('b')] })],
    });
    expect(refusals(pod, known)).toEqual({ a: [], b: [], bare: ['VolumeBinding'] });
  });

  it.each([
    { what: 'a claim that does not exist', known: storage({}) },
    { what: 'a claim that lost its volume', known: storage({ claims: [aClaim('data', { lost: true })] }) },
    { what: 'a claim that is being deleted', known: storage({ claims: [{ ...bound, terminating: true }] }) },
    { what: 'a volume that does not exist', known: storage({ claims: [bound] }) },
    {
      what: 'a claim that is bound before a node is chosen',
      known: storage({
        claims: [aClaim('data', { storageClass: 'fast' })],
        classes: [aStorageClass('fast', { waitForFirstConsumer: false })],
      }),
    },
    {
      what: 'a class whose capacity is not known',
      known: storage({
        claims: [aClaim('data', { storageClass: 'fast' })],
        classes: [aStorageClass('fast', { tracksCapacity: true })],
      }),
    },
  ])('refuses every node for $what', ({ known }) => {
    expect(new Set(Object.values(refusals(pod, known)).flat())).toEqual(new Set(['VolumeBinding']));
  });

  it('finds a free volume for a claim that waits for a node: large enough, of its class, within reach', () => {
    const claim = aClaim('data', { storageClass: 'local', size: 10 });
    const classes = [aStorageClass('local', { provisioner: 'kubernetes.io/no-provisioner' })];
    const volumes = [
      aVolume('small', { storageClass: 'local', size: 5, nodeAffinity: onlyOn('a') }),
      aVolume('right', { storageClass: 'local', size: 10, nodeAffinity: onlyOn('b') }),
      aVolume('other', { storageClass: 'slow', size: 10 }),
    ];
    expect(refusals(pod, storage({ claims: [claim], classes, volumes }))).toEqual({
      a: ['VolumeBinding'],
      b: [],
      bare: ['VolumeBinding'],
    });
  });

  it('gives two claims two volumes', () => {
    const two = aPod('p', { claims: ['data', 'logs'].map((name) => ({ name, template: undefined })) });
    const claims = [aClaim('data', { storageClass: 'local' }), aClaim('logs', { storageClass: 'local' })];
    const classes = [aStorageClass('local', { provisioner: 'kubernetes.io/no-provisioner' })];
    const one = [aVolume('v1', { storageClass: 'local', nodeAffinity: onlyOn('a') })];
    expect(refusals(two, storage({ claims, classes, volumes: one })).a).toEqual(['VolumeBinding']);
    const both = [...one, aVolume('v2', { storageClass: 'local', nodeAffinity: onlyOn('a') })];
    expect(refusals(two, storage({ claims, classes, volumes: both })).a).toEqual([]);
  });

  describe('for a claim of ten bytes that waits for a node', () => {
    const claim = aClaim('data', {
      storageClass: 'local',
      size: 10,
      accessModes: ['ReadWriteOnce', 'ReadOnlyMany'],
      selector: selecting({ disk: 'ssd', tier: 'gold' }),
    });
    const classes = [aStorageClass('local', { provisioner: 'kubernetes.io/no-provisioner' })];
    const fitting = {
      storageClass: 'local',
      size: 10,
      accessModes: ['ReadOnlyMany', 'ReadWriteOnce'],
      labels: labels({ disk: 'ssd', tier: 'gold' }),
    };
    const reserved = { namespace: 'shop', name: 'data', uid: 'uid-data' };

    it.each<[string, Parameters<typeof aVolume>[1], boolean]>([
      ['is as large as asked', {}, true],
      ['is larger', { size: 11 }, true],
      ['is smaller', { size: 9 }, false],
      ['has another mode', { volumeMode: 'Block' }, false],
      ['has another class', { storageClass: 'other' }, false],
      ['has no class', { storageClass: undefined }, false],
      ['lacks an access mode', { accessModes: ['ReadWriteOnce'] }, false],
      ['lacks a label', { labels: labels({ disk: 'ssd' }) }, false],
      ['is not available', { available: false }, false],
      ['is of another claim', { claim: { ...reserved, name: 'logs' } }, false],
      ['is of a claim in another namespace', { claim: { ...reserved, namespace: 'bank' } }, false],
      ['is of an earlier claim of the name', { claim: { ...reserved, uid: 'uid-before' } }, false],
      ['is reserved for it', { claim: reserved }, true],
      ['is reserved for its name', { claim: { ...reserved, uid: undefined } }, true],
      ['is reserved for it and of another class', { claim: reserved, storageClass: 'other', available: false }, true],
      ['is reserved for it and too small', { claim: reserved, size: 9 }, false],
    ])('a volume that %s', (_, fields, does) => {
      const known = storage({ claims: [claim], classes, volumes: [aVolume('v', { ...fitting, ...fields })] });
      expect(refusals(pod, known).a).toEqual(does ? [] : ['VolumeBinding']);
    });

    it('a volume that is reserved for it is the only one, wherever it is', () => {
      const free = aVolume('free', fitting);
      const own = aVolume('own', { ...fitting, claim: reserved, nodeAffinity: onlyOn('b') });
      for (const volumes of [
        [free, own],
        [own, free],
      ]) {
        expect(refusals(pod, storage({ claims: [claim], classes, volumes }))).toEqual({
          a: ['VolumeBinding'],
          b: [],
          bare: ['VolumeBinding'],
        });
      }
    });
  });

  it('keeps the larger volume for the larger claim, in whatever order both are mounted and known', () => {
    const names = ['large', 'small'];
    const sizes = { large: 20, small: 10 };
    const claims = [
      aClaim('large', { storageClass: 'local', size: sizes.large }),
      aClaim('small', { storageClass: 'local', size: sizes.small }),
    ];
    const classes = [aStorageClass('local', { provisioner: 'kubernetes.io/no-provisioner' })];
    const volumes = [
      aVolume('v20', { storageClass: 'local', size: 20 }),
      aVolume('v10', { storageClass: 'local', size: 10 }),
    ];
    for (const order of [names, names.toReversed()]) {
      for (const known of [volumes, volumes.toReversed()]) {
        const two = aPod('p', { claims: order.map((name) => ({ name, template: undefined })) });
        expect(refusals(two, storage({ claims, classes, volumes: known })).a).toEqual([]);
      }
    }
  });

  it('takes a free volume rather than one that its class would provision elsewhere', () => {
    const claims = [aClaim('data', { storageClass: 'cloud' })];
    const classes = [
      aStorageClass('cloud', {
        allowedTopologies: [[{ key: ZONE, operator: 'In', values: ['b'] }]],
        tracksCapacity: true,
      }),
    ];
    const volumes = [aVolume('v', { storageClass: 'cloud', nodeAffinity: onlyOn('a') })];
    expect(refusals(pod, storage({ claims, classes, volumes }))).toEqual({
      a: [],
      b: ['VolumeBinding'],
      bare: ['VolumeBinding'],
    });
  });

  it('lets a class provision where all requirements of any of its topologies are met', () => {
    const claims = [aClaim('data', { storageClass: 'cloud' })];
    const inZone = (zone: string) => ({ key: ZONE, operator: 'In' as const, values: [zone] });
    const onSsd = { key: 'disk', operator: 'In' as const, values: ['ssd'] };
    const provisions = (...allowedTopologies: readonly ReturnType<typeof inZone>[][]) =>
      refusals(pod, storage({ claims, classes: [aStorageClass('cloud', { allowedTopologies })] }));
    expect(provisions([inZone('a')], [inZone('b')])).toEqual({ a: [], b: [], bare: ['VolumeBinding'] });
    expect(provisions([inZone('a'), onSsd]).a).toEqual(['VolumeBinding']);
  });

  it('lets a class provision where its topologies allow', () => {
    const claims = [aClaim('data', { storageClass: 'cloud' })];
    const classes = [aStorageClass('cloud', { allowedTopologies: [[{ key: ZONE, operator: 'In', values: ['a'] }]] })];
    expect(refusals(pod, storage({ claims, classes })).a).toEqual([]);
    expect(refusals(pod, storage({ claims, classes })).b).toEqual(['VolumeBinding']);
  });

  it('sees a new claim in the ephemeral volume of a pod that runs', () => {
    const template = aClaim('p-tmp', { storageClass: 'cloud' });
    const runs = aPod('p', { nodeName: 'a', claims: [{ name: 'p-tmp', template }] });
    const known = storage({
      claims: [aClaim('p-tmp', { volumeName: 'v', bound: true })],
      volumes: [aVolume('v', { nodeAffinity: onlyOn('a') })],
      classes: [aStorageClass('cloud')],
    });
    expect(refusals(runs, known, [runs])).toEqual({ a: [], b: [], bare: [] });
  });
});

describe('VolumeZone', () => {
  it('wants the zone of the volume, but on a node without any zone', () => {
    const known = storage({
      claims: [aClaim('data', { volumeName: 'v', bound: true })],
      volumes: [aVolume('v', { labels: new Map([['failure-domain.beta.kubernetes.io/zone', 'b__c']]) })],
    });
    expect(refusals(aPod('p', WITH_DATA), known)).toEqual({ a: ['VolumeZone'], b: [], bare: [] });
  });

  it('takes the label of the node as it is on the volume before the one of today', () => {
    const beta = 'failure-domain.beta.kubernetes.io/zone';
    const known = storage({
      claims: [aClaim('data', { volumeName: 'v', bound: true })],
      volumes: [aVolume('v', { labels: new Map([[beta, 'b']]) })],
    });
    const nodes = [
      aNode('a', { labels: { [ZONE]: 'b', [beta]: 'a' } }),
      aNode('b', { labels: { [ZONE]: 'a', [beta]: 'b' } }),
      aNode('region', { labels: { 'topology.kubernetes.io/region': 'r' } }),
    ];
    const verdict = verdictsIn(aSnapshot({ nodes, storage: known }));
    const refused = nodes.map((node) => verdict(aPod('p', WITH_DATA), node).refusals[0]);
    // A node with the label of a region alone is somewhere, and not in the zone.
    expect(refused).toEqual([
      { filter: 'VolumeZone', volume: 'v', zone: 'b' },
      undefined,
      { filter: 'VolumeZone', volume: 'v', zone: 'b' },
    ]);
  });

  it('wants the zone as well as the region', () => {
    const known = storage({
      claims: [aClaim('data', { volumeName: 'v', bound: true })],
      volumes: [
        aVolume('v', {
          labels: new Map([
            [ZONE, 'a'],
            ['topology.kubernetes.io/region', 'r'],
          ]),
        }),
      ],
    });
    const nodes = ['r', 'q'].map((region) =>
      aNode(region, { labels: { [ZONE]: 'a', 'topology.kubernetes.io/region': region } }),
    );
    const verdict = verdictsIn(aSnapshot({ nodes, storage: known }));
    expect(nodes.map((node) => verdict(aPod('p', WITH_DATA), node).refusals)).toEqual([
      [],
      [{ filter: 'VolumeZone', volume: 'v', zone: 'r' }],
    ]);
  });
});

describe('VolumeRestrictions', () => {
  it('keeps a pod off every node while another pod uses its ReadWriteOncePod claim', () => {
    const known = storage({
      claims: [aClaim('data', { volumeName: 'v', bound: true, accessModes: ['ReadWriteOncePod'] })],
      volumes: [aVolume('v')],
    });
    const pod = aPod('p', { ...WITH_DATA, nodeName: 'a' });
    expect(refusals(pod, known, [pod]).b).toEqual([]);
    expect(refusals(pod, known, [pod, aPod('q', { ...WITH_DATA, nodeName: 'b' })]).a).toEqual(['VolumeRestrictions']);
  });
});

describe('NodeVolumeLimits', () => {
  const csi = (handle: string) => ({ driver: 'csi.x', handle });
  const known = storage({
    claims: ['one', 'two', 'data'].map((name) => aClaim(name, { volumeName: `v-${name}`, bound: true })),
    volumes: ['one', 'two', 'data'].map((name) => aVolume(`v-${name}`, { csi: csi(name) })),
    attachLimits: new Map([['a', new Map([['csi.x', 2]])]]),
  });
  const using = (name: string, claim: string) =>
    aPod(name, { nodeName: 'a', claims: [{ name: claim, template: undefined }] });

  it('counts the volumes of a driver on a node, each once', () => {
    expect(refusals(aPod('p', WITH_DATA), known, [using('q', 'one')]).a).toEqual([]);
    expect(refusals(aPod('p', WITH_DATA), known, [using('q', 'one'), using('r', 'one')]).a).toEqual([]);
    expect(refusals(aPod('p', WITH_DATA), known, [using('q', 'one'), using('r', 'two')])).toEqual({
      a: ['NodeVolumeLimits'],
      b: [],
      bare: [],
    });
  });

  it('adds nothing for a volume that is there already', () => {
    const shared = [using('q', 'one'), using('r', 'data')];
    expect(refusals(aPod('p', WITH_DATA), known, shared).a).toEqual([]);
  });

  it('tells how many the pod brings and how many the node can still attach', () => {
    const both = aPod('p', { claims: ['one', 'data'].map((name) => ({ name, template: undefined })) });
    const refusalAmong = (pods: readonly PodInfo[]) =>
      verdictsIn(aSnapshot({ nodes: NODES, pods, storage: known }))(both, NODES[0] ?? aNode('a')).refusals;
    expect(refusalAmong([])).toEqual([]);
    expect(refusalAmong([using('q', 'one')])).toEqual([]);
    expect(refusalAmong([using('q', 'two')])).toEqual([
      { filter: 'NodeVolumeLimits', driver: 'csi.x', need: 2, free: 1 },
    ]);
  });

  it('refuses a node that lacks a driver which must be installed, even for a volume that is there already', () => {
    const lacking = { ...known, attachLimits: new Map([['a', new Map([['csi.x', DRIVER_MISSING]])]]) };
    expect(refusals(aPod('p', WITH_DATA), lacking, [using('r', 'data')])).toEqual({
      a: ['NodeVolumeLimits'],
      b: [],
      bare: [],
    });
    expect(refusals(aPod('p'), lacking).a).toEqual([]);
  });
});
