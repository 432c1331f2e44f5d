import type { Vitals } from './vitals.ts';

/** How a process bore up: `ailments` is to be empty. */
export interface Constitution {
  /** Medians in MiB: after the warm-up, and at the end; and how much the line through the second half rises, in percent. */
  readonly rss: { readonly warm: number; readonly end: number; readonly trend: number };
  /** MiB of the heap right after a collection, as far as samples show it: a leak raises this, a heap that waits for the collector does not. */
  readonly heapFloor: { readonly warm: number; readonly end: number };
  /** Milliseconds: the median of all samples' 99th percentiles, and the one that one sample in a hundred exceeds. */
  readonly lag: { readonly usual: number; readonly worst: number };
  readonly handles: { readonly warm: number; readonly end: number };
  readonly descriptors: { readonly warm: number; readonly end: number };
  /** Promises of quality.md and issue 5 that were not kept. */
  readonly ailments: readonly string[];
}

/** RSS is flat when it grows by no more than this, percent. */
const FLAT = 5;
/** Milliseconds. */
const LONGEST_STALL = 100;
/** Connections come and go: more than this many above what there were is growth. */
const SPARE_HANDLES = 10;

/** Judges samples in the order in which they were taken. The first third is the warm-up, in which caches and the heap fill. */
export function assess(samples: readonly Vitals[]): Constitution {
  const third = Math.floor(samples.length / 3);
  const warm = samples.slice(third, 2 * third);
  const end = samples.slice(2 * third);
  const both = (pick: (vitals: Vitals) => number) => ({ warm: median(warm.map(pick)), end: median(end.map(pick)) });
  const rss = { ...both((each) => each.rss), trend: rise(samples.slice(samples.length >> 1)) };
  const floor = (part: readonly Vitals[]) => Math.min(...part.map(({ heap }) => heap));
  const heapFloor = { warm: floor(warm), end: floor(end) };
  const lags = samples.slice(third).map(({ lag }) => lag);
  const lag = { usual: median(lags), worst: quantile(lags, 0.99) };
  const handles = both((each) => each.handles);
  const descriptors = both((each) => each.descriptors);
  const grown = (100 * (rss.end - rss.warm)) / rss.warm;
  const ailments = [
    grown > FLAT ? `RSS grew by ${grown.toFixed(1)} % after the warm-up` : [],
    rss.trend > FLAT ? `RSS rises by ${rss.trend.toFixed(1)} % over the second half` : [],
    lag.worst > LONGEST_STALL ? `the event loop stalls: p99 is ${lag.worst.toFixed(0)} ms` : [],
    handles.end > handles.warm + SPARE_HANDLES ? `handles grew from ${handles.warm} to ${handles.end}` : [],
    descriptors.end > descriptors.warm + SPARE_HANDLES
      ? `descriptors grew from ${descriptors.warm} to ${descriptors.end}`
      : [],
  ].flat();
  return { rss, heapFloor, lag, handles, descriptors, ailments };
}

/** Percent by which the least-squares line through RSS rises from the first to the last sample; 0 for fewer than two. */
function rise(samples: readonly Vitals[]): number {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const at = mean(samples.map((each) => each.at));
  const rss = mean(samples.map((each) => each.rss));
  const variance = mean(samples.map((each) => (each.at - at) ** 2));
  const covariance = mean(samples.map((each) => (each.at - at) * (each.rss - rss)));
  const span = (samples.at(-1)?.at ?? 0) - (samples[0]?.at ?? 0);
  return variance > 0 ? (100 * (covariance / variance) * span) / rss : 0;
}

/** NaN for no samples. */
function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** The smallest value that at least this share of all do not exceed; NaN for no values. */
function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}
