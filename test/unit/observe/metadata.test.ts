import { describe, expect, it } from 'vitest';
import { nameForPeople, readCondition, readController, readMetadata } from '../../../src/observe/project/metadata.ts';
import type { Raw } from '../../support/builders/raw.ts';

const namespaced = (metadata: unknown) => readMetadata({ metadata }, 'ReplicaSet', 'Namespaced');

describe('metadata', () => {
  it('are what the server wrote', () => {
    const metadata = {
      name: 'web',
      namespace: 'shop',
      uid: 'u',
      creationTimestamp: '2026-01-01T00:00:00Z',
      deletionTimestamp: '2026-01-02T00:00:00Z',
    };
    expect(namespaced(metadata)).toEqual({
      namespace: 'shop',
      name: 'web',
      uid: 'u',
      handWritten: false,
      createdAt: Date.parse('2026-01-01T00:00:00Z') / 1000,
      terminating: true,
      object: metadata,
    });
  });

  it('of an object written by hand have a UID made of its name, and are as old as can be', () => {
    expect(namespaced({ name: 'web' })).toMatchObject({
      namespace: 'default',
      uid: 'ReplicaSet/default/web',
      handWritten: true,
      createdAt: 0,
      terminating: false,
    });
    expect(namespaced({ name: 'web', namespace: '', uid: '' })).toMatchObject({
      namespace: 'default',
      handWritten: true,
    });
  });

  it('have a UID without kind for a pod, and without namespace for what has none', () => {
    const uidOf = (kind: string, scope: 'Namespaced' | 'Cluster') =>
      readMetadata({ metadata: { name: 'a', namespace: 'shop' } }, kind, scope);
    expect(uidOf('Pod', 'Namespaced')).toMatchObject({ namespace: 'shop', uid: 'shop/a' });
    expect(uidOf('Node', 'Cluster')).toMatchObject({ namespace: '', uid: 'Node/a' });
  });

  it('must have a name', () => {
    for (const object of [{}, { metadata: null }, { metadata: {} }, { metadata: { name: '' } }]) {
      expect(() => readMetadata(object, 'Node', 'Cluster')).toThrow(
        'metadata.name: is missing: every object needs a name',
      );
    }
    expect(() => namespaced('web')).toThrow('metadata: "web" is not an object');
  });
});

describe('the controller of an object', () => {
  const controllerOf = (...ownerReferences: readonly Raw[]) =>
    readController(namespaced({ name: 'web', namespace: 'shop', ownerReferences }));

  it('is the owner that says so, wherever it is in the list', () => {
    const other = { kind: 'ConfigMap', name: 'x', uid: 'x' };
    const web = { kind: 'Deployment', name: 'web', uid: 'd', controller: true };
    expect(controllerOf(other, web)).toEqual({ kind: 'Deployment', name: 'web', uid: 'd' });
    expect(controllerOf({ ...other, controller: false }, web)?.uid).toBe('d');
    expect(controllerOf(other, { ...web, controller: 'true' })).toBeUndefined();
    expect(controllerOf()).toBeUndefined();
  });

  it('is found by its kind and name where it was written by hand', () => {
    for (const uid of [undefined, '']) {
      expect(controllerOf({ kind: 'Deployment', name: 'web', uid, controller: true })?.uid).toBe('Deployment/shop/web');
    }
  });

  it.each<[Raw]>([[{ kind: 'Deployment' }], [{ name: 'web' }], [{ kind: '', name: 'web' }], [{}]])(
    'must have a kind and a name, unlike %j',
    (reference) => {
      expect(() => controllerOf({ kind: 'ConfigMap', name: 'x' }, { ...reference, controller: true })).toThrow(
        'metadata.ownerReferences[1]: has no kind or no name',
      );
    },
  );
});

describe('a name for people', () => {
  it.each<[unknown, string]>([
    [{ metadata: { name: 'web', namespace: 'shop' } }, 'shop/web'],
    [{ metadata: { name: 'web' } }, 'web'],
    [{ metadata: { name: 'web', namespace: '' } }, 'web'],
    [{ metadata: { name: 'web', namespace: 7 } }, 'web'],
    [{ metadata: { name: '', namespace: 'shop' } }, 'shop/(without a name)'],
    [{ metadata: { name: 7 } }, '(without a name)'],
    [{ metadata: 'web' }, '(without a name)'],
    [{}, '(without a name)'],
    ['web', '(without a name)'],
    [null, '(without a name)'],
  ])('of %j is %s', (object, name) => {
    expect(nameForPeople(object)).toBe(name);
  });

  it('is no longer than a name may be', () => {
    const long = { metadata: { name: 'n'.repeat(300), namespace: 's'.repeat(100) } };
    expect(nameForPeople(long)).toBe(`${'s'.repeat(63)}/${'n'.repeat(253)}`);
  });
});

describe('a condition', () => {
  it('is the first of its type, with what it says', () => {
    const conditions = [
      { type: 'Other', status: 'False' },
      { type: 'Ready', status: 'True', reason: 'Because', lastTransitionTime: '2026-01-01T00:00:00Z' },
      { type: 'Ready', status: 'False' },
    ];
    const since = Date.parse('2026-01-01T00:00:00Z') / 1000;
    expect(readCondition({ conditions }, 'Ready')).toEqual({ isTrue: true, reason: 'Because', since });
    expect(readCondition({ conditions }, 'Other')).toEqual({ isTrue: false, reason: '', since: undefined });
    expect(readCondition({ conditions }, 'None')).toBeUndefined();
    expect(readCondition({}, 'Ready')).toBeUndefined();
  });

  it.each(['False', 'Unknown', 'true', undefined])('does not hold where its status is %s', (status) => {
    expect(readCondition({ conditions: [{ type: 'Ready', status }] }, 'Ready')?.isTrue).toBe(false);
  });

  it('that is malformed is told by its place', () => {
    const conditions = [{ type: 'Other' }, { type: 'Ready', lastTransitionTime: 'noon' }];
    expect(() => readCondition({ conditions }, 'Ready')).toThrow(
      'status.conditions[1].lastTransitionTime: "noon" is not',
    );
  });
});
