import type { Seconds } from '../model/units.ts';
import { type Clock, ConflictError } from '../ports.ts';

/**
 * The answer to a request that is sent once more when there is none `after` so long: one that is lost, or late, costs that time and no
 * more (a hedged request: Dean and Barroso, The Tail at Scale, 2013). One that fails before that is sent anew at once as well, once. The
 * request must have no effect when it is sent again, or a conflict. Resolves to the answer that comes first. Rejects with the first
 * ConflictError at once, else when all have failed, with why the one sent `after` so long did.
 */
export async function hedged<Answer>(
  request: (signal: AbortSignal) => Promise<Answer>,
  after: Seconds,
  clock: Pick<Clock, 'sleep'>,
  signal: AbortSignal,
): Promise<Answer> {
  const settled = new AbortController();
  const within = AbortSignal.any([signal, settled.signal]);
  let isEarly = true;
  const atOnce = async (): Promise<Answer> => {
    try {
      return await request(within);
    } catch (error) {
      if (!isEarly || error instanceof ConflictError) {
        throw error;
      }
      within.throwIfAborted();
      return request(within);
    }
  };
  const again = async (): Promise<Answer> => {
    await clock.sleep(after, within);
    isEarly = false;
    return request(within);
  };
  try {
    const first = await Promise.any([decided(atOnce()), decided(again())]);
    if (first instanceof ConflictError) {
      throw first;
    }
    return first;
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof AggregateError ? error.errors.at(-1) : error;
  } finally {
    settled.abort();
  }
}

/** The answer, or that the request was in conflict: that is an answer, too. */
async function decided<Answer>(answer: Promise<Answer>): Promise<Answer | ConflictError> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ConflictError) {
      return error;
    }
    throw error;
  }
}
