import { describe, expect, it } from 'vitest';
import type { InstanceLedger } from '../../../src/model/service-level.ts';
import { epochSeconds, seconds } from '../../../src/model/units.ts';
import { waitingAllowance, waitingTime } from '../../../src/qos/waiting-time.ts';
import {
  aLedger,
  anInstance,
  aServiceClass,
  type ClassFields,
  type LedgerFields,
  times,
} from '../../support/builders/service-levels.ts';
import { NOW } from '../../support/builders.ts';

function waits(classFields: ClassFields, ledger: LedgerFields, running = true, instance?: InstanceLedger): number {
  const replica = { running, instance };
  return waitingTime(aLedger(ledger), aServiceClass(classFields), replica, NOW, seconds(3));
}

describe('the time that a pod can wait', () => {
  it('is what its SLO lets it lose in the window, less what it lost, less its start', () => {
    expect(waits({ slo: 0.9 }, { times: { useful: 3500, pending: 100 } })).toBeCloseTo(360 - 100 - 3, 6);
  });

  it('forgets what it lost before the window within its SLO', () => {
    const before = { at: epochSeconds(NOW - 3600), ...times({ useful: 900, pending: 100 }) };
    const ledger = { times: { useful: 4500, pending: 100 }, checkpoints: [before] };
    expect(waits({ slo: 0.9 }, ledger)).toBeCloseTo(357, 6);
  });

  it('is less by what it lost before the window in excess of its SLO, and by a quarter of what it may lose at most', () => {
    const lostBefore = (useful: number, pending: number) => {
      const before = { at: epochSeconds(NOW - 3600), ...times({ useful, pending }) };
      return { times: { useful: useful + 3600, pending }, checkpoints: [before] };
    };
    expect(waits({ slo: 0.9 }, lostBefore(850, 150))).toBeCloseTo(360 - 50 - 3, 6);
    expect(waits({ slo: 0.9 }, lostBefore(0, 9000))).toBeCloseTo(360 - 90 - 3, 6);
  });

  it('is the recoverability below the SLO, at whatever age', () => {
    const short = (pending: number, before: number) => ({
      times: { useful: 3600 - pending + before, pending },
      checkpoints: [{ at: epochSeconds(NOW - 3600), ...times({ useful: before }) }],
    });
    expect(waits({ slo: 0.5 }, { times: { useful: 1500, pending: 2000 } })).toBeCloseTo(-500 - 3, 6);
    expect(waits({ slo: 0.5 }, short(2000, 0))).toBeCloseTo(-400 - 3, 6);
    expect(waits({ slo: 0.5 }, short(2000, 1000))).toBeCloseTo(-400 - 3, 6);
    expect(waits({ slo: 0.5 }, { ...short(2000, 1000), running: 0, waiting: 1 }, false)).toBeCloseTo(-400 - 3, 6);
  });

  it('is what keeps the SLO of a young request at every moment, and none at first', () => {
    const waiting = { running: 0, waiting: 1 };
    expect(waits({ slo: 0.5 }, waiting, false)).toBe(-3);
    expect(waits({ slo: 0.5 }, { times: { useful: 400 } })).toBeCloseTo(397, 6);
    expect(waits({ slo: 0.5 }, { times: { useful: 400, pending: 100 } })).toBeCloseTo(297, 6);
    expect(waits({ slo: 0.9 }, { times: { useful: 900 } })).toBeCloseTo(100 - 3, 6);
  });

  it('is no more for a young request than what it may lose in the whole window', () => {
    expect(waits({ slo: 0.5 }, { times: { useful: 3000 } })).toBeCloseTo(1800 - 3, 6);
  });

  it('is shared by the instances that wait, each of which adds to what may be lost', () => {
    const old = {
      times: { useful: 14_400 },
      checkpoints: [{ at: epochSeconds(NOW - 3600), ...times({ useful: 7200 }) }],
    };
    expect(waits({ slo: 0.9 }, { ...old, running: 2 })).toBeCloseTo(720 - 3, 6);
    expect(waits({ slo: 0.9 }, { ...old, running: 0, waiting: 2 }, false)).toBeCloseTo(360 - 3, 6);
    expect(waits({ slo: 0.5 }, { ...old, running: 2 })).toBe(Number.POSITIVE_INFINITY);
  });

  it('is none where just all was lost that may be, unless enough run, and what must be made up for beyond that', () => {
    const lost = (pending: number, running = 1) =>
      waits({ slo: 0.5 }, { times: { useful: 3600 * running - pending, pending }, running });
    expect([lost(1799.5), lost(1800), lost(1801)]).toEqual([0.5 - 3, -3, -2 - 3]);
    expect([lost(3600, 2), lost(3601, 2)]).toEqual([Number.POSITIVE_INFINITY, -2 - 3]);
  });

  it('is less by the run that a running replica would lose, in mode Task', () => {
    const before = { at: epochSeconds(NOW - 3600), ...times({ useful: 3600, discarded: 100 }) };
    const ledger = { times: { useful: 7200, discarded: 100 }, checkpoints: [before] };
    const instance = anInstance({ pod: 'p', running: true, since: epochSeconds(NOW - 400) });
    expect(waits({ slo: 0.5, mode: 'Task' }, ledger, true, instance)).toBeCloseTo(1800 - 400 - 3, 6);
    expect(waits({ slo: 0.5, mode: 'Aggregated' }, ledger, true, instance)).toBeCloseTo(1800 - 3, 6);
    const stopped = { ...ledger, running: 0, waiting: 1 };
    expect(waits({ slo: 0.5, mode: 'Task' }, stopped, false, anInstance({ pod: 'p' }))).toBeCloseTo(1800 - 3, 6);
  });

  it('is that of the instance alone, in mode Independent', () => {
    const ledger = { times: { useful: 9000, discarded: 500, pending: 5000 }, admittedAt: epochSeconds(NOW - 7200) };
    const instance = anInstance({ pod: 'p', running: true, ...times({ useful: 90, pending: 10 }) });
    expect(waits({ slo: 0.9, mode: 'Independent' }, ledger, true, instance)).toBeCloseTo(360 - 10 - 3, 6);
  });

  it('heeds what came since admission only while the request is younger than the window', () => {
    const aged = (age: number) => ({ times: { useful: 360, pending: 20 }, admittedAt: epochSeconds(NOW - age) });
    expect(waits({ slo: 0.9 }, aged(3599))).toBeCloseTo((360 - 0.9 * 380) / 0.9 - 3, 6);
    expect(waits({ slo: 0.9 }, aged(3600))).toBeCloseTo(360 - 20 - 3, 6);
  });

  it('is infinite for best effort, and while enough others run', () => {
    expect(waits({ slo: 0 }, {})).toBe(Number.POSITIVE_INFINITY);
    // Ten instances waited for an hour before nine were scaled away.
    expect(waits({ slo: 0 }, { admittedAt: epochSeconds(NOW - 3600), times: { pending: 36_000 } })).toBe(
      Number.POSITIVE_INFINITY,
    );
    expect(waits({ slo: 0.9 }, { running: 20, times: { useful: 80_000 } })).toBe(Number.POSITIVE_INFINITY);
  });

  it('is never positive for who was promised everything', () => {
    expect(waits({ slo: 1 }, { times: { useful: 9000 } })).toBe(-3);
    expect(waitingAllowance({ slo: 1, window: seconds(3600) }, seconds(9000))).toBe(0);
  });
});

describe('what a pod may lose', () => {
  it('grows with its age, up to what the SLO lets it lose in the window', () => {
    const allowance = (slo: number, age: number) => waitingAllowance({ slo, window: seconds(3600) }, seconds(age));
    expect([0, 900, 1800, 7200].map((age) => allowance(0.5, age))).toEqual([0, 900, 1800, 1800]);
    expect(allowance(0.9, 1800)).toBeCloseTo(200, 6);
    expect(allowance(0.9, 7200)).toBeCloseTo(360, 6);
    expect(allowance(0, 0)).toBe(3600);
  });
});
