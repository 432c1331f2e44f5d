import { Failure } from '../app/failure.ts';
import type { Screen } from './screen.ts';

/** Where the answer is typed. */
export type Keyboard = Pick<NodeJS.ReadStream, 'isTTY' | 'once' | 'off' | 'pause'>;

/**
 * Asks on standard error, and resolves when the answer is y or yes. Throws a Failure for any other answer, and where nobody can be
 * asked; rejects when interrupted.
 */
export async function confirm(
  question: string,
  keyboard: Keyboard,
  screen: Screen,
  signal: AbortSignal,
): Promise<void> {
  if (keyboard.isTTY !== true || !screen.showsProgress) {
    throw new Failure('nobody can be asked, since this is no terminal: add --yes');
  }
  await screen.writeError(`${question} [y/N] `);
  const answer = signal.aborted ? '' : await firstLine(keyboard, signal);
  signal.throwIfAborted();
  if (!/^\s*y(es)?\s*$/i.test(answer)) {
    throw new Failure('nothing is changed');
  }
}

/** What is typed up to the first line end; nothing when the input ends or the user interrupts. */
function firstLine(keyboard: Keyboard, signal: AbortSignal): Promise<string> {
  return new Promise((resolve) => {
    const end = (text: string): void => {
      keyboard.off('data', typed).off('end', closed).pause();
      signal.removeEventListener('abort', closed);
      resolve(text);
    };
    const typed = (chunk: Buffer | string): void => end(String(chunk));
    const closed = (): void => end('');
    keyboard.once('data', typed).once('end', closed);
    signal.addEventListener('abort', closed, { once: true });
  });
}
