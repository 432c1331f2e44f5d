import { describe, expect, it } from 'vitest';
import { communicationAffinity, computeAffinity, shortage } from '../../../../src/plan/traffic/affinity.ts';

describe('the compute affinity of a node', () => {
  it('is 1 where a component and all whom it talks to fit', () => {
    expect(computeAffinity(10, 6, 10)).toBe(1);
    expect(computeAffinity(10, 6, 11)).toBe(1);
  });

  it('is .75 where just what matters most fits, and .75 squared where as much again is missing', () => {
    expect(computeAffinity(10, 6, 6)).toBeCloseTo(0.75, 12);
    expect(computeAffinity(10, 6, 8)).toBeCloseTo(Math.sqrt(0.75), 12);
    expect(computeAffinity(10, 6, 2)).toBeCloseTo(0.75 ** 2, 12);
  });

  it('stays above 0 where all surroundings matter in full and one part is missing: a last resort, and no division by 0', () => {
    expect(computeAffinity(10, 10, 9.999)).toBeGreaterThan(0);
    expect(computeAffinity(10, 10, 9.999)).toBeLessThan(1e-6);
    expect(1 / (computeAffinity(10, 10, 0) * communicationAffinity(1e12, 0, 1e12))).toBeLessThan(
      Number.POSITIVE_INFINITY,
    );
  });
});

describe('the communication affinity of a node', () => {
  it('is 1 where the links carry all that leaves', () => {
    expect(communicationAffinity(5, 5, 10)).toBe(1);
    expect(communicationAffinity(5, Number.POSITIVE_INFINITY, 10)).toBe(1);
  });

  it('falls with what the links do not carry, by half where half of what matters less is missing', () => {
    expect(communicationAffinity(10, 5, 0.5)).toBeCloseTo(Math.exp(-0.5), 12);
    expect(communicationAffinity(15, 5, 0.5)).toBeCloseTo(Math.exp(-1), 12);
  });

  it('hardly falls where all whom the component talks to can come to the node', () => {
    expect(communicationAffinity(10, 5, shortage(10, 6, 20))).toBeGreaterThan(0.99);
    expect(communicationAffinity(10, 5, shortage(10, 6, 2))).toBeLessThan(0.38);
  });
});
