import { describe, expect, it } from 'vitest';
import { seconds } from '../../../../src/model/units.ts';
import type { ServicePosition } from '../../../../src/plan/qos/rules.ts';
import { STANDARD } from '../../../../src/plan/qos/standard.ts';
import { aLedger, aServiceClass } from '../../../support/builders/service-levels.ts';

/** Of class batch, which may lose 100 s and starts in a second. */
function position(metric: number, fields: Partial<ServicePosition> = {}): ServicePosition {
  return {
    metric: seconds(metric),
    safetyMargin: seconds(10),
    importance: 2,
    overheadSpent: false,
    request: aLedger(),
    serviceClass: aServiceClass({ slo: 0.9, importance: 2 }),
    allowance: seconds(100),
    alpha: seconds(1),
    running: true,
    lacking: 0,
    ...fields,
  };
}

describe('the cost of an eviction by the Standard refinements', () => {
  it('counts how long the victim can wait beyond its margin', () => {
    expect(STANDARD.costOf([position(100)])).toMatchObject({ below: [], above: 90 });
    expect(STANDARD.costOf([position(100), position(70)])).toMatchObject({ below: [], above: 30, victims: 2 });
  });

  it('counts as a loss that less than the quiet time is left to it beyond its margin', () => {
    // The geometric mean of 1 s and 100 s, 2.8 times: 28 s.
    expect(STANDARD.costOf([position(38)]).below).toEqual([]);
    expect(STANDARD.costOf([position(37)]).below).toEqual([{ importance: 2, sum: -1 }]);
  });
});
