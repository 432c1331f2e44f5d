import { describe, expect, it } from 'vitest';
import { epochSeconds, seconds } from '../../../../src/model/units.ts';
import type { FailedRepair, StateFilter } from '../../../../src/plan/options.ts';
import { failedClause } from '../../../../src/plan/repair/failed.ts';
import { lifetimeClause } from '../../../../src/plan/repair/max-lifetime.ts';
import { reasonsOf, stateNote } from '../../../../src/plan/repair/states.ts';
import { movesUnready } from '../../../../src/plan/repair/unready.ts';
import { aPod, NOW, type PodFields } from '../../../support/builders.ts';

const POD: PodFields = {
  phase: 'Failed',
  reason: 'Evicted',
  states: { reasons: ['Error'], exitCodes: [137] },
  initStates: { reasons: ['OOMKilled'], exitCodes: [1] },
};
const pod = aPod('p', POD);

describe('the states of a pod', () => {
  it('are the reasons of its status and of its containers, of those that go before only where that is asked for', () => {
    expect(reasonsOf(pod, false)).toEqual(['Evicted', 'Error']);
    expect(reasonsOf(pod, true)).toEqual(['Evicted', 'Error', 'OOMKilled']);
    expect(reasonsOf(aPod('p', { ...POD, reason: undefined }), false)).toEqual(['Error']);
  });

  it('count all without a filter, else the first that it names, the phase among them', () => {
    const note = (states: readonly string[] | undefined, includingInit = false) =>
      stateNote(pod, { states: states && new Set(states), includingInit });
    expect(note(undefined)).toBe('');
    expect(note(['Error', 'Evicted'])).toBe(' in state Evicted');
    expect(note(['Error', 'Failed'])).toBe(' in state Failed');
    expect([note(['OOMKilled']), note(['OOMKilled'], true)]).toEqual([undefined, ' in state OOMKilled']);
    expect(note([])).toBeUndefined();
  });
});

describe('a pod that has failed', () => {
  const clause = (fields: Partial<FailedRepair>, given: PodFields = {}) =>
    failedClause(
      aPod('p', { ...POD, ...given }),
      {
        reasons: undefined,
        exitCodes: undefined,
        includingInit: false,
        minAge: seconds(0),
        excludedOwnerKinds: new Set(),
        ...fields,
      },
      NOW,
    );

  it('is removed with its first reason and its first exit code', () => {
    expect(clause({})).toBe('its phase is Failed (Evicted, exit code 137)');
    expect(clause({}, { reason: undefined })).toBe('its phase is Failed (Error, exit code 137)');
    const bare = { reason: undefined, states: { reasons: [], exitCodes: [] } };
    expect(clause({}, bare)).toBe('its phase is Failed');
    expect(clause({ includingInit: true }, bare)).toBe('its phase is Failed (OOMKilled, exit code 1)');
    expect(clause({}, { ...bare, reason: 'Evicted' })).toBe('its phase is Failed (Evicted)');
  });

  it('is removed for the reasons and the exit codes that are asked for, and for both where both are', () => {
    expect(clause({ reasons: new Set(['Error']) })).toBe('its phase is Failed (Error, exit code 137)');
    expect(clause({ reasons: new Set(['OOMKilled']) })).toBeUndefined();
    expect(clause({ reasons: new Set(['OOMKilled']), includingInit: true })).toContain('OOMKilled');
    expect(clause({ exitCodes: new Set([137]) })).toBe('its phase is Failed (Evicted, exit code 137)');
    expect(clause({ exitCodes: new Set([1]) })).toBeUndefined();
    expect(clause({ exitCodes: new Set([1]), includingInit: true })).toContain('exit code 1)');
    expect(clause({ reasons: new Set(['Error']), exitCodes: new Set([1]) })).toBeUndefined();
    expect(clause({ reasons: new Set(['none']), exitCodes: new Set([137]) })).toBeUndefined();
  });

  it('stays while it is too young, and where its controller is of a kind that is left alone', () => {
    const createdAt = epochSeconds(NOW - 60);
    expect(clause({ minAge: seconds(61) }, { createdAt })).toBeUndefined();
    expect(clause({ minAge: seconds(60) }, { createdAt })).toBeDefined();
    const excludedOwnerKinds = new Set(['ReplicaSet']);
    expect(clause({ excludedOwnerKinds })).toBeUndefined();
    expect(clause({ excludedOwnerKinds }, { owner: undefined })).toBeDefined();
  });
});

describe('a pod that has lived for long', () => {
  const lived = (age: number, filter: Partial<StateFilter> = {}) =>
    lifetimeClause(
      aPod('p', { ...POD, createdAt: epochSeconds(NOW - age) }),
      { age: seconds(100), states: undefined, includingInit: false, ...filter },
      NOW,
    );

  it('has lived for too long when it is older than it may be', () => {
    expect(lived(100)).toBeUndefined();
    expect(lived(101)).toBe('101 s old, repair.maxLifetime.age is 100 s');
    expect(lived(100.6)).toBe('101 s old, repair.maxLifetime.age is 100 s');
  });

  it('has so only in the states that are asked for', () => {
    expect(lived(200, { states: new Set(['Error']) })).toBe(
      '200 s old in state Error, repair.maxLifetime.age is 100 s',
    );
    expect(lived(200, { states: new Set(['Pending']) })).toBeUndefined();
    expect(lived(50, { states: new Set(['Error']) })).toBeUndefined();
  });
});

describe('a pod that is not Ready', () => {
  it('is moved for its restarts, and for its lifetime where that counts in certain states', () => {
    const repair = { age: seconds(1), states: undefined, includingInit: false };
    expect(movesUnready('Restarts', {})).toBe(true);
    expect(movesUnready('Taints', { maxLifetime: { ...repair, states: new Set() } })).toBe(false);
    expect(movesUnready('MaxLifetime', { maxLifetime: repair })).toBe(false);
    expect(movesUnready('MaxLifetime', {})).toBe(false);
    expect(movesUnready('MaxLifetime', { maxLifetime: { ...repair, states: new Set(['Pending']) } })).toBe(true);
  });
});
