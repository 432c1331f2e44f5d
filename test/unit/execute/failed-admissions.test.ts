import { describe, expect, it } from 'vitest';
import type { RebalancePlan } from '../../../src/api/v1alpha1/rebalance-plan.ts';
import { firstRestEnds, restsOf, withoutFailedTargets } from '../../../src/execute/failed-admissions.ts';
import { formatInstant } from '../../../src/model/instant.ts';
import type { PodInfo } from '../../../src/model/pod.ts';
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
  const [seen] = withoutFailedTargets([WAITS], restsOf(plans, epochSeconds(NOON + second)));
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

  it('is left alone since the last of them, in whatever order their plans come', () => {
    expect([failures(2), failures(2).toReversed()].map((plans) => mayTry(plans, 110))).toEqual([false, false]);
  });

  it('is as open as before to pods that do not wait at the gate, and to those of other controllers', () => {
    const others: readonly PodInfo[] = [
      { ...WAITS, waiting: undefined },
      { ...WAITS, waiting: { gated: false, pinnedTo: undefined, unschedulable: true } },
      { ...WAITS, owner: { kind: 'ReplicaSet', name: 'other', uid: 'uid-other' } },
      { ...WAITS, owner: undefined },
    ];
    expect(withoutFailedTargets(others, restsOf(failures(1), NOON))).toEqual(others);
    expect(withoutFailedTargets(others, restsOf([], NOON))).toBe(others);
  });

  it('is left out of each term that the pod has itself, and an empty term matches no node still', () => {
    const zone = { key: 'zone', operator: 'In', values: ['east'] } as const;
    const named = { key: 'metadata.name', operator: 'NotIn', values: ['b'] } as const;
    const without = { key: 'metadata.name', operator: 'NotIn', values: ['a'] } as const;
    const nodeAffinity = [
      { expressions: [zone], fields: [] },
      { expressions: [], fields: [] },
      { expressions: [], fields: [named] },
    ];
    const constraints = { ...WAITS.constraints, nodeAffinity };
    const pods = [
      { ...WAITS, constraints },
      { ...WAITS, constraints },
    ];
    const [first, second] = withoutFailedTargets(pods, restsOf(failures(1), NOON));
    expect(first?.constraints.nodeAffinity).toEqual([
      { expressions: [zone], fields: [without] },
      { expressions: [], fields: [named, without] },
    ]);
    expect(second?.constraints).toBe(first?.constraints);
  });
});

describe('the first rest that ends', () => {
  const at = (second: number) => epochSeconds(NOON + second);

  it('is that of the node that may be tried first, by a controller whose pods wait', () => {
    const [one = expect.fail(), two = expect.fail()] = failures(2);
    const elsewhere = { ...two, spec: { ...two.spec, moves: [anAdmission(WAITS, 'b')] } };
    expect(firstRestEnds([WAITS], restsOf([one], at(0)))).toBe(at(60));
    expect(firstRestEnds([WAITS], restsOf([one, two], at(0)))).toBe(at(120));
    expect(firstRestEnds([WAITS, aPod('other')], restsOf([one, elsewhere], at(-50)))).toBe(at(-40));
    expect(firstRestEnds([WAITS], restsOf([one, elsewhere], at(0)))).toBe(at(60));
  });

  it('is none where no node is kept from a pod that waits', () => {
    const running = { ...WAITS, waiting: undefined };
    expect(firstRestEnds([WAITS], restsOf([], at(0)))).toBeUndefined();
    expect(firstRestEnds([WAITS], restsOf(failures(1), at(60)))).toBeUndefined();
    expect(firstRestEnds([WAITS], restsOf(failures(1), at(-1)))).toBeUndefined();
    expect(firstRestEnds([running, { ...WAITS, owner: undefined }], restsOf(failures(1), at(0)))).toBeUndefined();
  });
});
