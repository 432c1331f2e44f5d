import { describe, expect, it } from 'vitest';
import { hedged } from '../../../src/control/hedged.ts';
import { seconds } from '../../../src/model/units.ts';
import { ConflictError } from '../../../src/ports.ts';
import { drive, testClock } from '../../support/test-clock.ts';

/** What becomes of a request: so many seconds until its answer, or until it fails. */
type Fate = { readonly after: number; readonly error?: Error };

/** What requests come to of which one is sent 2 s after the first, when, and how many were sent. */
async function outcome(...fates: readonly Fate[]) {
  const clock = testClock();
  const stop = new AbortController();
  const begun = clock.monotonic();
  const ended: number[] = [];
  let sent = 0;
  const request = async (signal: AbortSignal): Promise<number> => {
    const place = sent;
    sent += 1;
    const { after, error } = fates[place] ?? expect.fail('one request too many');
    await clock.sleep(seconds(after), signal).catch((reason: unknown) => {
      ended.push(place);
      throw reason;
    });
    if (error !== undefined) {
      throw error;
    }
    return place;
  };
  const answer = hedged(request, seconds(2), clock, stop.signal).then(
    (value) => ({ value, at: clock.monotonic() - begun }),
    (error: unknown) => ({ error, at: clock.monotonic() - begun }),
  );
  return { ...(await drive(clock, answer)), sent, ended };
}

describe('a request that is sent once more', () => {
  it('is sent once where its answer comes in time', async () => {
    expect(await outcome({ after: 1.9 })).toEqual({ value: 0, at: 1.9, sent: 1, ended: [] });
  });

  it('comes to the answer that comes first, and ends the other', async () => {
    expect(await outcome({ after: 9 }, { after: 1 })).toEqual({ value: 1, at: 3, sent: 2, ended: [0] });
    expect(await outcome({ after: 3 }, { after: 5 })).toEqual({ value: 0, at: 3, sent: 2, ended: [1] });
  });

  it('is sent anew at once where it fails', async () => {
    const first = { after: 0.5, error: new Error('first') };
    expect(await outcome(first, { after: 1 })).toMatchObject({ value: 1, at: 1.5, sent: 2 });
    expect(await outcome(first, { after: 9 }, { after: 1 })).toMatchObject({ value: 2, at: 3, sent: 3, ended: [1] });
    expect(await outcome(first, { after: 1, error: new Error('anew') }, { after: 1 })).toMatchObject({
      value: 2,
      at: 3,
    });
  });

  it('makes up for another that fails', async () => {
    expect(await outcome({ after: 4 }, { after: 1, error: new Error('second') })).toMatchObject({ value: 0, at: 4 });
  });

  it('fails when all have, with why the later one did', async () => {
    const second = new Error('second');
    expect(await outcome({ after: 9, error: new Error('first') }, { after: 1, error: second })).toMatchObject({
      error: second,
      at: 9,
      sent: 2,
    });
  });

  it('is in conflict at once', async () => {
    const conflict = new ConflictError('taken');
    expect(await outcome({ after: 1, error: conflict })).toMatchObject({ error: conflict, at: 1, sent: 1 });
    expect(await outcome({ after: 9 }, { after: 1, error: conflict })).toMatchObject({ error: conflict, at: 3 });
  });
});

it('is given up with what it was wanted for', async () => {
  const clock = testClock();
  const stop = new AbortController();
  const wait = (signal: AbortSignal) => clock.sleep(seconds(100), signal);
  const answer = hedged(wait, seconds(2), clock, stop.signal).catch((error: unknown) => error);
  stop.abort('the end');
  expect(await answer).toBe('the end');
});
