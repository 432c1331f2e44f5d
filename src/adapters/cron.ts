import { schedule as startTask } from 'node-cron';
import { epochSeconds } from '../model/units.ts';
import type { StartCron } from '../ports.ts';

/** Cron expressions by this machine's clock, fired by node-cron. */
export const startCron: StartCron = (schedule, timezone, fire) => {
  const task = startTask(schedule, fire, { timezone, suppressMissedWarning: true });
  return {
    next: () => {
      const next = task.getNextRun();
      return next === null ? undefined : epochSeconds(next.getTime() / 1000);
    },
    stop: () => void task.destroy(),
  };
};
