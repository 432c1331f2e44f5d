import type { LedgerMode, ServiceTimes } from '../model/service-level.ts';
import { type Seconds, seconds } from '../model/units.ts';

/**
 * `times` after `span` more in which `running` instances ran and `waiting` waited. In mode Concurrent nothing is useful
 * while one waits (T 7.2). In every mode the three grow by span x instances together.
 */
export function grown(
  { useful, discarded, pending }: ServiceTimes,
  mode: LedgerMode,
  running: number,
  waiting: number,
  span: Seconds,
): ServiceTimes {
  const serving = mode === 'Concurrent' && waiting > 0 ? 0 : running;
  return {
    useful: seconds(useful + serving * span),
    discarded,
    pending: seconds(pending + (running + waiting - serving) * span),
  };
}

/** `times` after run time that was useful so far turned out to be lost. */
export function withoutRun({ useful, discarded, pending }: ServiceTimes, lost: Seconds): ServiceTimes {
  return { useful: seconds(useful - lost), discarded: seconds(discarded + lost), pending };
}
