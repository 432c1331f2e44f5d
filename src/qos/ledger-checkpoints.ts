import type { ServiceTimes } from '../model/service-level.ts';
import { type EpochSeconds, epochSeconds, type Seconds, seconds } from '../model/units.ts';
import type { KeptLedger } from './ledger-state.ts';

/** Parts of the window at whose ends the times are remembered. With one more on either side, 14 are kept at most. */
const PARTS = 12;

/** A span over which times grew evenly. */
export interface Stretch {
  readonly from: EpochSeconds;
  readonly to: EpochSeconds;
  readonly before: ServiceTimes;
  readonly after: ServiceTimes;
}

/**
 * The checkpoints with those of a stretch: at whole multiples of a twelfth of the window since 1970, wherever changes
 * fall, so that times between two of them are told apart. Those that are older than the window and a part are given up.
 */
export function checkpointsThrough(
  checkpoints: KeptLedger['checkpoints'],
  { from, to, before, after }: Stretch,
  window: Seconds,
): KeptLedger['checkpoints'] {
  const part = Math.max(1, Math.ceil(window / PARTS));
  const oldest = to - window - part;
  const added: KeptLedger['checkpoints'][number][] = [];
  for (let at = nextMultiple(Math.max(from, oldest), part); at <= to; at += part) {
    const share = (at - from) / (to - from);
    added.push({
      at: epochSeconds(at),
      useful: between(before.useful, after.useful, share),
      discarded: between(before.discarded, after.discarded, share),
      pending: between(before.pending, after.pending, share),
    });
  }
  const kept = checkpoints.filter(({ at }) => at > oldest);
  return added.length === 0 && kept.length === checkpoints.length ? checkpoints : [...kept, ...added];
}

/** The first multiple of `part` after `instant`. */
function nextMultiple(instant: number, part: number): number {
  return (Math.floor(instant / part) + 1) * part;
}

/** Times grow by whole numbers of instances a second: rounding only undoes what division has added. */
function between(before: number, after: number, share: number): Seconds {
  return seconds(before + Math.round((after - before) * share));
}
