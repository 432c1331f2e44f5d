import { describe, expect, it } from 'vitest';
import type { RebalancePlan } from '../../../src/api/v1alpha1/rebalance-plan.ts';
import { firstRestEnds, withoutFailedTargets } from '../../../src/execute/failed-admissions.ts';
import { formatInstant } from '../../../src/model/instant.ts';
import { epochSeconds } from '../../../src/model/units.ts';
import { anAdmission, aPlan } from '../../support/builders/plan.ts';
import { aPolicy } from '../../support/builders/policy.ts';
import { aPod } from '../../support/builders.ts';
import { NOON } from '../../support/test-clock.ts';

const WAITS = aPod('waits', {
  phase: 'Pending',
  waiting: { gated: true, pinnedTo: undefined, unschedulable: false },
});

/** Plans that each let the pod through to node `a`, which did not take it for `span` seconds; the last one ended at noon. */
function failures(count: number, span = 60): readonly RebalancePlan[] {
  return Array.from({ length: count }, (_, place) => {
    const finished = NOON - place * 100;
    const run = {
      podUID: WAITS.uid,
      phase: 'Failed',
      attempt: 0,
      startedAt: formatInstant(epochSeconds(finished - span)),
      finishedAt: formatInstant(epochSeconds(finished)),
    } as const;
    return aPlan(aPolicy('qos'), [anAdmission(WAITS, 'a')], { moves: [run] });
  });
}

/** Whether the next plan may place the pod on node `a` so many seconds past noon. */
function mayTry(plans: readonly RebalancePlan[], second: number): boolean {
  const [seen] = withoutFailedTargets([WAITS], plans, epochSeconds(NOON + second));
  const fields = seen?.constraints.nodeAffinity?.flatMap((term) => term.fields) ?? [];
  return !fields.some(({ operator, values }) => operator === 'NotIn' && values.includes('a'));
}

describe('a node on which admissions of a controller have failed', () => {
  it.each([
    [1, 60],
    [2, 120],
    [3, 240],
    [6, 1920],
    [7, 3600],
    [20, 3600],
  ])('is left alone after %d of them for %d s', (count, rest) => {
    const plans = failures(count);
    expect([0, rest - 1, rest].map((second) => mayTry(plans, second))).toEqual([false, false, true]);
  });

  it('is tried again at once when the pod was gone within a minute', () => {
    expect(mayTry(failures(3, 59), 0)).toBe(true);
  });
});

describe('the first rest that ends', () => {
  const at = (second: number) => epochSeconds(NOON + second);

  it('is that of the node that may be tried first, by a controller whose pods wait', () => {
    const [one = expect.fail(), two = expect.fail()] = failures(2);
    const elsewhere = { ...two, spec: { ...two.spec, moves: [anAdmission(WAITS, 'b')] } };
    expect(firstRestEnds([WAITS], [one], at(0))).toBe(at(60));
    expect(firstRestEnds([WAITS], [one, two], at(0))).toBe(at(120));
    expect(firstRestEnds([WAITS, aPod('other')], [one, elsewhere], at(-50))).toBe(at(-40));
    expect(firstRestEnds([WAITS], [one, elsewhere], at(0))).toBe(at(60));
  });

  it('is none where no node is kept from a pod that waits', () => {
    const running = { ...WAITS, waiting: undefined };
    expect(firstRestEnds([WAITS], [], at(0))).toBeUndefined();
    expect(firstRestEnds([WAITS], failures(1), at(60))).toBeUndefined();
    expect(firstRestEnds([WAITS], failures(1), at(-1))).toBeUndefined();
    expect(firstRestEnds([running, { ...WAITS, owner: undefined }], failures(1), at(0))).toBeUndefined();
  });
});
