import { describe, expect, it } from 'vitest';
import { seconds } from '../../../src/model/units.ts';
import { draw } from '../../../src/simulate/kubelet.ts';
import { type Random, randomStreams } from '../../../src/simulate/random.ts';

const COUNT = 5000;

function sample(next: () => number): readonly number[] {
  return Array.from({ length: COUNT }, next).sort((a, b) => a - b);
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

describe('random streams', () => {
  const stream = (purpose = 'test'): Random => randomStreams(7)(purpose);

  it('repeat themselves for one seed and purpose, and differ for another', () => {
    const numbers = (random: Random) => Array.from({ length: 5 }, () => random.uniform());
    expect(numbers(stream())).toEqual(numbers(stream()));
    expect(numbers(stream())).not.toEqual(numbers(stream('other')));
    expect(numbers(stream())).not.toEqual(numbers(randomStreams(8)('test')));
  });

  it.each([0.5, 30, 400])('draws Poisson numbers with mean and variance %d', (wanted) => {
    const random = stream();
    const values = sample(() => random.poisson(wanted));
    const variance = mean(values.map((value) => (value - mean(values)) ** 2));
    expect(Math.abs(mean(values) - wanted)).toBeLessThan(0.03 * wanted + 0.02);
    expect(Math.abs(variance - wanted)).toBeLessThan(0.06 * wanted + 0.02);
  });

  it('draws delays with the mean and the 95th percentile that they are to have', () => {
    const random = stream();
    const values = sample(() => draw({ kind: 'LogNormal', mean: seconds(5.4), p95: seconds(10) }, random));
    expect(mean(values)).toBeCloseTo(5.4, 0);
    expect(values[Math.floor(0.95 * COUNT)]).toBeGreaterThan(9.5);
    expect(values[Math.floor(0.95 * COUNT)]).toBeLessThan(10.5);
  });
});
