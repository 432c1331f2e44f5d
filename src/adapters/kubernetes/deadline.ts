import type { Seconds } from '../../model/units.ts';

/** Thrown when a deadline has passed. */
export class DeadlineExceeded extends Error {
  override readonly name = 'DeadlineExceeded';
}

/**
 * Runs `run` with a signal that ends with `signal`, or after `span`. Rejects with the signal's reason, or with
 * DeadlineExceeded, even if `run` does not listen. The timer and the listener are gone when this settles.
 */
export async function withDeadline<Value>(
  span: Seconds,
  signal: AbortSignal,
  run: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  signal.throwIfAborted();
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(new DeadlineExceeded(`no answer for ${span} s`)), span * 1000);
  const onAbort = () => controller.abort(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([run(controller.signal), aborted(controller.signal)]);
  } catch (error) {
    controller.signal.throwIfAborted();
    throw error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
