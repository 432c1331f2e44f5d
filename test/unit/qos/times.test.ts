import { describe, expect, it } from 'vitest';
import { epochSeconds, seconds } from '../../../src/model/units.ts';
import {
  availabilityOf,
  grown,
  instanceTimesAt,
  minus,
  timesAt,
  timesOver,
  totalOf,
  withoutRun,
} from '../../../src/qos/times.ts';
import { aLedger, anInstance, times } from '../../support/builders/service-levels.ts';
import { NOW } from '../../support/builders.ts';

const later = (span: number) => epochSeconds(NOW + span);

describe('the times of a request', () => {
  it('grow with its running and waiting instances', () => {
    const ledger = aLedger({ running: 3, waiting: 2, times: { useful: 10, discarded: 1, pending: 4 } });
    expect(timesAt(ledger, 'Aggregated', later(10))).toEqual(times({ useful: 40, discarded: 1, pending: 24 }));
  });

  it('are pending in mode Concurrent while any instance waits', () => {
    expect(timesAt(aLedger({ running: 3, waiting: 2 }), 'Concurrent', later(10))).toEqual(times({ pending: 50 }));
    expect(timesAt(aLedger({ running: 3, waiting: 1 }), 'Concurrent', later(10))).toEqual(times({ pending: 40 }));
    expect(timesAt(aLedger({ running: 3, waiting: 0 }), 'Concurrent', later(10))).toEqual(times({ useful: 30 }));
  });

  it('do not run backwards before the instant up to which they are counted', () => {
    const ledger = aLedger({ times: { useful: 10 } });
    expect(timesAt(ledger, 'Aggregated', later(-100))).toEqual(times({ useful: 10 }));
  });

  it('have no availability before anything was observed', () => {
    expect(availabilityOf(times())).toBeUndefined();
    expect(availabilityOf(times({ useful: 3, discarded: 2, pending: 5 }))).toBe(0.3);
    expect(availabilityOf(times({ pending: 1 }))).toBe(0);
    expect(availabilityOf(times({ useful: 5 }))).toBe(1);
  });

  it('are added up over all three', () => {
    expect(totalOf(times({ useful: 3, discarded: 20, pending: 500 }))).toBe(523);
  });

  it.each([
    { mode: 'Aggregated', running: 3, waiting: 2, useful: 40, pending: 24 },
    { mode: 'Concurrent', running: 3, waiting: 2, useful: 10, pending: 54 },
    { mode: 'Concurrent', running: 3, waiting: 1, useful: 10, pending: 44 },
    { mode: 'Concurrent', running: 3, waiting: 0, useful: 40, pending: 4 },
    { mode: 'Task', running: 0, waiting: 2, useful: 10, pending: 24 },
  ] as const)(
    'grow in mode $mode by what $running running and $waiting waiting instances add',
    ({ mode, running, waiting, useful, pending }) => {
      const before = times({ useful: 10, discarded: 1, pending: 4 });
      expect(grown(before, mode, running, waiting, seconds(10))).toEqual(times({ useful, discarded: 1, pending }));
    },
  );

  it('lose the run time that turns out to be lost, and no time', () => {
    const before = times({ useful: 10, discarded: 1, pending: 4 });
    expect(withoutRun(before, seconds(7))).toEqual(times({ useful: 3, discarded: 8, pending: 4 }));
  });
});

describe('the times of an instance', () => {
  const fields = times({ useful: 10, discarded: 1, pending: 4 });

  it('are useful while it runs, and pending while it waits', () => {
    const running = anInstance({ ...fields, running: true });
    expect(instanceTimesAt(running, later(20))).toEqual(times({ useful: 30, discarded: 1, pending: 4 }));
    const waiting = anInstance({ ...fields, running: false });
    expect(instanceTimesAt(waiting, later(20))).toEqual(times({ useful: 10, discarded: 1, pending: 24 }));
  });

  it('do not run backwards before the instant since which it runs or waits', () => {
    expect(instanceTimesAt(anInstance({ ...fields, running: true }), later(-5))).toEqual(fields);
    expect(instanceTimesAt(anInstance({ ...fields, running: false }), later(-5))).toEqual(fields);
  });
});

describe('what was added between two instants', () => {
  it('is the difference of each of the three', () => {
    const earlier = times({ useful: 10, discarded: 1, pending: 4 });
    expect(minus(times({ useful: 13, discarded: 21, pending: 504 }), earlier)).toEqual(
      times({ useful: 3, discarded: 20, pending: 500 }),
    );
    expect(minus(earlier, earlier)).toEqual(times());
  });

  it('is never negative', () => {
    expect(minus(times({ useful: 10 }), times({ useful: 10, discarded: 3, pending: 4 }))).toEqual(times());
  });

  it('counts useful time from before that was lost in between once', () => {
    expect(minus(times({ useful: 2, discarded: 15 }), times({ useful: 10 }))).toEqual(times({ discarded: 7 }));
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

  it('have the run time that was lost in the second in which they begin, and none that was lost before', () => {
    const task = aLedger({
      admittedAt: later(-1000),
      asOf: later(-500),
      times: { discarded: 500 },
      checkpoints: [{ at: later(-500), ...times({ useful: 500 }) }],
    });
    expect(timesOver(task, 'Task', NOW, seconds(500))).toEqual(times({ discarded: 500 }));
    expect(timesOver(task, 'Task', NOW, seconds(499))).toEqual(times({ useful: 499 }));
  });

  it('are all that a request has got where it was admitted just then', () => {
    const fresh = aLedger({ times: { useful: 0 }, admittedAt: NOW });
    expect(timesOver(fresh, 'Aggregated', NOW, seconds(500))).toEqual(times());
    expect(timesOver(fresh, 'Aggregated', later(30), seconds(500))).toEqual(times({ useful: 30 }));
    expect(timesOver(fresh, 'Aggregated', later(30), seconds(20))).toEqual(times({ useful: 20 }));
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
