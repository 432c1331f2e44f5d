import { describe, expect, it } from 'vitest';
import { createSelfSigned } from '../../../../src/adapters/http/certificate.ts';
import {
  bundleFor,
  fromEntries,
  rotate,
  rotationTimes,
  type SharedPairs,
  toEntries,
} from '../../../../src/adapters/http/rotation.ts';

const LIFETIME = 800_000;
const times = rotationTimes(LIFETIME);
const START = Date.UTC(2026, 0, 1);

const pairAt = (now: number) => createSelfSigned(['evenkeel-webhook'], now, LIFETIME);

/** One step at so many milliseconds after the start, with the bundle that the steps before have written unless another is given. */
function stepAt(pairs: SharedPairs | undefined, after: number, bundle = pairs === undefined ? '' : bundleFor(pairs)) {
  const now = START + after;
  return rotate(pairs, bundle, now, times, () => pairAt(now));
}

describe('rotationTimes', () => {
  it('gives every API server and replica two minutes, and less where certificates are short', () => {
    expect(rotationTimes(365 * 86_400_000)).toMatchObject({ settling: 120_000, period: 10_000 });
    expect(times).toEqual({ lifetime: LIFETIME, settling: 100_000, period: 10_000 });
    expect(rotationTimes(24_000)).toEqual({ lifetime: 24_000, settling: 3000, period: 1000 });
  });
});

describe('rotate', () => {
  const first = stepAt(undefined, 0);

  it('makes a pair where there is none, and leaves it for half of its lifetime', () => {
    expect(first.next).toBeUndefined();
    expect(stepAt(first, LIFETIME / 2 - 1)).toBe(first);
  });

  it('announces the next pair, serves it when it has been trusted long enough, and then forgets the old one', () => {
    const announced = stepAt(first, 400_001);
    expect(announced.current).toBe(first.current);
    expect(bundleFor(announced)).toBe(`${first.current.cert}${announced.next?.pair.cert}`);
    const trusted = stepAt(announced, 410_000);
    expect(stepAt(trusted, 509_999)).toBe(trusted);
    const served = stepAt(trusted, 510_000);
    expect(served.current).toBe(announced.next?.pair);
    expect(bundleFor(served)).toBe(`${served.current.cert}${first.current.cert}`);
    expect(stepAt(served, 609_999)).toBe(served);
    expect(stepAt(served, 610_000)).toEqual({ current: served.current });
  });

  it('waits again when the next pair is no longer trusted, as after the configuration was made anew', () => {
    const trusted = stepAt(stepAt(first, 400_001), 410_000);
    const reset = stepAt(trusted, 600_000, first.current.cert);
    expect(reset.next?.trusted).toBeUndefined();
    const again = stepAt(reset, 610_000);
    expect(stepAt(again, 700_000).current).toBe(first.current);
  });

  it('does not serve what is not trusted however long it takes', () => {
    const announced = stepAt(first, 400_001);
    expect(stepAt(announced, 700_000, first.current.cert)).toBe(announced);
  });

  it('replaces a pair that has expired at once, by the next one if there is one', () => {
    const expired = stepAt(first, LIFETIME + 1);
    expect(expired.current).not.toBe(first.current);
    const announced = stepAt(first, 400_001);
    expect(stepAt(announced, LIFETIME + 1).current).toBe(announced.next?.pair);
  });

  it('replaces what cannot be read', () => {
    const broken = { current: { cert: 'none', key: 'none' } };
    expect(stepAt(broken, 0).current.cert).toContain('BEGIN CERTIFICATE');
  });
});

describe('the Secret', () => {
  it('keeps all that the rotation needs', () => {
    const next = pairAt(START + 1);
    const states: readonly SharedPairs[] = [
      { current: pairAt(START) },
      { current: pairAt(START), next: { pair: next, trusted: undefined } },
      { current: pairAt(START), next: { pair: next, trusted: 5 }, previous: { cert: 'old', since: 7 } },
    ];
    expect(states.map((state) => fromEntries(toEntries(state)))).toEqual(states);
  });

  it('has no pair when it is empty', () => {
    expect(fromEntries({})).toBeUndefined();
    expect(fromEntries({ 'tls.crt': 'cert' })).toBeUndefined();
  });
});
