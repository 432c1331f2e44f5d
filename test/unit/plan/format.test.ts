import { describe, expect, it } from 'vitest';
import { amount, count, inSeconds, percent, roundPercent, trimmed } from '../../../src/plan/format.ts';

describe('a fraction as a percentage', () => {
  it.each([
    [0, '0.00 %'],
    [0.1234, '12.34 %'],
    [0.0909, '9.09 %'],
    [0.091, '9.10 %'],
    [0.1, '10.00 %'],
    [0.12345, '12.35 %'],
    [1, '100.00 %'],
    [12.5, '1250.00 %'],
    [0.00004, '0.00 %'],
    [0.00005, '0.01 %'],
    [-0.1234, '-12.34 %'],
    [-0.00004, '0.00 %'],
    [-0.0001, '-0.01 %'],
  ])('of %f is %s', (fraction, text) => {
    expect(percent(fraction)).toBe(text);
  });

  it.each([
    [0.31, '31 %'],
    [0.316, '32 %'],
    [0.039, '3.9 %'],
    [0.0394, '3.9 %'],
    [0.0994, '9.9 %'],
    [0.0996, '10 %'],
    [0.1, '10 %'],
    [0, '0 %'],
    [1.004, '100 %'],
    [-0.039, '-3.9 %'],
    [-0.316, '-32 %'],
  ])('of %f in a sentence is %s', (fraction, text) => {
    expect(roundPercent(fraction)).toBe(text);
  });
});

describe('an amount', () => {
  it.each([
    ['cpu', 1250, '1.25 cores'],
    ['memory', 512 * 2 ** 20, '512 MiB'],
    ['ephemeral-storage', 1.5 * 2 ** 20, '1.5 MiB'],
    ['hugepages-2Mi', 4 * 2 ** 20, '4 MiB of hugepages-2Mi'],
    ['nvidia.com/gpu', 2, '2 nvidia.com/gpu'],
    ['pods', 3, '3 pods'],
  ])('of %s names its unit', (resource, value, text) => {
    expect(amount(resource, value)).toBe(text);
  });

  it('has at most three decimals, and no zeros behind them', () => {
    expect([1, 1.5, 1.2344, 1.2346, 0.0004, -0.5].map(trimmed)).toEqual(['1', '1.5', '1.234', '1.235', '0', '-0.5']);
    expect(inSeconds(12.5)).toBe('12.5 s');
  });

  it('of things is one or several', () => {
    expect([0, 1, 2].map((number) => count(number, 'pod'))).toEqual(['0 pods', '1 pod', '2 pods']);
  });
});
