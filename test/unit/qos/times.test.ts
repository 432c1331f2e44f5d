import { describe, expect, it } from 'vitest';
import { epochSeconds, seconds } from '../../../src/model/units.ts';
import { availabilityOf, timesAt, timesOver } from '../../../src/qos/times.ts';
import { aLedger, times } from '../../support/builders/service-levels.ts';
import { NOW } from '../../support/builders.ts';

const later = (span: number) => epochSeconds(NOW + span);

describe('the times of a request', () => {
  it('grow with its running and waiting instances', () => {
    const ledger = aLedger({ running: 3, waiting: 2, times: { useful: 10, discarded: 1, pending: 4 } });
    expect(timesAt(ledger, 'Aggregated', later(10))).toEqual(times({ useful: 40, discarded: 1, pending: 24 }));
  });

  it('are pending in mode Concurrent while any instance waits', () => {
    expect(timesAt(aLedger({ running: 3, waiting: 2 }), 'Concurrent', later(10))).toEqual(times({ pending: 50 }));
    expect(timesAt(aLedger({ running: 3, waiting: 0 }), 'Concurrent', later(10))).toEqual(times({ useful: 30 }));
  });

  it('do not run backwards before the instant up to which they are counted', () => {
    const ledger = aLedger({ times: { useful: 10 } });
    expect(timesAt(ledger, 'Aggregated', later(-100))).toEqual(times({ useful: 10 }));
  });

  it('have no availability before anything was observed', () => {
    expect(availabilityOf(times())).toBeUndefined();
    expect(availabilityOf(times({ useful: 3, discarded: 2, pending: 5 }))).toBe(0.3);
  });
});

describe('the times over a window', () => {
  const ledger = aLedger({
    admittedAt: later(-1000),
    times: { useful: 400, pending: 600 },
    checkpoints: [
      { at: later(-500), ...times({ useful: 100, pending: 400 }) },
      { at: later(-100), ...times({ useful: 400, pending: 500 }) },
    ],
    running: 0,
    waiting: 1,
  });

  it('leave out what was before it', () => {
    expect(timesOver(ledger, 'Aggregated', NOW, seconds(500))).toEqual(times({ useful: 300, pending: 200 }));
  });

  it('take times to have grown evenly between two checkpoints', () => {
    expect(timesOver(ledger, 'Aggregated', NOW, seconds(300))).toEqual(times({ useful: 150, pending: 150 }));
  });

  it('end now rather than when they were counted', () => {
    expect(timesOver(ledger, 'Aggregated', later(50), seconds(150))).toEqual(times({ pending: 150 }));
    expect(timesOver(ledger, 'Aggregated', later(50), seconds(20))).toEqual(times({ pending: 20 }));
  });

  it('begin with the admission of a request that is younger', () => {
    expect(timesOver(ledger, 'Aggregated', NOW, seconds(5000))).toEqual(times({ useful: 400, pending: 600 }));
  });

  it('come to the length of the window, when run time from before it is lost within it', () => {
    const task = aLedger({
      admittedAt: epochSeconds(NOW - 1600),
      times: { useful: 200, discarded: 1300, pending: 100 },
      checkpoints: [{ at: epochSeconds(NOW - 600), ...times({ useful: 1000 }) }],
    });
    expect(timesOver(task, 'Task', NOW, seconds(600))).toEqual(times({ discarded: 500, pending: 100 }));
  });
});
