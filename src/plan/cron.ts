import { Cron } from 'croner';
import { after, type EpochSeconds, elapsed, epochSeconds, type Seconds, seconds } from '../model/units.ts';
import type { BudgetWindow, RunTiming } from './options.ts';

/** How often a window may run into the next one before it counts as one without an end. */
const MAX_CHAINED = 100;

/** A window that is open at some instant. */
export interface OpenWindow {
  /** When it closes, windows that follow without a gap included; `undefined` when there is no end to them. */
  readonly closesAt: EpochSeconds | undefined;
}

const FIELDS = ['minute', 'hour', 'day of month', 'month', 'day of week'];

/** An entry of a field that croner, which finds instants, and node-cron, which fires, both read. */
const ENTRY =
  /^(?:(?:\*|\d\d?|[a-z]{3})(?:-(?:\d\d?|[a-z]{3}))?(?:\/\d\d?)?|LW?|[1-9]\d?W|(?:[0-7]|[a-z]{3})(?:L|#[1-5]))$/i;

/**
 * What is wrong with a cron expression; `undefined` when nothing is. Stricter than a validator of the syntax: an expression
 * that never comes, such as 30 February, is refused as well, and so is what only some cron implementations read.
 */
export function cronProblem(schedule: string): string | undefined {
  try {
    const first = new Cron(schedule, { mode: '5-part', timezone: 'Etc/UTC' }).nextRun(toDate(epochSeconds(0)));
    return first === null ? 'no day of any year matches it' : dialectProblem(schedule);
  } catch (error) {
    const message = error instanceof Error ? error.message.replace(/^\w+: /, '') : String(error);
    return message.replace(/configuration entry (\d)/, (entry, place) => FIELDS[Number(place) - 1] ?? entry);
  }
}

function dialectProblem(schedule: string): string | undefined {
  const fields = schedule.trim().split(/\s+/);
  const place = fields.findIndex(
    (field, at) => !isAnyDay(field, at) && !field.split(',').every((each) => ENTRY.test(each)),
  );
  return place < 0
    ? undefined
    : `${FIELDS[place]} (${fields[place]}) is in a form that not every cron implementation reads`;
}

function isAnyDay(field: string, place: number): boolean {
  return field === '?' && FIELDS[place]?.startsWith('day') === true;
}

/**
 * The window at instant `now`; `undefined` when none is open. A window is open from its beginning, for `duration` of
 * elapsed time, its end excluded: one that spans a change of clocks is as long as any other. A beginning at a local time
 * that is skipped in spring is when the skipped hour ends, so that protection never vanishes; one at a local time that
 * comes twice in autumn is the first of the two, while expressions with * or / in the hour go on through both.
 * Throws for an expression or a zone that cannot be evaluated.
 */
export function windowAt(window: BudgetWindow, now: EpochSeconds): OpenWindow | undefined {
  const { schedule, timeZone, duration } = window;
  const cron = new Cron(schedule, { mode: '5-part', timezone: timeZone });
  // previousRuns looks strictly before its reference.
  const begin = cron.previousRuns(1, new Date(Math.floor(now) * 1000 + 1))[0];
  if (begin === undefined || !(elapsed(toInstant(begin), now) < duration)) {
    return undefined;
  }
  let closesAt = after(toInstant(begin), duration);
  let last = begin;
  for (let chained = 0; chained < MAX_CHAINED; chained += 1) {
    const next = cron.nextRun(last);
    if (next === null || toInstant(next) > closesAt) {
      return { closesAt };
    }
    last = next;
    closesAt = after(toInstant(next), duration);
  }
  return { closesAt: undefined };
}

/** `18:00 Europe/Rome`, with the date when that is not today in the zone. */
export function formatLocalTime(instant: EpochSeconds, timeZone: string, now: EpochSeconds): string {
  const [date, time] = localParts(instant, timeZone);
  return `${localParts(now, timeZone)[0] === date ? '' : `${date} `}${time} ${timeZone}`;
}

/** The minute at whose end `instant` has passed, in UTC: `14:18 UTC`, with the date where that is not today's. */
export function formatDeadline(instant: EpochSeconds, now: EpochSeconds): string {
  return formatLocalTime(epochSeconds(Math.ceil(instant / 60) * 60), 'UTC', now);
}

/** Date and time of day. */
function localParts(instant: EpochSeconds, timeZone: string): readonly [date: string, time: string] {
  const [date = '', time = ''] = formatOf(timeZone).format(toDate(instant)).split(' ');
  return [date, time];
}

/** By time zone: one takes longer to make than a thousand dates to write. */
const formats = new Map<string, Intl.DateTimeFormat>();

/** The Swedish locale writes date and time as ISO 8601 does. */
function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  const format = known ?? new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' });
  if (known === undefined) {
    formats.set(timeZone, format);
  }
  return format;
}

function toDate(instant: EpochSeconds): Date {
  return new Date(instant * 1000);
}

function toInstant(date: Date): EpochSeconds {
  return epochSeconds(date.getTime() / 1000);
}

/**
 * How long it is at most from `now` until the policy runs again. Infinite where its cron expression never comes again.
 * Throws for an expression or a zone that cannot be evaluated.
 */
export function latestPeriod(runs: RunTiming, now: EpochSeconds): Seconds {
  if ('interval' in runs) {
    return runs.interval;
  }
  const next = nextFire(runs.schedule, runs.timeZone, now);
  return next === undefined ? seconds(Number.POSITIVE_INFINITY) : elapsed(now, next);
}

/**
 * When a cron expression comes round next after `now`; `undefined` when it never does. Throws for an expression or a zone that
 * cannot be evaluated.
 */
export function nextFire(schedule: string, timeZone: string, now: EpochSeconds): EpochSeconds | undefined {
  const next = new Cron(schedule, { mode: '5-part', timezone: timeZone }).nextRun(toDate(now));
  return next === null ? undefined : toInstant(next);
}
