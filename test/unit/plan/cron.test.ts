import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type EpochSeconds, epochSeconds, seconds } from '../../../src/model/units.ts';
import { budgetsInForce } from '../../../src/plan/budgets/in-force.ts';
import { cronProblem, windowAt } from '../../../src/plan/cron.ts';
import { aBudget } from '../../support/builders/options.ts';

const HOUR = 3600;

function utc(text: string): EpochSeconds {
  return epochSeconds(Date.parse(text) / 1000);
}

/** When the window closes, `open` when it never does, `closed` when none is open. */
function stateAt(instant: string, schedule: string, hours: number, timeZone = 'Europe/Rome'): string {
  const found = windowAt({ schedule, timeZone, duration: seconds(hours * HOUR) }, utc(instant));
  if (found === undefined) {
    return 'closed';
  }
  return found.closesAt === undefined ? 'open' : new Date(found.closesAt * 1000).toISOString().slice(0, 16);
}

describe('a window', () => {
  it.each([
    { when: 'the instant before it begins', at: '2027-01-11T06:59:59Z', is: 'closed' },
    { when: 'the instant it begins', at: '2027-01-11T07:00:00Z', is: '2027-01-11T17:00' },
    { when: 'the last instant', at: '2027-01-11T16:59:59Z', is: '2027-01-11T17:00' },
    { when: 'its end', at: '2027-01-11T17:00:00Z', is: 'closed' },
    { when: 'a day that it leaves out', at: '2027-01-10T12:00:00Z', is: 'closed' },
    { when: 'summer, an hour earlier in UTC', at: '2027-07-12T06:00:00Z', is: '2027-07-12T16:00' },
  ])('of office hours in Rome, at $when', ({ at, is }) => {
    expect(stateAt(at, '0 8 * * 1-5', 10)).toBe(is);
  });

  describe('in the spring night that has no 02:30 in Rome', () => {
    it.each([
      { at: '2027-03-28T00:59:59Z', is: 'closed' },
      { at: '2027-03-28T01:00:00Z', is: '2027-03-28T02:00' },
      { at: '2027-03-28T01:59:59Z', is: '2027-03-28T02:00' },
      { at: '2027-03-28T02:00:00Z', is: 'closed' },
    ])('begins when the skipped hour ends, at 03:00: $at', ({ at, is }) => {
      expect(stateAt(at, '30 2 * * *', 1)).toBe(is);
    });

    it('is as long as ever when it spans the change: duration is elapsed time', () => {
      expect(stateAt('2027-03-28T00:30:00Z', '0 1 * * *', 3)).toBe('2027-03-28T03:00');
      expect(stateAt('2027-03-28T02:59:59Z', '0 1 * * *', 3)).toBe('2027-03-28T03:00');
      expect(stateAt('2027-03-28T03:00:00Z', '0 1 * * *', 3)).toBe('closed');
    });
  });

  describe('in the autumn night that has 02:30 twice in Rome', () => {
    it('begins once, at the first', () => {
      expect(stateAt('2027-10-31T00:30:00Z', '30 2 * * *', 0.5)).toBe('2027-10-31T01:00');
      expect(stateAt('2027-10-31T01:30:00Z', '30 2 * * *', 0.5)).toBe('closed');
    });

    it('goes on through both hours when it begins every hour', () => {
      for (const at of ['2027-10-31T00:10:00Z', '2027-10-31T01:10:00Z', '2027-10-31T02:10:00Z']) {
        expect(stateAt(at, '0 * * * *', 0.25)).toBe(at.replace('10:00Z', '15'));
      }
    });

    it('is as long as ever when it spans the change', () => {
      expect(stateAt('2027-10-31T01:59:59Z', '0 1 * * *', 3)).toBe('2027-10-31T02:00');
      expect(stateAt('2027-10-31T02:00:00Z', '0 1 * * *', 3)).toBe('closed');
    });
  });

  it('knows zones with half hours, and changes of half an hour', () => {
    expect(stateAt('2027-01-11T03:29:59Z', '0 9 * * *', 1, 'Asia/Kolkata')).toBe('closed');
    expect(stateAt('2027-01-11T03:30:00Z', '0 9 * * *', 1, 'Asia/Kolkata')).toBe('2027-01-11T04:30');
    // Lord Howe skips from 02:00 to 02:30 on 3 October.
    expect(stateAt('2027-10-02T15:29:59Z', '15 2 * * *', 1, 'Australia/Lord_Howe')).toBe('closed');
    expect(stateAt('2027-10-02T15:30:00Z', '15 2 * * *', 1, 'Australia/Lord_Howe')).toBe('2027-10-02T16:30');
  });

  it('that is longer than the time to the next one runs into it', () => {
    expect(stateAt('2027-01-11T07:30:00Z', '0 8,9,10 * * *', 2)).toBe('2027-01-11T11:00');
    expect(stateAt('2027-01-11T10:59:59Z', '0 8,9,10 * * *', 2)).toBe('2027-01-11T11:00');
    expect(stateAt('2027-01-11T11:00:00Z', '0 8,9,10 * * *', 2)).toBe('closed');
  });

  it('has no end when there is never a gap', () => {
    expect(stateAt('2027-01-11T07:30:00Z', '0 0 * * *', 24)).toBe('open');
  });

  it('is the same, second by second, as to look at every minute for a beginning', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 23 }),
        fc.constantFrom(0, 15, 30),
        fc.constantFrom('Europe/Rome', 'Etc/UTC', 'Asia/Kolkata'),
        fc.integer({ min: 1, max: 30 }),
        fc.integer({ min: 0, max: 2 * 24 * 60 }),
        (hour, minute, timeZone, hours, minutes) => {
          // 9 March to 12 March: no change of clocks in these zones.
          const now = epochSeconds(utc('2027-03-10T00:00:00Z') + minutes * 60);
          const local = new Intl.DateTimeFormat('sv-SE', { timeZone, timeStyle: 'short' });
          const wanted = `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`;
          let open = false;
          for (let back = 0; back < hours * 60 && !open; back += 1) {
            open = local.format(new Date((now - back * 60) * 1000)) === wanted;
          }
          const window = { schedule: `${minute} ${hour} * * *`, timeZone, duration: seconds(hours * HOUR) };
          expect(windowAt(window, now) !== undefined).toBe(open);
        },
      ),
      { numRuns: 200 },
    );
  });
});

describe('cronProblem', () => {
  it.each(['0 8 * * 1-5', '*/15 * * * *', '0 0 29 2 *', '0 22 * * MON-FRI', '0 0 L * *', '0 0 ? * FRI#2'])(
    'accepts %s',
    (schedule) => {
      expect(cronProblem(schedule)).toBeUndefined();
    },
  );

  it.each([
    ['0 0 30 2 *', 'no day of any year matches it'],
    ['0 22-2 * * *', "From value is larger than to value: '22-2'"],
    ['0 0 * * * *', 'mode '],
    ['0 0 H * *', 'day of month (H) contains illegal characters'],
    ['0 0 * * FRI#L', 'day of week (FRI#L) is in a form that not every'],
    ['? 0 ? * *', 'minute (?) is in a form that not every'],
  ])('refuses %s', (schedule, why) => {
    expect(cronProblem(schedule)).toContain(why);
  });
});

describe('budgetsInForce', () => {
  const office = { schedule: '0 8 * * 1-5', timeZone: 'Europe/Rome', duration: seconds(10 * HOUR) };
  const entries = [aBudget({ place: 0, maxMoves: 10 }), aBudget({ place: 1, maxMoves: 0, window: office })];
  const placesAt = (instant: string) => budgetsInForce(entries, utc(instant)).map(({ place, until }) => [place, until]);

  it('leaves out entries whose window is closed', () => {
    expect(placesAt('2027-01-11T06:00:00Z')).toEqual([[0, undefined]]);
  });

  it('says until when the others apply, in their zone', () => {
    expect(placesAt('2027-01-11T12:00:00Z')).toEqual([
      [0, undefined],
      [1, 'until 18:00 Europe/Rome'],
    ]);
  });

  it('says the date when that is not today', () => {
    const window = { schedule: '0 18 * * 5', timeZone: 'Europe/Rome', duration: seconds(62 * HOUR) };
    const [entry] = budgetsInForce([aBudget({ maxMoves: 0, window })], utc('2027-01-16T12:00:00Z'));
    expect(entry?.until).toBe('until 2027-01-18 08:00 Europe/Rome');
  });

  it.each([
    { schedule: 'whenever', timeZone: 'Etc/UTC' },
    { schedule: '0 8 * * *', timeZone: 'Mars/Olympus' },
  ])('lets an entry that cannot be evaluated allow nothing: %j', (window) => {
    const entry = aBudget({ maxMoves: 5, window: { ...window, duration: seconds(HOUR) } });
    expect(budgetsInForce([entry], utc('2027-01-11T12:00:00Z'))).toMatchObject([{ maxMoves: 0 }]);
  });
});
