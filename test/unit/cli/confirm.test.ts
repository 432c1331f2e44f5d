import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { confirm, type Keyboard } from '../../../src/cli/confirm.ts';
import { PLAIN } from '../../../src/report/table.ts';

function terminal(showsProgress = true) {
  const errors: string[] = [];
  const writeError = async (text: string): Promise<void> => void errors.push(text);
  return { isTerminal: true, look: PLAIN, showsProgress, write: async () => undefined, writeError, errors };
}

function keyboard(isTTY = true): PassThrough & Keyboard {
  return Object.assign(new PassThrough(), { isTTY }) as unknown as PassThrough & Keyboard;
}

const NEVER = new AbortController().signal;

async function answered(text: string): Promise<unknown> {
  const keys = keyboard();
  keys.end(text);
  return confirm('Approve 2 moves?', keys, terminal(), NEVER).catch((error: unknown) => error);
}

describe('a question', () => {
  it.each(['y\n', 'Y\n', 'yes\n', ' yes \n'])('is answered with yes by %j', async (text) => {
    expect(await answered(text)).toBeUndefined();
  });

  it.each(['n\n', '\n', '', 'yess\n', 'no y\n'])('is answered with no by %j', async (text) => {
    expect(await answered(text)).toMatchObject({ name: 'Failure', message: 'nothing is changed', exitCode: 1 });
  });

  it('is asked on standard error', async () => {
    const [keys, screen] = [keyboard(), terminal()];
    keys.end('y\n');
    await confirm('Approve 2 moves?', keys, screen, NEVER);
    expect(screen.errors).toEqual(['Approve 2 moves? [y/N] ']);
  });

  it.each([
    [false, true],
    [true, false],
  ])('is not asked where input is a terminal: %j, standard error is one: %j', async (input, output) => {
    const screen = terminal(output);
    await expect(confirm('?', keyboard(input), screen, NEVER)).rejects.toThrow('add --yes');
    expect(screen.errors).toEqual([]);
  });

  it('ends when the user interrupts', async () => {
    const stop = new AbortController();
    const asked = confirm('?', keyboard(), terminal(), stop.signal);
    stop.abort(new Error('interrupted'));
    await expect(asked).rejects.toThrow('interrupted');
  });
});
