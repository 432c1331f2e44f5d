import { describe, expect, it } from 'vitest';
import { DRIVER_MISSING, NO_STORAGE } from '../../../src/model/storage.ts';
import { buildSnapshot } from '../../../src/observe/snapshot-builder.ts';
import { aRawClaim, aRawNode, aRawPod, aRawStorageClass, aRawVolume, type Raw } from '../../support/builders/raw.ts';

const BOUND = { 'pv.kubernetes.io/bind-completed': 'yes', 'pv.kubernetes.io/bound-by-controller': 'yes' };
const DEFAULT = { 'storageclass.kubernetes.io/is-default-class': 'true' };

const claimOf = (raw: Raw, ...others: readonly Raw[]) =>
  [...buildSnapshot([raw, ...others]).storage.claims.values()][0];
const volumeOf = (raw: Raw) => [...buildSnapshot([raw]).storage.volumes.values()][0];
const classOf = (raw: Raw, ...others: readonly Raw[]) =>
  [...buildSnapshot([raw, ...others]).storage.classes.values()][0];
const problemOf = (raw: Raw) => buildSnapshot([raw]).problems[0];

describe('a cluster without volumes', () => {
  it('has no storage', () => {
    expect(buildSnapshot([aRawNode('a'), aRawPod('p')]).storage).toEqual(NO_STORAGE);
  });
});

describe('a PersistentVolumeClaim', () => {
  it('says what it asks for and what it got', () => {
    expect(buildSnapshot([aRawClaim('data')]).storage.claims).toEqual(
      new Map([
        [
          'shop/data',
          {
            namespace: 'shop',
            name: 'data',
            uid: 'claim-data',
            storageClass: 'fast',
            accessModes: ['ReadWriteOnce'],
            size: 10 * 2 ** 30,
            selector: undefined,
            volumeMode: 'Filesystem',
            volumeName: 'pvc-1',
            bound: true,
            terminating: false,
            lost: false,
          },
        ],
      ]),
    );
  });

  it('is bound once the binding is complete', () => {
    expect(claimOf(aRawClaim('data', { metadata: { annotations: {} } }))).toMatchObject({ bound: false });
    expect(claimOf(aRawClaim('data', { metadata: { annotations: undefined } }))).toMatchObject({ bound: false });
    expect(claimOf(aRawClaim('data', { spec: { volumeName: '' } }))).toMatchObject({
      bound: false,
      volumeName: undefined,
    });
  });

  it('is bound when written by hand with a volume and no annotations', () => {
    const written = (metadata: Raw, spec: Raw) =>
      claimOf({ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'data', ...metadata }, spec });
    expect(written({}, { volumeName: 'v' })).toMatchObject({ namespace: 'default', bound: true, size: 0 });
    expect(written({ annotations: { other: 'x' } }, { volumeName: 'v' })).toMatchObject({ bound: false });
    expect(written({}, {})).toMatchObject({ bound: false, volumeMode: 'Filesystem', accessModes: [] });
  });

  it('tells when it or its volume is going', () => {
    expect(claimOf(aRawClaim('data', { status: { phase: 'Lost' } }))).toMatchObject({ lost: true });
    expect(claimOf(aRawClaim('data', { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } }))).toMatchObject({
      terminating: true,
    });
  });

  it('has the class of the earlier annotation before that of its spec', () => {
    const annotations = { ...BOUND, 'volume.beta.kubernetes.io/storage-class': 'old' };
    expect(claimOf(aRawClaim('data', { metadata: { annotations } }))?.storageClass).toBe('old');
  });

  it('with a malformed annotation of its class is a problem', () => {
    const annotations = { ...BOUND, 'volume.beta.kubernetes.io/storage-class': 7 };
    expect(problemOf(aRawClaim('data', { metadata: { annotations } }))).toContain(
      'PersistentVolumeClaim shop/data: metadata.annotations.volume.beta.kubernetes.io/storage-class: 7 is not text',
    );
  });

  it('gets the default class while it is not bound and names none', () => {
    const usual = aRawStorageClass('usual', {}, { annotations: DEFAULT });
    const unbound = (spec: Raw) => aRawClaim('data', { metadata: { annotations: {} }, spec });
    expect(claimOf(unbound({ storageClassName: undefined }), usual)?.storageClass).toBe('usual');
    expect(claimOf(unbound({ storageClassName: '' }), usual)?.storageClass).toBeUndefined();
    expect(claimOf(unbound({ storageClassName: undefined }), aRawStorageClass('other'))?.storageClass).toBeUndefined();
    expect(claimOf(aRawClaim('data', { spec: { storageClassName: undefined } }), usual)?.storageClass).toBeUndefined();
  });

  it('may select volumes by their labels', () => {
    expect(claimOf(aRawClaim('data', { spec: { selector: { matchLabels: { tier: 'gold' } } } }))?.selector).toEqual({
      requirements: [{ key: 'tier', operator: 'In', values: ['gold'] }],
    });
  });

  it.each<[string, Raw, string]>([
    ['size', { resources: { requests: { storage: 'much' } } }, 'resources.requests.storage: "much" is not a quantity'],
    ['mode', { volumeMode: 'Tape' }, 'volumeMode: "Tape" is not a mode: write Filesystem or Block'],
    ['volume name', { volumeName: 7 }, 'volumeName: 7 is not text'],
    ['class', { storageClassName: 7 }, 'storageClassName: 7 is not text'],
  ])('with a malformed %s is a problem', (_, spec, problem) => {
    expect(problemOf(aRawClaim('data', { spec }))).toContain(`PersistentVolumeClaim shop/data: spec.${problem}`);
  });
});

describe('a PersistentVolume', () => {
  it('says what it offers, to whom and where', () => {
    expect(volumeOf(aRawVolume('pvc-1', { metadata: { labels: { 'topology.kubernetes.io/zone': 'a' } } }))).toEqual({
      name: 'pvc-1',
      labels: new Map([['topology.kubernetes.io/zone', 'a']]),
      storageClass: 'fast',
      accessModes: ['ReadWriteOnce'],
      size: 10 * 2 ** 30,
      volumeMode: 'Filesystem',
      claim: { namespace: 'shop', name: 'data', uid: 'claim-data' },
      available: false,
      nodeAffinity: [{ expressions: [{ key: 'zone', operator: 'In', values: ['a'] }], fields: [] }],
      csi: { driver: 'ebs.csi.aws.com', handle: 'vol-1' },
    });
  });

  it('is available in that phase, unless it is going or is for claims with an attributes class', () => {
    const free = { claimRef: undefined };
    const status = { phase: 'Available' };
    const available = (raw: Parameters<typeof aRawVolume>[1]) => volumeOf(aRawVolume('v', raw))?.available;
    expect(available({ spec: free, status })).toBe(true);
    expect(available({ spec: free, status: { phase: 'Released' } })).toBe(false);
    expect(available({ spec: free, status: { phase: undefined } })).toBe(false);
    expect(available({ spec: { ...free, volumeAttributesClassName: 'gold' }, status })).toBe(false);
    expect(available({ spec: free, status, metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } })).toBe(false);
  });

  it('is available when written by hand without a claim, and fits everywhere', () => {
    const written = (spec: Raw) =>
      volumeOf({ apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name: 'v' }, spec });
    expect(written({})).toEqual({
      name: 'v',
      labels: new Map(),
      storageClass: undefined,
      accessModes: [],
      size: 0,
      volumeMode: 'Filesystem',
      claim: undefined,
      available: true,
      nodeAffinity: undefined,
      csi: undefined,
    });
    expect(written({ claimRef: { name: 'data' } })).toMatchObject({
      available: false,
      claim: { namespace: 'default', name: 'data', uid: undefined },
    });
  });

  it('compares only labels of nodes', () => {
    const inZone = { key: 'zone', operator: 'In', values: ['a'] };
    const onNode = { key: 'metadata.name', operator: 'In', values: ['a'] };
    const affinity = (...nodeSelectorTerms: readonly Raw[]) =>
      volumeOf(aRawVolume('v', { spec: { nodeAffinity: { required: { nodeSelectorTerms } } } }))?.nodeAffinity;
    expect(affinity({ matchExpressions: [inZone], matchFields: [onNode] })).toEqual([
      { expressions: [inZone], fields: [] },
    ]);
    expect(affinity({ matchExpressions: [inZone] }, { matchFields: [onNode] })).toBeUndefined();
    expect(affinity({})).toEqual([{ expressions: [], fields: [] }]);
    expect(affinity()).toEqual([]);
  });

  it('of an earlier kind is served by a CSI driver where there is one', () => {
    const served = (source: Raw) => volumeOf(aRawVolume('v', { spec: { csi: undefined, ...source } }))?.csi;
    expect(served({ gcePersistentDisk: { pdName: 'disk' } })).toEqual({
      driver: 'pd.csi.storage.gke.io',
      handle: 'disk',
    });
    expect(served({ awsElasticBlockStore: { volumeID: 'vol-2' } })?.driver).toBe('ebs.csi.aws.com');
    expect(served({ local: { path: '/disk' } })).toBeUndefined();
  });

  it.each([
    ['awsElasticBlockStore', 'volumeID', 'ebs.csi.aws.com'],
    ['azureDisk', 'diskURI', 'disk.csi.azure.com'],
    ['cinder', 'volumeID', 'cinder.csi.openstack.org'],
    ['gcePersistentDisk', 'pdName', 'pd.csi.storage.gke.io'],
    ['portworxVolume', 'volumeID', 'pxd.portworx.com'],
  ])('of kind %s is named by its %s', (source, handle, driver) => {
    const served = (content: Raw) => volumeOf(aRawVolume('v', { spec: { csi: undefined, [source]: content } }))?.csi;
    expect(served({ [handle]: 'disk' })).toEqual({ driver, handle: 'disk' });
    expect(served({})).toEqual({ driver, handle: '' });
  });

  it('of a CSI driver that names neither the driver nor the volume has empty names, and comes before other kinds', () => {
    expect(volumeOf(aRawVolume('v', { spec: { csi: {} } }))?.csi).toEqual({ driver: '', handle: '' });
    const both = { csi: { driver: 'd', volumeHandle: 'h' }, cinder: { volumeID: 'c' } };
    expect(volumeOf(aRawVolume('v', { spec: both }))?.csi).toEqual({ driver: 'd', handle: 'h' });
  });

  it('belongs to a claim of the namespace default where it names none, and to none without a name', () => {
    const claimed = (claimRef: Raw) => volumeOf(aRawVolume('v', { spec: { claimRef } }))?.claim;
    expect(claimed({ name: 'data', namespace: '' })).toEqual({ namespace: 'default', name: 'data', uid: undefined });
    expect(claimed({ name: 'data', namespace: 'shop', uid: 'u' })).toEqual({
      namespace: 'shop',
      name: 'data',
      uid: 'u',
    });
    expect(problemOf(aRawVolume('v', { spec: { claimRef: { name: '' } } }))).toContain('claimRef.name: is missing');
  });

  it('with a phase is available by that alone, written by hand or not', () => {
    const written = (metadata: Raw, status: Raw) =>
      volumeOf({ apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name: 'v', ...metadata }, spec: {}, status });
    expect(written({}, { phase: 'Bound' })?.available).toBe(false);
    expect(written({}, { phase: 'Available' })?.available).toBe(true);
    expect(written({}, { phase: '' })?.available).toBe(true);
    expect(written({ uid: 'u' }, {})?.available).toBe(false);
  });

  it.each(['Filesystem', 'Block'])('may have the mode %s', (volumeMode) => {
    expect(volumeOf(aRawVolume('v', { spec: { volumeMode } }))?.volumeMode).toBe(volumeMode);
    expect(volumeOf(aRawVolume('v', { spec: { volumeMode: '' } }))?.volumeMode).toBe('Filesystem');
  });

  it('has the size that is a part of a byte rounded up, and the class of the earlier annotation', () => {
    expect(volumeOf(aRawVolume('v', { spec: { capacity: { storage: '1.5' } } }))?.size).toBe(2);
    const annotations = { 'volume.beta.kubernetes.io/storage-class': 'old' };
    expect(volumeOf(aRawVolume('v', { metadata: { annotations } }))?.storageClass).toBe('old');
  });

  it.each<[string, Raw, string]>([
    ['capacity', { capacity: { storage: '-1' } }, 'capacity.storage: "-1" is negative'],
    ['claim', { claimRef: { namespace: 'shop' } }, 'claimRef.name: is missing'],
    [
      'affinity',
      { nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'k', operator: 'Like' }] }] } } },
      'nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[0].operator: "Like" is not an operator',
    ],
    ['driver', { csi: { driver: 7 } }, 'csi.driver: 7 is not text'],
  ])('with a malformed %s is a problem', (_, spec, problem) => {
    expect(problemOf(aRawVolume('v', { spec }))).toContain(`PersistentVolume v: spec.${problem}`);
  });
});

describe('a StorageClass', () => {
  const driver = (spec: Raw): Raw => ({
    apiVersion: 'storage.k8s.io/v1',
    kind: 'CSIDriver',
    metadata: { name: 'ebs.csi.aws.com' },
    spec,
  });

  it('says who provisions, when and where', () => {
    const allowedTopologies = [
      {
        matchLabelExpressions: [
          { key: 'zone', values: ['a', 'b'] },
          { key: 'rack', values: ['1'] },
        ],
      },
      { matchLabelExpressions: [] },
    ];
    expect(classOf(aRawStorageClass('fast', { allowedTopologies }))).toEqual({
      name: 'fast',
      provisioner: 'ebs.csi.aws.com',
      waitForFirstConsumer: true,
      allowedTopologies: [
        [
          { key: 'zone', operator: 'In', values: ['a', 'b'] },
          { key: 'rack', operator: 'In', values: ['1'] },
        ],
      ],
      tracksCapacity: false,
    });
  });

  it('keeps a topology of one requirement', () => {
    const allowedTopologies = [{ matchLabelExpressions: [{ key: 'zone', values: ['a'] }] }];
    expect(classOf(aRawStorageClass('fast', { allowedTopologies }))?.allowedTopologies).toEqual([
      [{ key: 'zone', operator: 'In', values: ['a'] }],
    ]);
  });

  it('binds at once unless it says otherwise', () => {
    expect(classOf(aRawStorageClass('fast', { volumeBindingMode: undefined }))).toMatchObject({
      waitForFirstConsumer: false,
    });
    expect(classOf(aRawStorageClass('fast', { volumeBindingMode: 'Immediate' }))).toMatchObject({
      waitForFirstConsumer: false,
    });
  });

  it('tracks capacity when its driver publishes it', () => {
    const tracks = (...others: readonly Raw[]) => classOf(aRawStorageClass('fast'), ...others)?.tracksCapacity;
    expect(tracks(driver({ storageCapacity: true }))).toBe(true);
    expect(tracks(driver({ storageCapacity: false }))).toBe(false);
    expect(tracks(driver({}))).toBe(false);
    expect(tracks()).toBe(false);
  });

  it('of a provisioner of earlier versions is that of the CSI driver in its place', () => {
    expect(classOf(aRawStorageClass('old', { provisioner: 'kubernetes.io/aws-ebs' }))?.provisioner).toBe(
      'ebs.csi.aws.com',
    );
    expect(classOf(aRawStorageClass('old', { provisioner: 'kubernetes.io/portworx-volume' }))?.provisioner).toBe(
      'pxd.portworx.com',
    );
    expect(classOf(aRawStorageClass('none', { provisioner: 'kubernetes.io/no-provisioner' }))?.provisioner).toBe(
      'kubernetes.io/no-provisioner',
    );
  });

  it('that allows no node, or is malformed, is a problem', () => {
    expect(problemOf(aRawStorageClass('fast', { allowedTopologies: [{}] }))).toContain(
      'StorageClass fast: allowedTopologies: allows no node',
    );
    expect(problemOf(aRawStorageClass('fast', { provisioner: 7 }))).toContain(
      'StorageClass fast: provisioner: 7 is not text',
    );
    expect(
      problemOf(
        aRawStorageClass('fast', { allowedTopologies: [{ matchLabelExpressions: [{ key: 'zone', values: 'a' }] }] }),
      ),
    ).toContain('allowedTopologies[0].matchLabelExpressions[0].values: "a" is not a list');
    expect(problemOf(driver({ storageCapacity: 'yes' }))).toContain(
      'CSIDriver ebs.csi.aws.com: spec.storageCapacity: "yes" is not a boolean',
    );
  });
});

describe('the default StorageClass', () => {
  const scratch = (storageClassName?: string) => ({
    name: 'scratch',
    ephemeral: {
      volumeClaimTemplate: {
        spec: { accessModes: ['ReadWriteOnce'], ...(storageClassName === undefined ? {} : { storageClassName }) },
      },
    },
  });
  const given = (volume: Raw, ...classes: readonly Raw[]) =>
    buildSnapshot([aRawPod('p', { spec: { volumes: [volume] } }), ...classes]).pods[0]?.claims[0]?.template
      ?.storageClass;
  const marked = (name: string, creationTimestamp: string, annotations: Raw = DEFAULT) =>
    aRawStorageClass(name, {}, { creationTimestamp, annotations });

  it('is that of ephemeral volumes that name none', () => {
    const usual = marked('usual', '2026-01-01T00:00:00Z');
    expect(given(scratch(), usual)).toBe('usual');
    expect(given(scratch('fast'), usual)).toBe('fast');
    expect(given(scratch(''), usual)).toBeUndefined();
    expect(given(scratch(), aRawStorageClass('other'))).toBeUndefined();
  });

  it('is not that of other claims of the pod', () => {
    const volumes = [
      { ...scratch(), name: 'usual' },
      { ...scratch('fast'), name: 'fast' },
      { ...scratch(''), name: 'none' },
      { name: 'data', persistentVolumeClaim: { claimName: 'data' } },
    ];
    const { pods } = buildSnapshot([aRawPod('p', { spec: { volumes } }), marked('default', '2026-01-01T00:00:00Z')]);
    expect(
      pods[0]?.claims.map(({ name, template }) => [name, template && (template.storageClass ?? 'no class')]),
    ).toEqual([
      ['p-usual', 'default'],
      ['p-fast', 'fast'],
      ['p-none', 'no class'],
      ['data', undefined],
    ]);
  });

  it('is the newest of several, then the first by name', () => {
    const old = marked('a', '2026-01-01T00:00:00Z');
    const [c, b] = [marked('c', '2026-01-02T00:00:00Z'), marked('b', '2026-01-02T00:00:00Z')];
    expect(given(scratch(), old, c, b)).toBe('b');
    expect(given(scratch(), old, c)).toBe('c');
  });

  it('may carry the annotation of earlier versions, and must carry true', () => {
    const beta = { 'storageclass.beta.kubernetes.io/is-default-class': 'true' };
    const no = { 'storageclass.kubernetes.io/is-default-class': 'false' };
    expect(given(scratch(), marked('usual', '2026-01-01T00:00:00Z', beta))).toBe('usual');
    expect(given(scratch(), marked('usual', '2026-01-01T00:00:00Z', no))).toBeUndefined();
  });
});

describe('a CSINode', () => {
  const csiNode = (drivers: unknown): Raw => ({
    apiVersion: 'storage.k8s.io/v1',
    kind: 'CSINode',
    metadata: { name: 'a', annotations: { 'storage.alpha.kubernetes.io/migrated-plugins': 'kubernetes.io/aws-ebs' } },
    spec: { drivers },
  });

  it('limits how many volumes a driver attaches', () => {
    const drivers = [
      { name: 'ebs.csi.aws.com', nodeID: 'i-1', topologyKeys: ['zone'], allocatable: { count: 25 } },
      { name: 'none.example.com', nodeID: 'a', allocatable: { count: 0 } },
      { name: 'nfs.csi.k8s.io', nodeID: 'a', topologyKeys: null },
    ];
    expect(buildSnapshot([csiNode(drivers)]).storage.attachLimits).toEqual(
      new Map([
        [
          'a',
          new Map([
            ['ebs.csi.aws.com', 25],
            ['none.example.com', 0],
          ]),
        ],
      ]),
    );
    expect(buildSnapshot([csiNode(null)]).storage.attachLimits).toEqual(new Map([['a', new Map()]]));
  });

  it('attaches nothing by a driver that must be installed and is not there', () => {
    const driver = (name: string, preventPodSchedulingIfMissing?: boolean): Raw => ({
      apiVersion: 'storage.k8s.io/v1',
      kind: 'CSIDriver',
      metadata: { name },
      spec: { preventPodSchedulingIfMissing },
    });
    const bare: Raw = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'b' } };
    const drivers = [{ name: 'here.example.com' }, { name: 'few.example.com', allocatable: { count: 2 } }];
    const needed = ['here.example.com', 'few.example.com', 'there.example.com'].map((name) => driver(name, true));
    const { storage } = buildSnapshot([csiNode(drivers), bare, ...needed, driver('any.example.com')]);
    expect(storage.attachLimits).toEqual(
      new Map([
        [
          'a',
          new Map([
            ['few.example.com', 2],
            ['there.example.com', DRIVER_MISSING],
          ]),
        ],
        [
          'b',
          new Map([
            ['few.example.com', DRIVER_MISSING],
            ['here.example.com', DRIVER_MISSING],
            ['there.example.com', DRIVER_MISSING],
          ]),
        ],
      ]),
    );
  });

  it('with a malformed count is a problem', () => {
    const counting = (count: unknown) => problemOf(csiNode([{ name: 'd', allocatable: { count } }]));
    expect(counting(-1)).toBe('CSINode a: spec.drivers[0].allocatable.count: -1 is negative');
    expect(counting('many')).toContain('CSINode a: spec.drivers[0].allocatable.count: "many" is not a whole number');
  });
});
