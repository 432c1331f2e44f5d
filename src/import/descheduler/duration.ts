import { formatDuration } from '../../model/duration.ts';
import { seconds } from '../../model/units.ts';

const SECONDS_PER: Readonly<Record<string, number>> = {
  ns: 1e-9,
  us: 1e-6,
  µs: 1e-6,
  μs: 1e-6,
  ms: 1e-3,
  s: 1,
  m: 60,
  h: 3600,
};

/**
 * A Go duration (time.ParseDuration) such as 1.5h as ours, which has no fractions: rounded up to whole seconds. Another text stays
 * as it is, and the check of the RebalancePolicy names it.
 */
export function durationOf(text: string): string {
  if (/^(\d+[hms])+$/.test(text) || !/^((\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h))+$/.test(text)) {
    return text;
  }
  let total = 0;
  for (const [, count, unit = ''] of text.matchAll(/(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/g)) {
    total += Number(count) * (SECONDS_PER[unit] ?? 0);
  }
  return formatDuration(seconds(Math.ceil(Number(total.toFixed(9)))));
}
