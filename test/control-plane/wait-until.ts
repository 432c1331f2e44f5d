import { setTimeout as delay } from 'node:timers/promises';

/** How long to wait, and whom to tell meanwhile. */
export interface WaitOptions {
  readonly timeoutMilliseconds: number;
  /** Gets what is missing whenever that has changed, at most every 5 s. */
  readonly log?: (line: string) => void;
}

/**
 * Waits until `missing` answers undefined, asking twice a second. Throws with its last answer when time is up.
 * `goal` starts the messages, as in "waiting for metrics".
 */
export async function waitUntil(
  goal: string,
  missing: () => Promise<string | undefined>,
  { timeoutMilliseconds, log = () => undefined }: WaitOptions,
): Promise<void> {
  const started = performance.now();
  let told = { text: '', at: started };
  for (;;) {
    const answer = await missing();
    if (answer === undefined) {
      return;
    }
    const now = performance.now();
    if (now - started > timeoutMilliseconds) {
      throw new Error(`${goal}: still missing after ${timeoutMilliseconds / 1000} s: ${answer}`);
    }
    if (answer !== told.text && now - told.at >= 5_000) {
      log(`${goal}: ${answer}`);
      told = { text: answer, at: now };
    }
    await delay(500);
  }
}
