import type { FieldProblem } from '../api/json-schema.ts';
import type { RebalancePolicySpec } from '../api/v1alpha1/rebalance-policy.ts';
import { parseDuration } from '../model/duration.ts';
import { after, type EpochSeconds, epochSeconds, type Seconds, seconds } from '../model/units.ts';
import { cronProblem } from '../plan/cron.ts';
import { DEFAULT_INTERVAL, DEFAULT_ZONE } from '../plan/resolve-options.ts';
import type { StartCron } from '../ports.ts';

/** How far the clocks of two leaders may be apart. */
const CLOCK_TOLERANCE: Seconds = seconds(10);

type Timing = Pick<RebalancePolicySpec, 'interval' | 'schedule' | 'timeZone'>;

/** What is wrong with the cron expressions and zones of a policy, its budgets included, and what to write instead. */
export function scheduleProblems(spec: RebalancePolicySpec): readonly FieldProblem[] {
  const own = located(['spec'], scheduleProblem(spec));
  const budgets = spec.budgets.flatMap((budget, place) => located(['spec', 'budgets', place], scheduleProblem(budget)));
  return [...own, ...budgets];
}

function located(path: FieldProblem['path'], message: string | undefined): readonly FieldProblem[] {
  return message === undefined
    ? []
    : [{ path: [...path, message.startsWith('timeZone') ? 'timeZone' : 'schedule'], message }];
}

/**
 * What is wrong with the cron expression or the zone, and what to write instead; undefined when both are fine.
 * Kubernetes ORs day of month and day of week, node-cron ANDs them: an expression that restricts both is refused.
 */
export function scheduleProblem({ schedule, timeZone }: Timing): string | undefined {
  if (schedule === undefined) {
    return undefined;
  }
  const fields = schedule.trim().split(/\s+/);
  if (fields.length !== 5) {
    return `schedule "${schedule}" has ${fields.length} fields: write five, minute, hour, day of month, month, day of week, such as "0 3 * * *"`;
  }
  const problem = cronProblem(schedule);
  if (problem !== undefined) {
    return `schedule "${schedule}" is not a cron expression that can be used: ${problem}`;
  }
  if (fields[2] !== '*' && fields[4] !== '*') {
    return `schedule "${schedule}" restricts both day of month and day of week, which cron implementations read differently: write * for one of them`;
  }
  return zoneProblem(timeZone ?? DEFAULT_ZONE);
}

function zoneProblem(timeZone: string): string | undefined {
  try {
    new Intl.DateTimeFormat('en', { timeZone });
    return undefined;
  } catch {
    return `timeZone "${timeZone}" is not an IANA time zone: write one such as Europe/Rome or Etc/UTC`;
  }
}

/** When a policy runs. Owns a timer when the policy has a cron expression. */
export interface PolicySchedule {
  /** Whether a run is due. `lastRun` is undefined before the first. */
  due(lastRun: EpochSeconds | undefined, now: EpochSeconds): boolean;
  /** When the next run is due, at or after `now`. */
  nextRun(lastRun: EpochSeconds | undefined, now: EpochSeconds): EpochSeconds;
  stop(): void;
}

/**
 * The schedule of a policy whose `scheduleProblem` is undefined. `wake` is called when a cron expression fires.
 */
export function scheduleOf(timing: Timing, startCron: StartCron, wake: () => void): PolicySchedule {
  return timing.schedule === undefined
    ? intervalSchedule(timing.interval ?? DEFAULT_INTERVAL)
    : cronSchedule(startCron, timing.schedule, timing.timeZone ?? DEFAULT_ZONE, wake);
}

function intervalSchedule(interval: string): PolicySchedule {
  const span = parseDuration(interval);
  // A run of the future was recorded by a clock that was ahead: by waiting for it nothing might run for days.
  const nextRun = (lastRun: EpochSeconds | undefined, now: EpochSeconds): EpochSeconds =>
    lastRun === undefined || lastRun > after(now, CLOCK_TOLERANCE)
      ? now
      : epochSeconds(Math.max(now, after(lastRun, span)));
  return { nextRun, due: (lastRun, now) => nextRun(lastRun, now) <= now, stop: () => undefined };
}

function cronSchedule(startCron: StartCron, schedule: string, timeZone: string, wake: () => void): PolicySchedule {
  // It fires by this machine's clock, and runs are recorded by the API server's: the two are never compared.
  let isNew = false;
  let fired: EpochSeconds | undefined;
  const timer = startCron(schedule, timeZone, () => {
    isNew = true;
    wake();
  });
  return {
    due(lastRun, now) {
      fired = isNew ? epochSeconds(Math.floor(now)) : fired;
      isNew = false;
      return fired !== undefined && (lastRun === undefined || lastRun < fired);
    },
    nextRun: (_, now) => timer.next() ?? now,
    stop: timer.stop,
  };
}
