import { Failure } from '../app/failure.ts';
import { escapeText } from '../model/escape.ts';
import { pause } from './pause.ts';
import type { Screen } from './screen.ts';

/** What one look finds: what was waited for, or what is still under way, such as `3 of 7 moves are done`. */
export type Look<Result> =
  | { readonly kind: 'Done'; readonly result: Result }
  | { readonly kind: 'Waiting'; readonly why: string };

/** What is waited for, and how long. */
export interface Wait {
  /** With its verb, such as `plan default-4f1c2a9b03 has not ended`. */
  readonly otherwise: string;
  /** Seconds. */
  readonly timeout: number;
}

/** Seconds between two looks. */
const INTERVAL = 1;
const ERASE = '\r\u001b[K';

/**
 * Looks every second until there is a result. A line on standard error says what is under way, on terminals alone. Throws a
 * Failure after the timeout, and what interrupts.
 */
export async function waitFor<Result>(
  { otherwise, timeout }: Wait,
  screen: Screen,
  signal: AbortSignal,
  look: () => Promise<Look<Result>>,
): Promise<Result> {
  const deadline = performance.now() + 1000 * timeout;
  const say = async (text: string): Promise<void> =>
    screen.showsProgress ? screen.writeError(`${ERASE}${text}`) : undefined;
  try {
    while (true) {
      const found = await look();
      if (found.kind === 'Done') {
        return found.result;
      }
      if (performance.now() >= deadline) {
        throw new Failure(`${otherwise} within ${timeout} s: ${found.why}`);
      }
      await say(`${escapeText(found.why)} ...`);
      if (!(await pause(INTERVAL, signal))) {
        signal.throwIfAborted();
      }
    }
  } finally {
    await say('');
  }
}
