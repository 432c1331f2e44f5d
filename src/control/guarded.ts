import type { Logger } from 'pino';
import { type Seconds, seconds } from '../model/units.ts';

/** Who hears of a failure. */
export interface GuardPorts {
  readonly log: Logger;
  /** Counts it. */
  readonly runFailed: () => void;
}

/** Time until what failed is tried again. */
export const FAILED_WAIT: Seconds = seconds(5);

/**
 * Resolves to the time until the work is due again. A failure is counted and logged as `message`, and what failed is tried
 * again in FAILED_WAIT; once aborted it is no news.
 */
export async function guarded(
  work: () => Promise<Seconds>,
  message: string,
  { log, runFailed }: GuardPorts,
  signal: AbortSignal,
): Promise<Seconds> {
  try {
    return await work();
  } catch (error) {
    if (!signal.aborted) {
      runFailed();
      log.error({ err: error }, message);
    }
    return FAILED_WAIT;
  }
}
