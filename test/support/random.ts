/** A source of reproducible randomness. */
export interface Random {
  /** Uniform in [0, 1). */
  readonly next: () => number;
  /** Whole number in [0, bound). */
  readonly below: (bound: number) => number;
  /** Standard normal. */
  readonly normal: () => number;
}

/**
 * A generator that yields the same numbers for the same seed on every machine (mulberry32; Box-Muller for the normal).
 */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    next,
    below: (bound) => Math.floor(next() * bound),
    normal: () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next()),
  };
}
