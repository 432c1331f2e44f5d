import { describe, expect, it } from 'vitest';
import { taintToleration, tolerates } from '../../../../src/plan/filters/taint-toleration.ts';
import { aTaint, aToleration } from '../../../support/builders/scheduling.ts';
import { aNode } from '../../../support/builders.ts';
import { aSubject } from './filters.ts';

describe('TaintToleration', () => {
  it.each(['NoSchedule', 'NoExecute'] as const)(
    'refuses a node with an untolerated %s taint, and names it',
    (effect) => {
      const taint = aTaint('gpu', 'yes', effect);
      expect(taintToleration(aSubject(), aNode('a', { taints: [taint] }))).toEqual({
        filter: 'TaintToleration',
        taint,
      });
    },
  );

  it('ignores PreferNoSchedule, which only ranks nodes', () => {
    expect(
      taintToleration(aSubject(), aNode('a', { taints: [aTaint('gpu', '', 'PreferNoSchedule')] })),
    ).toBeUndefined();
  });

  it('needs a toleration for every taint', () => {
    const node = aNode('a', { taints: [aTaint('gpu'), aTaint('spot')] });
    expect(taintToleration(aSubject({ tolerations: [aToleration({ key: 'gpu' })] }), node)).toMatchObject({
      taint: { key: 'spot' },
    });
    const both = [aToleration({ key: 'gpu' }), aToleration({ key: 'spot' })];
    expect(taintToleration(aSubject({ tolerations: both }), node)).toBeUndefined();
  });
});

describe('a toleration', () => {
  const taint = aTaint('tier', '800', 'NoSchedule');
  it.each([
    { what: 'Exists without a key covers everything', toleration: aToleration(), covers: true },
    { what: 'Exists with the key covers any value', toleration: aToleration({ key: 'tier' }), covers: true },
    { what: 'Exists with another key does not', toleration: aToleration({ key: 'zone' }), covers: false },
    {
      what: 'Equal needs the value',
      toleration: aToleration({ key: 'tier', operator: 'Equal', value: '800' }),
      covers: true,
    },
    {
      what: 'Equal with another value does not',
      toleration: aToleration({ key: 'tier', operator: 'Equal', value: '9' }),
      covers: false,
    },
    {
      what: 'Equal without a key covers nothing',
      toleration: aToleration({ operator: 'Equal', value: '800' }),
      covers: false,
    },
    { what: 'the same effect is fine', toleration: aToleration({ key: 'tier', effect: 'NoSchedule' }), covers: true },
    { what: 'another effect is not', toleration: aToleration({ key: 'tier', effect: 'NoExecute' }), covers: false },
    {
      what: 'Gt wants the taint to be greater',
      toleration: aToleration({ key: 'tier', operator: 'Gt', value: '750' }),
      covers: true,
    },
    {
      what: 'Gt fails when it is not',
      toleration: aToleration({ key: 'tier', operator: 'Gt', value: '800' }),
      covers: false,
    },
    {
      what: 'Lt wants the taint to be less',
      toleration: aToleration({ key: 'tier', operator: 'Lt', value: '801' }),
      covers: true,
    },
    {
      what: 'Lt fails when it is not',
      toleration: aToleration({ key: 'tier', operator: 'Lt', value: '-1' }),
      covers: false,
    },
    {
      what: 'text is neither greater nor less',
      toleration: aToleration({ key: 'tier', operator: 'Gt', value: 'low' }),
      covers: false,
    },
  ])('$what', ({ toleration, covers }) => {
    expect(tolerates(toleration, taint)).toBe(covers);
  });
});
