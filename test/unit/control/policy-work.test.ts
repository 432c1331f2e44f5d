import { describe, expect, it } from 'vitest';
import { createPolicyWork, type PolicyWork } from '../../../src/control/policy-work.ts';
import { type Seconds, seconds } from '../../../src/model/units.ts';
import { drive, NOON, type TestClock, testClock } from '../../support/test-clock.ts';

interface Bench {
  readonly clock: TestClock;
  readonly work: PolicyWork;
  /** Seconds after NOON at which the loop was woken. */
  readonly woken: number[];
  /** Work that takes `span`, after which the policy wants to be looked at again in 7 s. */
  readonly taking: (span: number) => (signal: AbortSignal) => Promise<Seconds>;
  readonly stop: AbortController;
}

function bench(): Bench {
  const clock = testClock();
  const woken: number[] = [];
  const stop = new AbortController();
  const loop = { wake: () => void woken.push(clock.now() - NOON) };
  const taking = (span: number) => async (signal: AbortSignal) => {
    await clock.sleep(seconds(span), signal).catch(() => undefined);
    return seconds(7);
  };
  return { clock, work: createPolicyWork(loop, clock, stop.signal), woken, taking, stop };
}

describe('work on a policy', () => {
  it('that is quick is waited for, and says when it wants to be looked at again', async () => {
    const { clock, work, woken, taking } = bench();
    expect(await drive(clock, work.look('a', taking(0.5)))).toBe(7);
    await clock.advance(60);
    expect(woken).toEqual([]);
  });

  it('that takes long is waited for a second, and wakes the loop when its policy is due again', async () => {
    const { clock, work, woken, taking } = bench();
    expect(await drive(clock, work.look('a', taking(30)))).toBe(Number.POSITIVE_INFINITY);
    expect(clock.now() - NOON).toBe(1);
    await clock.advance(60);
    expect(woken).toEqual([37]);
  });

  it('is not begun again before it is done, and then at once', async () => {
    const { clock, work, woken, taking } = bench();
    await drive(clock, work.look('a', taking(30)));
    let isBegun = false;
    const again = async (): Promise<Seconds> => {
      isBegun = true;
      return seconds(7);
    };
    expect(await drive(clock, work.look('a', again))).toBe(Number.POSITIVE_INFINITY);
    expect(isBegun).toBe(false);
    await clock.advance(60);
    expect(woken).toEqual([30]);
    expect(await drive(clock, work.look('a', again))).toBe(7);
  });

  it('goes on beside that on another policy', async () => {
    const { clock, work, taking } = bench();
    await drive(clock, work.look('a', taking(30)));
    expect(await drive(clock, work.look('b', taking(0.2)))).toBe(7);
    expect(clock.now() - NOON).toBeCloseTo(1.2);
  });

  it('is waited for at the end', async () => {
    const { clock, work, taking, stop } = bench();
    await drive(clock, work.look('a', taking(30)));
    const ended = work.ended().then(() => clock.now() - NOON);
    clock.at(NOON + 3, () => stop.abort());
    expect(await drive(clock, ended)).toBe(3);
  });

  it('is waited for by policy, without being ended, whatever is under way for others', async () => {
    const { clock, work, taking } = bench();
    const started = NOON + 0;
    await drive(clock, work.look('a', taking(30)));
    await drive(clock, work.look('b', taking(90)));
    const ended = (uid?: string) => work.ended(uid).then(() => clock.now() - started);
    const [a, b, none, all] = [ended('a'), ended('b'), ended('c'), ended()];
    expect(await drive(clock, none)).toBe(2);
    expect(await drive(clock, a)).toBe(30);
    expect(await drive(clock, b)).toBe(91);
    expect(await drive(clock, all)).toBe(91);
    expect(await drive(clock, ended('a'))).toBe(91);
  });
});
