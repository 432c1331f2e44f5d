import type { PenaltyTier, ServiceClass } from '../model/service-level.ts';
import type { Seconds } from '../model/units.ts';

/**
 * `P = D* (1 + b)` with `D* = (O - A) x duration x cpu` (algorithms.md 8): what a request with this availability over this
 * time and so many cores is owed, in core-seconds; b is the surcharge of the lowest tier that it fell below. 0 where it fell
 * below none.
 */
export function penaltyOf(
  { slo, penalties }: Pick<ServiceClass, 'slo' | 'penalties'>,
  availability: number,
  duration: Seconds,
  cores: number,
): number {
  const tier = tierOf(penalties, availability);
  return tier === undefined ? 0 : Math.max(0, slo - availability) * duration * cores * (1 + tier.surcharge);
}

/** The lowest tier that the availability fell below; `undefined`: none. */
export function tierOf(penalties: readonly PenaltyTier[], availability: number): PenaltyTier | undefined {
  return penalties.findLast(({ below }) => availability < below);
}
