import { type Seconds, seconds } from '../../model/units.ts';
import type { Clock } from '../../ports.ts';
import { createWaker } from '../periodic.ts';
import type { Leadership, Term } from './leadership.ts';
import type { Shard } from './names.ts';

const IDLE_WAIT: Seconds = seconds(30);

/**
 * Does `work` whenever this replica leads the shard, until aborted. The work ends when its signal is aborted: at the end, when the shard is
 * lost, or before it is handed over. Rejects as `work` does.
 */
export async function whileLed(
  shard: Shard,
  leadership: Leadership,
  work: (term: Term) => Promise<void>,
  clock: Pick<Clock, 'sleep'>,
  signal: AbortSignal,
): Promise<void> {
  const waker = createWaker();
  let ending = new AbortController();
  let done: Promise<void> = Promise.resolve();
  leadership.onChange(waker.wake);
  leadership.onHandOver(async (each) => {
    if (each === shard) {
      ending.abort();
      await done.catch(() => undefined); // whoever waits for the work itself hears of it
    }
  });
  while (!signal.aborted) {
    const term = leadership.of(shard);
    if (term === undefined) {
      await waker.wait(IDLE_WAIT, clock, signal);
    } else {
      ending = new AbortController();
      done = work({ ...term, signal: AbortSignal.any([signal, ending.signal, term.signal]) });
      await done;
    }
  }
}
