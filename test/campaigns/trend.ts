import { meanOf } from '../support/mean.ts';
import type { Confession, Vitals } from './vitals.ts';

/** How a process bore up: `ailments` is to be empty. */
export interface Constitution {
  /** Medians in MiB: after the warm-up, and at the end; and how much the line through the second half rises, in percent. */
  readonly rss: { readonly warm: number; readonly end: number; readonly trend: number };
  /** MiB of the heap in use after the warm-up and at the end, garbage included. */
  readonly heap: { readonly warm: number; readonly end: number };
  /** Milliseconds of delay of the event loop from the end of the warm-up to the end. */
  readonly lag: Confession['lag'];
  readonly handles: { readonly warm: number; readonly end: number };
  readonly descriptors: { readonly warm: number; readonly end: number };
  /** Targets of an hour of churn (quality.md, targets) that were missed. */
  readonly ailments: readonly string[];
}

/** Share of the samples that is the warm-up. */
export const WARM_UP = 1 / 3;
/** RSS is flat when it grows by no more than this, percent. */
const FLAT = 5;
/** Milliseconds. */
const LONGEST_STALL = 100;
/** Connections come and go: more than this many above what there were is growth. */
const SPARE_HANDLES = 10;

/**
 * Judges samples in the order in which they were taken, and what the process said when it was warm and at the end. During the
 * warm-up, caches and the heap fill.
 */
export function assess(
  samples: readonly Vitals[],
  said: { readonly warm: Confession; readonly end: Confession },
): Constitution {
  const third = Math.floor(samples.length * WARM_UP);
  const warm = samples.slice(third, 2 * third);
  const end = samples.slice(2 * third);
  const both = (pick: (vitals: Vitals) => number) => ({ warm: median(warm.map(pick)), end: median(end.map(pick)) });
  const rss = { ...both((each) => each.rss), trend: rise(samples.slice(samples.length >> 1)) };
  const heap = { warm: said.warm.heap, end: said.end.heap };
  const { lag } = said.end;
  const handles = { warm: said.warm.handles, end: said.end.handles };
  const descriptors = both((each) => each.descriptors);
  const grown = (100 * (rss.end - rss.warm)) / rss.warm;
  const ailments = [
    grown > FLAT ? `RSS grew by ${grown.toFixed(1)} % after the warm-up` : [],
    rss.trend > FLAT ? `RSS rises by ${rss.trend.toFixed(1)} % over the second half` : [],
    lag.p99 > LONGEST_STALL ? `the event loop stalls: p99 is ${lag.p99.toFixed(0)} ms` : [],
    handles.end > handles.warm + SPARE_HANDLES ? `handles grew from ${handles.warm} to ${handles.end}` : [],
    descriptors.end > descriptors.warm + SPARE_HANDLES
      ? `descriptors grew from ${descriptors.warm} to ${descriptors.end}`
      : [],
  ].flat();
  return { rss, heap, lag, handles, descriptors, ailments };
}

/** Percent by which the least-squares line through RSS rises from the first to the last sample; 0 for fewer than two. */
function rise(samples: readonly Vitals[]): number {
  const at = meanOf(samples.map((each) => each.at));
  const rss = meanOf(samples.map((each) => each.rss));
  const variance = meanOf(samples.map((each) => (each.at - at) ** 2));
  const covariance = meanOf(samples.map((each) => (each.at - at) * (each.rss - rss)));
  const span = (samples.at(-1)?.at ?? 0) - (samples[0]?.at ?? 0);
  return variance > 0 ? (100 * (covariance / variance) * span) / rss : 0;
}

/** The middle value; NaN for none. */
function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length / 2) - 1)] ?? Number.NaN;
}
