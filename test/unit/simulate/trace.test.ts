import { describe, expect, it } from 'vitest';
import { constant, integral, steps } from '../../../src/simulate/trace.ts';

describe('a trace', () => {
  const growth = [
    { at: 10, value: 0 },
    { at: 20, value: 100 },
  ];

  it('is level before its first point and after its last', () => {
    expect(integral(constant(5), 3, 7)).toBe(20);
    expect(integral(growth, 0, 10)).toBe(0);
    expect(integral(growth, 20, 30)).toBe(1000);
  });

  it('goes straight from point to point', () => {
    expect(integral(growth, 10, 20)).toBe(500);
    expect(integral(growth, 14, 16)).toBe(100);
    expect(integral(growth, 0, 30)).toBe(1500);
  });

  it('jumps where it has steps', () => {
    const trace = steps([
      { at: 0, value: 1 },
      { at: 10, value: 3 },
    ]);
    expect(integral(trace, 0, 20)).toBe(40);
    expect(integral(trace, 9, 11)).toBe(4);
  });

  it('has no area without points, or over no time', () => {
    expect(integral([], 0, 10)).toBe(0);
    expect(integral(growth, 15, 15)).toBe(0);
  });
});
