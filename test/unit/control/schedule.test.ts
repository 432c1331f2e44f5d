import fc from 'fast-check';
import { createTask } from 'node-cron';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { startCron } from '../../../src/adapters/cron.ts';
import { formatProblem } from '../../../src/api/validate.ts';
import { scheduleOf, scheduleProblem, scheduleProblems } from '../../../src/control/schedule.ts';
import { epochSeconds } from '../../../src/model/units.ts';
import { latestPeriod } from '../../../src/plan/cron.ts';
import { aPolicy } from '../../support/builders/policy.ts';
import { NOON } from '../../support/test-clock.ts';

const later = (span: number) => epochSeconds(NOON + span);

describe('scheduleProblem', () => {
  it.each([
    [{}],
    [{ interval: '5m' }],
    [{ schedule: '0 3 * * *' }],
    [{ schedule: '*/15 8-18 * * 1-5', timeZone: 'Europe/Rome' }],
    [{ schedule: '0 0 1 * *', timeZone: 'Etc/UTC' }],
    [{ schedule: '  0   3 * * *  ' }],
  ])('accepts %j', (timing) => {
    expect(scheduleProblem(timing)).toBeUndefined();
  });

  it.each([
    [{ schedule: '0 3 * *' }, 'schedule "0 3 * *" has 4 fields: write five, minute, hour'],
    [{ schedule: '0 0 3 * * *' }, 'has 6 fields: write five'],
    [{ schedule: '' }, 'has 1 fields: write five'],
    [
      { schedule: '60 3 * * *' },
      'schedule "60 3 * * *" is not a cron expression that can be used: Invalid value for minute: 60',
    ],
    [{ schedule: 'a b c d e' }, 'can be used: minute (a) contains illegal characters'],
    [{ schedule: '0 22-2 * * *' }, "can be used: From value is larger than to value: '22-2'"],
    [{ schedule: '0 0 30 2 *' }, 'can be used: no day of any year matches it'],
    [{ schedule: '0 0 * * +1' }, 'can be used: day of week (+1) is in a form that not every cron implementation reads'],
    [
      { schedule: '0 0 1 * 1' },
      'restricts both day of month and day of week, which cron implementations read differently: write * for one',
    ],
    [
      { schedule: '0 3 * * *', timeZone: 'Mars/Olympus' },
      'timeZone "Mars/Olympus" is not an IANA time zone: write one such as Europe/Rome',
    ],
  ])('refuses %j and says what to write', (timing, message) => {
    expect(scheduleProblem(timing)).toContain(message);
  });
});

describe('an expression that is accepted', () => {
  const entry = fc.constantFrom(
    ...[
      '*',
      '*/7',
      '0',
      '00',
      '5',
      '9',
      '12',
      '30',
      '31',
      '1-5',
      '1-9/4',
      '9-1',
      '0-7',
      '5/15',
      '1,3',
      '2,L',
      'L',
      'LW',
    ],
    ...[
      '15W',
      '015W',
      '5L',
      '1-5L',
      'MON',
      'fri',
      'JAN',
      'monday',
      'SAT#2',
      'FRI#L',
      '1#5',
      '1#6',
      '?',
      '+1',
      '7',
      '7L',
    ],
  );

  it('fires, by node-cron, at the instants that croner finds', () => {
    const field = fc.oneof({ weight: 2, arbitrary: fc.constant('*') }, entry);
    const expression = fc.tuple(field, field, field, field, field).map((fields) => fields.join(' '));
    let accepted = 0;
    const property = fc.property(expression, fc.integer({ min: 0, max: 5e6 }), (schedule, minutes) => {
      fc.pre(scheduleProblem({ schedule }) === undefined);
      accepted += 1;
      const task = createTask(schedule, () => undefined, { timezone: 'Etc/UTC' });
      const now = later(60 * minutes);
      const until = latestPeriod({ schedule, timeZone: 'Etc/UTC' }, now);
      expect(task.match(new Date((now + until) * 1000))).toBe(true);
    });
    fc.assert(property, { numRuns: 100, maxSkipsPerRun: 1000 });
    expect(accepted).toBeGreaterThanOrEqual(100);
  });
});

describe('scheduleProblems', () => {
  const problemsOf = (spec: Readonly<Record<string, unknown>>): readonly string[] =>
    scheduleProblems(aPolicy('even', spec).spec).map(formatProblem);

  it('finds nothing in good schedules and budgets without', () => {
    const window = { maxMoves: 0, schedule: '0 8 * * 1-5', duration: '10h', timeZone: 'Europe/Rome' };
    expect(problemsOf({ schedule: '0 3 * * *', budgets: [{ maxMoves: 1 }, window] })).toEqual([]);
  });

  it('names every field that is wrong, in the policy and in its budgets', () => {
    const window = { maxMoves: 0, duration: '1h' };
    const budgets = [
      { ...window, schedule: '0 8 * * 1-5', timeZone: 'Mars/Olympus' },
      { ...window, schedule: '0 8 * *' },
      { ...window, schedule: '0 22-2 * * *' },
    ];
    expect(problemsOf({ schedule: '0 0 1 * 1', budgets }).map((problem) => problem.slice(0, 70))).toEqual([
      'spec.schedule: schedule "0 0 1 * 1" restricts both day of month and day of week, w'.slice(0, 70),
      'spec.budgets[0].timeZone: timeZone "Mars/Olympus" is not an IANA time zone'.slice(0, 70),
      'spec.budgets[1].schedule: schedule "0 8 * *" has 4 fields: write five, minute'.slice(0, 70),
      'spec.budgets[2].schedule: schedule "0 22-2 * * *" is not a cron expression'.slice(0, 70),
    ]);
  });
});

describe('a schedule by interval', () => {
  const schedule = scheduleOf({ interval: '5m' }, startCron, () => undefined);

  it('is due at once when there was no run', () => {
    expect(schedule.due(undefined, NOON)).toBe(true);
    expect(schedule.nextRun(undefined, NOON)).toBe(NOON);
  });

  it('is due an interval after the last run began, not a second before', () => {
    expect(schedule.due(NOON, later(299))).toBe(false);
    expect(schedule.due(NOON, later(300))).toBe(true);
    expect(schedule.nextRun(NOON, later(299))).toBe(later(300));
  });

  it('is due now, never in the past, when it was missed', () => {
    expect(schedule.nextRun(NOON, later(1_000))).toBe(later(1_000));
  });

  it('is due when the last run lies in the future: the clock was set back', () => {
    expect(schedule.due(later(7_200), NOON)).toBe(true);
    expect(schedule.due(later(5), NOON)).toBe(false);
  });

  it('takes a run that is up to ten seconds ahead for one that was just now, by the clock of another leader', () => {
    expect([schedule.due(later(10), NOON), schedule.nextRun(later(10), NOON)]).toEqual([false, later(310)]);
    expect([schedule.due(later(10.5), NOON), schedule.nextRun(later(10.5), NOON)]).toEqual([true, NOON]);
  });

  it('runs every five minutes when nothing is said', () => {
    expect(scheduleOf({}, startCron, () => undefined).nextRun(NOON, NOON)).toBe(later(300));
  });
});

describe('a schedule by cron expression', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it('is due when it fires, once, and wakes the loop; its zone counts; stopped it is silent', async () => {
    vi.useFakeTimers({ now: NOON * 1000 });
    let woken = 0;
    const schedule = scheduleOf({ schedule: '30 13 * * *', timeZone: 'Europe/Rome' }, startCron, () => {
      woken += 1;
    });
    expect(schedule.due(undefined, NOON)).toBe(false);
    expect(schedule.nextRun(undefined, NOON)).toBe(later(1_800));
    await vi.advanceTimersByTimeAsync(1_800_500);
    expect(woken).toBe(1);
    expect(schedule.due(NOON, later(1_801))).toBe(true);
    expect(schedule.due(undefined, later(1_801))).toBe(true);
    expect(schedule.due(later(1_801), later(1_802))).toBe(false);
    schedule.stop();
    await vi.advanceTimersByTimeAsync(2 * 86_400_000);
    expect(woken).toBe(1);
  });

  it('is due no more when a run is recorded in whole seconds, in the second in which it fired', async () => {
    vi.useFakeTimers({ now: NOON * 1000 });
    const schedule = scheduleOf({ schedule: '30 13 * * *', timeZone: 'Europe/Rome' }, startCron, () => undefined);
    await vi.advanceTimersByTimeAsync(1_800_500);
    expect(schedule.due(later(1_799), later(1_800.5))).toBe(true);
    expect(schedule.due(later(1_800), later(1_800.6))).toBe(false);
    schedule.stop();
  });

  it('is due once also when runs are recorded by a clock that is an hour behind the one by which it fires', async () => {
    vi.useFakeTimers({ now: NOON * 1000 });
    const schedule = scheduleOf({ schedule: '30 13 * * *', timeZone: 'Europe/Rome' }, startCron, () => undefined);
    await vi.advanceTimersByTimeAsync(1_800_500);
    expect(schedule.due(later(-10_000), later(-1_800))).toBe(true);
    expect(schedule.due(later(-1_800), later(-1_799))).toBe(false);
    schedule.stop();
  });
});
