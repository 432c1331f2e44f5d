import type { Random } from '../support/random.ts';

/** True with this probability. */
export function chance(random: Random, probability: number): boolean {
  return random.next() < probability;
}

/** One of them, each as likely. Throws a RangeError when there are none. */
export function pick<Value>(random: Random, values: readonly Value[]): Value {
  const value = values[random.below(values.length)];
  if (value === undefined) {
    throw new RangeError('there is nothing to pick from');
  }
  return value;
}

/** One of them, or undefined when there are none. */
export function pickAny<Value>(random: Random, values: readonly Value[]): Value | undefined {
  return values.length === 0 ? undefined : pick(random, values);
}

/** Some of them, in their order; each with this probability. */
export function sample<Value>(random: Random, values: readonly Value[], probability: number): readonly Value[] {
  return values.filter(() => chance(random, probability));
}

/** So many different ones of them, or all. */
export function pickSome<Value>(random: Random, values: readonly Value[], count: number): readonly Value[] {
  const rest = [...values];
  return Array.from({ length: Math.min(count, rest.length) }, () => rest.splice(random.below(rest.length), 1)).flat();
}

/** Whole number from `least` to `most`, both included. */
export function between(random: Random, least: number, most: number): number {
  return least + random.below(most - least + 1);
}

/** One of them; each has its weight. */
export function weighted<Value>(random: Random, choices: readonly (readonly [number, Value])[]): Value {
  let point = random.next() * choices.reduce((sum, [weight]) => sum + weight, 0);
  for (const [weight, value] of choices) {
    point -= weight;
    if (point < 0) {
      return value;
    }
  }
  return pick(random, choices)[1];
}
