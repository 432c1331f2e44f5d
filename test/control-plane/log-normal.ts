import { createHash } from 'node:crypto';

/** Parameters of a log-normal distribution: mean and standard deviation of the logarithm, and a cap on the value. */
export interface LogNormal {
  readonly mu: number;
  readonly sigma: number;
  readonly max?: number;
}

/**
 * The log-normal value that belongs to `key`: always the same for the same key, and independent between keys, so that
 * adding a workload to a scenario changes no other. The unit is that of `exp(mu)` and of `max`.
 */
export function logNormalOf(key: string, { mu, sigma, max = Number.POSITIVE_INFINITY }: LogNormal): number {
  const radius = Math.sqrt(-2 * Math.log(1 - uniformOf(`${key}/radius`)));
  const standardNormal = radius * Math.cos(2 * Math.PI * uniformOf(`${key}/angle`)); // Box and Muller
  return Math.min(max, Math.exp(mu + sigma * standardNormal));
}

/** A uniform number in [0, 1) that belongs to `key`. */
export function uniformOf(key: string): number {
  return createHash('sha256').update(key).digest().readUInt32BE(0) / 2 ** 32;
}
