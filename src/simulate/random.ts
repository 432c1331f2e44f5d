/** A stream of pseudo-random numbers. */
export interface Random {
  /** Uniform in [0, 1). */
  readonly uniform: () => number;
  /** A whole number from 0 to `most` - 1. */
  readonly below: (most: number) => number;
  /** Standard normal. */
  readonly normal: () => number;
  /** Exponential with mean 1. */
  readonly exponential: () => number;
  /** Poisson with a mean of at least 0; above 100 by the normal distribution that it approaches. */
  readonly poisson: (mean: number) => number;
}

/**
 * Streams by purpose: what one part of a simulation draws does not change what another one gets, so that two policies meet
 * the same load and the same start-up times.
 */
export function randomStreams(seed: number): (purpose: string) => Random {
  return (purpose) => createRandom(hash(`${seed}/${purpose}`));
}

const ABOVE = 2 ** 32;

/** FNV-1a. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let place = 0; place < text.length; place += 1) {
    value = Math.imul(value ^ text.charCodeAt(place), 0x01000193);
  }
  return value >>> 0;
}

/** Numbers by splitmix32, of period 2^32. */
function createRandom(seed: number): Random {
  let state = seed;
  const uniform = (): number => {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / ABOVE;
  };
  const exponential = (): number => -Math.log(1 - uniform());
  const normal = (): number => Math.sqrt(2 * exponential()) * Math.cos(2 * Math.PI * uniform());
  return {
    uniform,
    below: (most) => Math.floor(uniform() * most),
    normal,
    exponential,
    poisson: (mean) =>
      mean > 100 ? Math.max(0, Math.round(mean + Math.sqrt(mean) * normal())) : countArrivals(mean, exponential),
  };
}

function countArrivals(mean: number, exponential: () => number): number {
  let count = 0;
  for (let time = exponential(); time < mean; time += exponential()) {
    count += 1;
  }
  return count;
}
