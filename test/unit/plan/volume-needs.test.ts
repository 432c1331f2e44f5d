import { describe, expect, it } from 'vitest';
import type { PodInfo } from '../../../src/model/pod.ts';
import { NO_STORAGE, type StorageInfo } from '../../../src/model/storage.ts';
import { bytes } from '../../../src/model/units.ts';
import { sortIntoKinds } from '../../../src/plan/pod-kinds.ts';
import { indexVolumes, NO_VOLUMES, type VolumeNeeds } from '../../../src/plan/volume-needs.ts';
import { aClaim, aStorageClass, aVolume } from '../../support/builders/storage.ts';
import { aPod, labels, type PodFields } from '../../support/builders.ts';

const LATE = aStorageClass('late', { provisioner: 'disk.example.com' });

function needsOf(
  claims: readonly ReturnType<typeof aClaim>[],
  pod: PodFields,
  others: readonly PodInfo[] = [],
  storage: Partial<StorageInfo> = {},
): VolumeNeeds {
  const classes = new Map([
    ['late', LATE],
    ['now', aStorageClass('now', { waitForFirstConsumer: false })],
  ]);
  const known = new Map(claims.map((claim) => [`${claim.namespace}/${claim.name}`, claim]));
  const subject = aPod('p', pod);
  const pods = [subject, ...others];
  return indexVolumes({ ...NO_STORAGE, classes, claims: known, ...storage }, pods, sortIntoKinds(pods)).needsOf(
    subject,
  );
}

const using = (...names: readonly string[]) => names.map((name) => ({ name, template: undefined }));
const unbound = (name: string, fields: Parameters<typeof aClaim>[1] = {}) =>
  aClaim(name, { bound: false, volumeName: undefined, storageClass: 'late', ...fields });

describe('what the claims of a pod ask of a node', () => {
  it('is nothing without claims', () => {
    expect(needsOf([], {})).toBe(NO_VOLUMES);
  });

  it.each([
    ['of no claim', 'its PersistentVolumeClaim data does not exist', []],
    ['of a lost volume', 'its PersistentVolumeClaim data has lost its volume', [aClaim('data', { lost: true })]],
    [
      'of a claim that goes',
      'its PersistentVolumeClaim data is being deleted',
      [aClaim('data', { terminating: true })],
    ],
    [
      'of no volume',
      'PersistentVolume gone of its claim data does not exist',
      [aClaim('data', { bound: true, volumeName: 'gone' })],
    ],
    [
      'of a class that does not wait',
      'its PersistentVolumeClaim data has no volume yet, and it is bound before a node is chosen',
      [unbound('data', { storageClass: 'now' })],
    ],
    [
      'of an unknown class',
      'its PersistentVolumeClaim data has no volume yet, and StorageClass none does not exist',
      [unbound('data', { storageClass: 'none' })],
    ],
    [
      'of no class',
      'its PersistentVolumeClaim data has no volume yet, and it is bound before a node is chosen',
      [unbound('data', { storageClass: undefined })],
    ],
    [
      'of a claim for which a volume is named',
      'its PersistentVolumeClaim data has no volume yet, and it is bound before a node is chosen',
      [unbound('data', { volumeName: 'named' })],
    ],
  ])('cannot be met %s', (_, problem, claims) => {
    expect(needsOf(claims, { claims: using('data') })).toEqual({ ...NO_VOLUMES, problem });
  });

  it('is where a bound volume can be reached, its zones and a place of its driver', () => {
    const terms = [{ expressions: [{ key: 'zone', operator: 'In' as const, values: ['x'] }], fields: [] }];
    const zones = labels({
      'topology.kubernetes.io/zone': 'x__y',
      'failure-domain.beta.kubernetes.io/region': 'r',
      other: 'z',
    });
    const volume = { ...aVolume('v'), labels: zones, nodeAffinity: terms, csi: { driver: 'd', handle: 'h' } };
    const storage = { volumes: new Map([['v', volume]]) };
    const claims = [aClaim('data', { bound: true, volumeName: 'v' })];
    expect(needsOf(claims, { claims: using('data') }, [], storage)).toEqual({
      ...NO_VOLUMES,
      reaches: [{ volume: 'v', terms }],
      zones: [
        { volume: 'v', key: 'failure-domain.beta.kubernetes.io/region', values: ['r'] },
        { volume: 'v', key: 'topology.kubernetes.io/zone', values: ['x', 'y'] },
      ],
      attachments: [{ driver: 'd', id: 'd/h' }],
    });
    const plain = {
      volumes: new Map([['v', { ...volume, labels: labels(), nodeAffinity: undefined, csi: undefined }]]),
    };
    expect(needsOf(claims, { claims: using('data') }, [], plain)).toEqual(NO_VOLUMES);
  });

  it('is a volume for each claim that waits for a node, the smallest first', () => {
    const claims = [unbound('large', { size: bytes(20) }), unbound('small', { size: bytes(10) })];
    const found = needsOf(claims, { claims: using('large', 'small') });
    expect(found.delayed.map(({ name, key }) => [name, key])).toEqual([
      ['small', 'shop/small'],
      ['large', 'shop/large'],
    ]);
    expect(found.attachments).toEqual([
      { driver: 'disk.example.com', id: 'late-shop/large' },
      { driver: 'disk.example.com', id: 'late-shop/small' },
    ]);
    expect(found.problem).toBeUndefined();
  });

  it('is looked up in its own namespace', () => {
    const claims = [unbound('data', { namespace: 'bank' })];
    expect(needsOf(claims, { claims: using('data') }).problem).toContain('does not exist');
    expect(needsOf(claims, { namespace: 'bank', claims: using('data') }).problem).toBeUndefined();
  });

  it('has the first problem of several claims, and what the others need', () => {
    const found = needsOf([unbound('late')], { claims: using('late', 'one', 'two') });
    expect(found.problem).toBe('its PersistentVolumeClaim one does not exist');
    expect(found.delayed).toHaveLength(1);
  });
});

describe('a claim for one pod alone', () => {
  const claims = [unbound('data', { accessModes: ['ReadWriteOncePod'] })];
  const asks = { claims: using('data') };
  const user = (name: string, fields: PodFields = {}) => aPod(name, { nodeName: 'a', ...asks, ...fields });

  it('is taken while another pod with a node uses it', () => {
    expect(needsOf(claims, asks, [user('q')]).taken).toBe('data');
    expect(needsOf(claims, { ...asks, nodeName: 'a' }, [user('q')]).taken).toBe('data');
    expect(needsOf([unbound('data', { accessModes: ['ReadWriteOnce'] })], asks, [user('q')]).taken).toBeUndefined();
  });

  it('is not taken by the pod itself, by one without a node, or in another namespace', () => {
    expect(needsOf(claims, { ...asks, nodeName: 'a' }).taken).toBeUndefined();
    expect(needsOf(claims, asks, [user('q', { nodeName: undefined })]).taken).toBeUndefined();
    expect(needsOf(claims, asks, [user('q', { namespace: 'bank' })]).taken).toBeUndefined();
  });
});

describe('an ephemeral volume', () => {
  const { namespace: _, name: __, ...template } = unbound('x');
  const asks = { claims: [{ name: 'scratch', template }] };
  const bound = aClaim('scratch', { bound: true, volumeName: 'v' });
  const zoned = { ...aVolume('v'), labels: labels({ 'topology.kubernetes.io/zone': 'x' }) };
  const storage = { volumes: new Map([['v', zoned]]) };

  it('is made anew for the replacement of a pod that has a node, and for a pending pod without one', () => {
    for (const [claims, fields] of [
      [[bound], { ...asks, nodeName: 'a' }],
      [[], asks],
    ] as const) {
      const found = needsOf(claims, fields, [], storage);
      expect(found.delayed.map(({ name, uid }) => [name, uid])).toEqual([['scratch', undefined]]);
      expect(found.problem).toBeUndefined();
    }
  });

  it('is the one that a pending pod has, which its zone does not bind', () => {
    const found = needsOf([bound], asks, [], storage);
    expect([found.delayed, found.zones]).toEqual([[], []]);
    expect(needsOf([bound], { claims: using('scratch') }, [], storage).zones).toHaveLength(1);
  });
});
