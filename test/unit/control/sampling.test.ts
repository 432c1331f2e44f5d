import { describe, expect, it } from 'vitest';
import { type Sampling, samplingFor, takeSample, untilSample } from '../../../src/control/sampling.ts';
import { epochSeconds } from '../../../src/model/units.ts';
import { aPolicy } from '../../support/builders/policy.ts';
import { forever } from '../../support/execution.ts';
import { tilted } from '../../support/played.ts';
import { NOON } from '../../support/test-clock.ts';

const later = (span: number) => epochSeconds(NOON + span);

function sampling(load: Record<string, unknown>, before?: Sampling, spec: Record<string, unknown> = {}) {
  return samplingFor(aPolicy('even', { load, ...spec }).spec, before, NOON);
}

const SMOOTH = { smoothing: '10m' };

describe('the samples of a policy', () => {
  it('are taken where it smooths them, the first at once, and not while it is suspended', () => {
    expect(sampling(SMOOTH)?.dueAt).toBe(NOON);
    expect(sampling({ smoothing: '0s' })).toBeUndefined();
    expect(sampling({})).toBeUndefined();
    expect(sampling(SMOOTH, undefined, { suspend: true })).toBeUndefined();
  });

  it('go on after an edit that leaves them as they were, and begin anew after another', () => {
    const before = sampling({ ...SMOOTH, maxAge: '5m' });
    expect(sampling({ ...SMOOTH, maxAge: '5m' }, before, { interval: '7m' })).toBe(before);
    for (const load of [
      { smoothing: '11m', maxAge: '5m' },
      { ...SMOOTH, maxAge: '6m' },
    ]) {
      const fresh = sampling(load, before);
      expect(fresh).toBeDefined();
      expect(fresh).not.toBe(before);
      expect(fresh?.history).not.toBe(before?.history);
    }
  });

  it('are due again after a period, also where the metrics cannot be read', async () => {
    const w = tilted();
    const made = sampling(SMOOTH) ?? expect.fail('it does not smooth');
    const taken = () => w.calls.filter((call) => call === 'reader.measured').length;
    await takeSample(made, w.ports, forever);
    const period = made.dueAt - NOON;
    expect(period).toBeGreaterThan(0);
    await w.clock.advance(period - 1);
    await takeSample(made, w.ports, forever);
    expect(taken()).toBe(1);
    await w.clock.advance(1);
    w.tap = (when, call) => {
      if (when === 'before' && call === 'reader.measured') {
        throw new Error('503');
      }
    };
    await expect(takeSample(made, w.ports, forever)).rejects.toThrow('503');
    expect(taken()).toBe(2);
    expect(made.dueAt).toBe(NOON + 2 * period);
  });

  it('say how long until the next, which is never without any', () => {
    const made = sampling(SMOOTH) ?? expect.fail('it does not smooth');
    expect(untilSample({ ...made, dueAt: later(9) }, later(2))).toBe(7);
    expect(untilSample(undefined, NOON)).toBe(Number.POSITIVE_INFINITY);
  });
});
