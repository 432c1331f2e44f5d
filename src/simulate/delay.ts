import type { Random } from './random.ts';
import type { Delay } from './scenario.ts';

/** 95 % of a standard normal lie below. */
const Z95 = 1.6448536269514722;

/** Seconds of one occurrence of a delay. */
export function draw(delay: Delay, random: Random): number {
  switch (delay.kind) {
    case 'Fixed':
      return delay.value;
    case 'LogNormal': {
      const { mu, sigma } = logNormal(delay.mean, delay.p95);
      return Math.exp(mu + sigma * random.normal());
    }
    default:
      return delay satisfies never;
  }
}

/**
 * Parameters of the log-normal distribution with this mean and 95th percentile: mean = exp(mu + sigma^2 / 2) and
 * p95 = exp(mu + z sigma), so that sigma^2 / 2 - z sigma + ln(p95 / mean) = 0, of which the smaller root is taken. A p95 that
 * no such distribution has (beyond exp(z^2 / 2) times the mean) gets the widest one.
 */
function logNormal(mean: number, p95: number): { readonly mu: number; readonly sigma: number } {
  const sigma = Z95 - Math.sqrt(Math.max(0, Z95 ** 2 - 2 * Math.log(p95 / mean)));
  return { mu: Math.log(mean) - sigma ** 2 / 2, sigma };
}
