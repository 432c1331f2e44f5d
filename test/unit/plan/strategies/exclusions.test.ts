import { describe, expect, it } from 'vitest';
import { createExclusions } from '../../../../src/plan/strategies/exclusions.ts';
import type { Terms, Verdict } from '../../../../src/plan/strategies/strategy.ts';
import { stateOf } from '../../../support/state.ts';
import { loaded } from './loaded.ts';

/** Pods 0 and 1 on node 0, pods 2 and 3 on node 1, after a move of pod 0 was proposed; the budgets keep the last one. */
function allowedAfter(verdict: Verdict | undefined): readonly number[] {
  const terms: Terms = {
    minGain: 0,
    movesLeft: () => 10,
    mayMove: (pod) => pod !== 3,
    reserve: () => undefined,
    release: () => undefined,
  };
  const exclusions = createExclusions(stateOf(loaded([10, 20], [5, 5])), terms);
  if (verdict !== undefined) {
    const offer = exclusions.offer({ pod: 0, to: 1 });
    offer.next();
    offer.next(verdict);
  }
  return [0, 1, 2, 3].filter(exclusions.allows);
}

describe('exclusions', () => {
  it.each<[string, Verdict | undefined, readonly number[]]>([
    ['but those that the budgets keep, before anything was proposed', undefined, [0, 1, 2]],
    ['but the pod that was moved', { accepted: true }, [1, 2]],
    ['but the pod that must not move', { accepted: false, reach: 'Pod' }, [1, 2]],
    ['but those of a node that must not lose any', { accepted: false, reach: 'Node' }, [2]],
  ])('allow all pods %s', (_, verdict, allowed) => {
    expect(allowedAfter(verdict)).toEqual(allowed);
  });
});
