import type { PastMove, SpentService } from '../../model/past-move.ts';
import { after, type EpochSeconds, elapsed, epochSeconds, type Seconds, seconds } from '../../model/units.ts';
import type { StartupTimes } from '../startup.ts';
import { LOOK_BACK } from './cooldown.ts';

/** Seconds of one span in which forgotten moves are summed up. */
const SPENT_SPAN = 300;

/**
 * Pod-seconds of service that past moves cost in the `window` before `now`: of each the part of it that lies inside; what
 * was spent by moves that no journal remembers counts whole where its span reaches into the window.
 * What was measured counts; what is still under way counts as what it is expected to take, or has taken if that is more.
 */
export function lostService(
  pastMoves: readonly PastMove[],
  startup: StartupTimes,
  window: Seconds,
  now: EpochSeconds,
  spent: readonly SpentService[] = [],
): Seconds {
  const begin = now - window;
  let lost = 0;
  for (const move of pastMoves) {
    const end = after(move.startedAt, costOf(move, startup, now));
    lost += Math.max(0, end - Math.max(move.startedAt, begin));
  }
  for (const span of spent) {
    lost += span.from + SPENT_SPAN > begin ? span.lost : 0;
  }
  return seconds(lost);
}

/**
 * `spent` with what these moves have cost, span by span, ascending; without spans that are out of reach of every window. Its
 * size is bounded by LOOK_BACK, however many moves there were.
 */
export function spend(
  spent: readonly SpentService[],
  pastMoves: readonly PastMove[],
  startup: StartupTimes,
  now: EpochSeconds,
): readonly SpentService[] {
  const lost = new Map<number, number>(spent.map((span) => [span.from, span.lost]));
  for (const move of pastMoves) {
    const end = after(move.startedAt, costOf(move, startup, now));
    for (let at: number = move.startedAt; at < end; at = spanOf(at) + SPENT_SPAN) {
      const until = Math.min(end, spanOf(at) + SPENT_SPAN);
      lost.set(spanOf(at), (lost.get(spanOf(at)) ?? 0) + until - at);
    }
  }
  return [...lost]
    .filter(([from]) => from + SPENT_SPAN > now - LOOK_BACK)
    .sort(([left], [right]) => left - right)
    .map(([from, sum]) => ({ from: epochSeconds(from), lost: seconds(sum) }));
}

function spanOf(instant: number): number {
  return Math.floor(instant / SPENT_SPAN) * SPENT_SPAN;
}

function costOf(move: PastMove, startup: StartupTimes, now: EpochSeconds): Seconds {
  const { unavailable, phase, startedAt } = move;
  if (unavailable !== undefined) {
    return unavailable;
  }
  const expected = move.cost ?? startup.of(move.owner.uid);
  switch (phase) {
    case 'InFlight':
      return seconds(Math.max(expected, elapsed(startedAt, now)));
    case 'Failed':
      return seconds(Math.max(expected, elapsed(startedAt, move.endedAt ?? now)));
    case 'Landed':
    case 'Missed':
    case 'Vacated':
      return expected;
    default:
      return phase satisfies never;
  }
}
