import { type EpochSeconds, epochSeconds } from './units.ts';

/** RFC 3339 in UTC with whole seconds, as Kubernetes' metav1.Time. */
export function formatInstant(instant: EpochSeconds): string {
  return `${new Date(Math.floor(instant) * 1000).toISOString().slice(0, 19)}Z`;
}

/** The instant of an RFC 3339 text; NaN for anything else. */
export function parseInstant(text: string): EpochSeconds {
  return epochSeconds(/^\d{4}-\d{2}-\d{2}T/.test(text) ? Date.parse(text) / 1000 : Number.NaN);
}
