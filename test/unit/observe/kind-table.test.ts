import { describe, expect, it } from 'vitest';
import { createInterner } from '../../../src/observe/interner.ts';
import { KINDS, queryOf } from '../../../src/observe/kind-table.ts';
import { readObject, snapshotKindOf } from '../../../src/observe/snapshot-kinds.ts';

describe('the pods that plans need', () => {
  const { part } = KINDS.Pod;

  it.each<[unknown, boolean]>([
    [{ status: { phase: 'Succeeded' } }, false],
    [{ status: { phase: 'Failed' } }, true],
    [{ status: { phase: 'Running' } }, true],
    [{ status: {} }, true],
    [{ status: 'Succeeded' }, true],
    [{ phase: 'Succeeded' }, true],
    [{}, true],
    [null, true],
    ['Succeeded', true],
  ])('have %j among them: %s', (object, expected) => {
    expect(part?.has(object)).toBe(expected);
  });

  it('are asked for as such, and all objects of other kinds', () => {
    expect(queryOf(part)).toEqual({ fieldSelector: 'status.phase!=Succeeded' });
    expect(queryOf(KINDS.Node.part)).toEqual({});
  });
});

describe('an object that cannot be read', () => {
  it('is a problem that names it where it is not what the API says', () => {
    const taken = readObject('Node', { metadata: { name: 'a' }, spec: { taints: 7 } }, createInterner());
    expect(taken).toBe('Node a: spec.taints: 7 is not a list');
    expect(readObject('Node', 7, createInterner())).toBe('Node (without a name): the object: 7 is not an object');
  });

  it('is an error where something else went wrong', () => {
    const broken = {
      metadata: { name: 'a' },
      get spec(): unknown {
        throw new Error('not ours');
      },
    };
    expect(() => readObject('Node', broken, createInterner())).toThrow(new Error('not ours'));
  });
});

describe('the kind of an object', () => {
  it.each<[unknown, unknown, string | undefined]>([
    ['v1', 'Pod', 'Pod'],
    ['v2', 'Pod', 'Pod'],
    ['apps/v1', 'Deployment', 'Deployment'],
    ['apps/v1beta1', 'Deployment', 'Deployment'],
    ['extensions/v1beta1', 'Deployment', undefined],
    ['v1', 'Deployment', undefined],
    ['core/v1', 'Pod', undefined],
    [undefined, 'Pod', undefined],
    [7, 'Pod', undefined],
    ['v1', 'Secret', undefined],
    ['v1', 'constructor', undefined],
    ['v1', undefined, undefined],
    ['v1', ['Pod'], undefined],
  ])('of API version %j that says %j is %s', (apiVersion, kind, known) => {
    expect(snapshotKindOf({ apiVersion, kind })).toBe(known);
  });
});
