import { describe, expect, it } from 'vitest';
import {
  claim,
  expiryOf,
  isFree,
  jitteredRetry,
  leaseTimes,
  type Observation,
  observe,
  released,
} from '../../../src/control/lease.ts';
import { epochSeconds, seconds } from '../../../src/model/units.ts';
import type { LeaseRecord } from '../../../src/ports.ts';

const TIMES = leaseTimes(seconds(15));
const at = epochSeconds;

function aRecord(changes: Partial<LeaseRecord> = {}): LeaseRecord {
  return { holder: 'a', duration: seconds(15), acquiredAt: at(100), renewedAt: at(200), transitions: 3, ...changes };
}

function seenAt(since: number, changes: Partial<LeaseRecord> = {}): Observation {
  return { record: aRecord(changes), since: seconds(since) };
}

describe('leaseTimes', () => {
  it("is client-go's 15, 10 and 2 s, with 4 s for a request and 1 s until it is hedged, and keeps these proportions", () => {
    expect(TIMES).toEqual({ duration: 15, renewDeadline: 10, retryPeriod: 2, requestDeadline: 4, hedgeAfter: 1 });
    const short = leaseTimes(seconds(4));
    expect(Object.values(short).map((span) => Math.round(span * 100) / 100)).toEqual([4, 2.67, 0.53, 1.07, 0.27]);
  });

  it("fulfils client-go's conditions: duration above deadline, deadline above the jittered period", () => {
    for (const span of [2, 3, 4, 15, 600]) {
      const { duration, renewDeadline, retryPeriod } = leaseTimes(seconds(span));
      expect(duration).toBeGreaterThan(renewDeadline);
      expect(renewDeadline).toBeGreaterThan(1.2 * retryPeriod);
    }
  });
});

describe('jitteredRetry', () => {
  it('is one to 2.2 retry periods', () => {
    expect(jitteredRetry(TIMES, () => 0)).toBe(2);
    expect(jitteredRetry(TIMES, () => 0.999_999)).toBeCloseTo(4.4, 4);
  });
});

describe('observe', () => {
  it('counts from when a record was first seen, on our own clock', () => {
    const first = observe(undefined, aRecord(), seconds(7));
    expect(first.since).toBe(7);
    expect(observe(first, aRecord(), seconds(12))).toBe(first);
  });

  it('counts anew after any change, whatever the times in it say', () => {
    const first = seenAt(7);
    for (const change of [{ renewedAt: at(150) }, { transitions: 4 }, { holder: 'b' }, { duration: seconds(1) }]) {
      expect(observe(first, aRecord(change), seconds(12)).since).toBe(12);
    }
  });
});

describe('isFree', () => {
  it('is not while the record of another is younger than its own duration', () => {
    expect(isFree(seenAt(7), 'b', seconds(21.999))).toBe(false);
    expect(isFree(seenAt(7, { duration: seconds(60) }), 'b', seconds(22))).toBe(false);
  });

  it('is once the record has not changed for its duration', () => {
    expect(expiryOf(seenAt(7))).toBe(22);
    expect(isFree(seenAt(7), 'b', seconds(22))).toBe(true);
  });

  it('is at once when nobody holds it, or when it bears our name', () => {
    expect(isFree(seenAt(7, { holder: '' }), 'b', seconds(7))).toBe(true);
    expect(isFree(seenAt(7), 'a', seconds(7))).toBe(true);
  });
});

describe('claim', () => {
  it('begins with no transition', () => {
    expect(claim(undefined, 'b', TIMES, at(300))).toEqual({
      holder: 'b',
      duration: 15,
      acquiredAt: 300,
      renewedAt: 300,
      transitions: 0,
    });
  });

  it('counts a transition when the holder changes, also from nobody', () => {
    for (const holder of ['a', '']) {
      const next = claim(aRecord({ holder }), 'b', TIMES, at(300));
      expect(next).toMatchObject({ holder: 'b', acquiredAt: 300, renewedAt: 300, transitions: 4 });
    }
  });

  it('renews without touching when it was acquired, with our own duration', () => {
    const next = claim(aRecord({ duration: seconds(4) }), 'a', TIMES, at(300));
    expect(next).toEqual(aRecord({ renewedAt: at(300) }));
  });
});

describe('released', () => {
  it('names nobody, for one second, and keeps the count', () => {
    expect(released(aRecord(), at(300))).toEqual({
      holder: '',
      duration: 1,
      acquiredAt: 300,
      renewedAt: 300,
      transitions: 3,
    });
  });
});
