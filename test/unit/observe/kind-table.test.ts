import { describe, expect, it } from 'vitest';
import { KINDS, queryOf } from '../../../src/observe/kind-table.ts';
import { snapshotKindOf } from '../../../src/observe/snapshot-kinds.ts';

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
