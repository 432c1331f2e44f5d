import type { PastMove } from '../../model/past-move.ts';
import { after, type EpochSeconds, elapsed, type Seconds, seconds } from '../../model/units.ts';
import type { StartupTimes } from '../startup.ts';

/**
 * Pod-seconds of service that past moves cost in the `window` before `now`: of each the part of it that lies inside.
 * What was measured counts; what is still under way counts as what it is expected to take, or has taken if that is more.
 */
export function lostService(
  pastMoves: readonly PastMove[],
  startup: StartupTimes,
  window: Seconds,
  now: EpochSeconds,
): Seconds {
  const begin = now - window;
  let lost = 0;
  for (const move of pastMoves) {
    const end = after(move.startedAt, costOf(move, startup, now));
    lost += Math.max(0, end - Math.max(move.startedAt, begin));
  }
  return seconds(lost);
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
      return expected;
    default:
      return phase satisfies never;
  }
}
