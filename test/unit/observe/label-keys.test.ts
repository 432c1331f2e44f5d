import { describe, expect, it } from 'vitest';
import type { Requirement } from '../../../src/model/selector.ts';
import { labelKeysOf, mergeLabelKeys } from '../../../src/observe/project/label-keys.ts';

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

describe('a selector with label keys', () => {
  const labels = new Map([
    ['hash', 'x'],
    ['tier', 'a'],
  ]);
  const merged = (requirements: readonly Requirement[], keys: readonly string[], operator: 'In' | 'NotIn' = 'In') =>
    mergeLabelKeys({ requirements }, keys, operator, labels)?.requirements;

  it('asks for the value of each, in their order', () => {
    expect(merged([], ['tier', 'absent', 'hash'])).toEqual([
      { key: 'tier', operator: 'In', values: ['a'] },
      { key: 'hash', operator: 'In', values: ['x'] },
    ]);
    expect(merged([], ['hash'], 'NotIn')).toEqual([{ key: 'hash', operator: 'NotIn', values: ['x'] }]);
  });

  it('is the same without any, and selects nothing where it did before', () => {
    const selector = { requirements: [] };
    expect(mergeLabelKeys(selector, [], 'In', labels)).toBe(selector);
    expect(mergeLabelKeys(undefined, ['hash'], 'In', labels)).toBeUndefined();
  });

  it('does not repeat what it asks for', () => {
    const known: Requirement = { key: 'hash', operator: 'In', values: ['x'] };
    expect(merged([known], ['hash'])).toEqual([known]);
    expect(merged([{ key: 'app', operator: 'Exists', values: [] }, known], ['hash'])).toHaveLength(2);
    expect(merged([], ['hash', 'hash'])).toEqual([known]);
  });

  it.each<[string, Requirement]>([
    ['another key', { key: 'tier', operator: 'In', values: ['x'] }],
    ['another operator', { key: 'hash', operator: 'NotIn', values: ['x'] }],
    ['another value', { key: 'hash', operator: 'In', values: ['y'] }],
    ['one value more', { key: 'hash', operator: 'In', values: ['x', 'y'] }],
    ['no value', { key: 'hash', operator: 'Exists', values: [] }],
  ])('asks for it although it asks for %s', (_, known) => {
    expect(merged([known], ['hash'])).toEqual([known, { key: 'hash', operator: 'In', values: ['x'] }]);
  });
});

describe('the label keys of a pod', () => {
  it('are those of its spread, then of affinity and anti-affinity, required before preferred', () => {
    const term = (name: string) => ({ matchLabelKeys: [`${name}-match`], mismatchLabelKeys: [`${name}-mismatch`] });
    const side = (name: string) => ({
      [REQUIRED]: [term(`${name}-required`)],
      [PREFERRED]: [{ weight: 1, podAffinityTerm: term(`${name}-preferred`) }],
    });
    const spec = {
      affinity: { podAntiAffinity: side('anti'), podAffinity: side('with') },
      topologySpreadConstraints: [{ matchLabelKeys: ['spread-1'] }, { matchLabelKeys: ['spread-2'] }],
    };
    expect(labelKeysOf(spec)).toEqual([
      'spread-1',
      'spread-2',
      ...['with-required', 'with-preferred', 'anti-required', 'anti-preferred'].flatMap((name) => [
        `${name}-match`,
        `${name}-mismatch`,
      ]),
    ]);
  });

  it.each<[unknown]>([
    [{}],
    [{ affinity: 'none', topologySpreadConstraints: 'none' }],
    [{ affinity: { podAffinity: 'none', podAntiAffinity: null } }],
    [{ affinity: { podAffinity: { [REQUIRED]: 'none', [PREFERRED]: ['none', {}, { podAffinityTerm: 'none' }] } } }],
    [{ affinity: { podAntiAffinity: { [REQUIRED]: ['none', null, { matchLabelKeys: 'none' }] } } }],
    [{ topologySpreadConstraints: ['none', null, {}, { matchLabelKeys: 7 }] }],
  ])('are none where the spec has none, or is malformed: %j', (spec) => {
    expect(labelKeysOf(spec as Parameters<typeof labelKeysOf>[0])).toEqual([]);
  });
});
