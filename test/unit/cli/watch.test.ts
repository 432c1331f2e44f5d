import { describe, expect, it } from 'vitest';
import type { CommandResult } from '../../../src/cli/command.ts';
import type { Screen } from '../../../src/cli/screen.ts';
import { watched } from '../../../src/cli/watch.ts';
import { PLAIN } from '../../../src/report/table.ts';

const EVERY_MOMENT = { watch: true, interval: 0.001, output: 'table', files: [] };

function fakeScreen(isTerminal: boolean): Screen & { readonly out: string[]; readonly errors: string[] } {
  const out: string[] = [];
  const errors: string[] = [];
  return {
    isTerminal,
    look: PLAIN,
    showsProgress: false,
    out,
    errors,
    write: async (text) => void (text === '' || out.push(text)),
    writeError: async (text) => void (text === '' || errors.push(text)),
  };
}

/** Looks so many times, then interrupts. */
async function watchTimes(times: number, screen: Screen, look: (time: number) => CommandResult) {
  const stop = new AbortController();
  let time = 0;
  return watched(EVERY_MOMENT, screen, stop.signal, async () => {
    time += 1;
    if (time === times) {
      stop.abort();
    }
    return look(time);
  });
}

const shown = (time: number): CommandResult => ({ stdout: `look ${time}\n`, exitCode: 0 });

describe('watching', () => {
  const timeless = (text: string): string => text.replace(/\d{4}-\S+Z/, 'TIME');

  it('shows each look with its time in the second buffer of a terminal, and leaves the last one in the first', async () => {
    const screen = fakeScreen(true);
    const result = await watchTimes(2, screen, shown);
    expect(screen.out.map(timeless)).toEqual([
      '\u001b[?1049h',
      '\u001b[H\u001b[2J--- TIME\nlook 1\n',
      '\u001b[H\u001b[2J--- TIME\nlook 2\n',
      '\u001b[?1049l',
    ]);
    expect({ ...result, stdout: timeless(result.stdout) }).toEqual({ stdout: '--- TIME\nlook 2\n', exitCode: 0 });
  });

  it('never erases what was scrolled out of the terminal', async () => {
    const screen = fakeScreen(true);
    await watchTimes(3, screen, shown);
    expect(screen.out.join('')).not.toContain('\u001b[3J');
  });

  it('shows as many lines as the terminal has', async () => {
    const screen = { ...fakeScreen(true), rows: 5 };
    await watchTimes(1, screen, () => ({ stdout: 'a\nb\nc\nd\ne\n', exitCode: 0 }));
    expect(timeless(screen.out[1] ?? '')).toBe('\u001b[H\u001b[2J--- TIME\na\nb\n... 3 more lines\n');
  });

  it('keeps the last good look, and its time, where a later one fails on a terminal', async () => {
    const screen = fakeScreen(true);
    await watchTimes(2, screen, (time) => {
      if (time === 2) {
        throw new Error('the server is gone');
      }
      return shown(time);
    });
    expect(screen.out[2]).toBe(screen.out[1]);
  });

  it('leaves the second buffer also when it is broken off', async () => {
    const screen = fakeScreen(true);
    const broken = {
      ...screen,
      write: async (text: string) => {
        if (text.includes('look')) {
          throw new Error('broken');
        }
        screen.out.push(text);
      },
    };
    await expect(watchTimes(2, broken, shown)).rejects.toThrow('broken');
    expect(screen.out).toEqual(['\u001b[?1049h', '\u001b[?1049l']);
  });

  it('appends each look under its time elsewhere', async () => {
    const screen = fakeScreen(false);
    await watchTimes(2, screen, shown);
    expect(screen.out.map((text) => text.replace(/\d{4}-\S+Z/, 'TIME'))).toEqual([
      '--- TIME\nlook 1\n',
      '--- TIME\nlook 2\n',
    ]);
  });

  it('goes on when a later look fails, and says why', async () => {
    const screen = fakeScreen(false);
    await watchTimes(3, screen, (time) => {
      if (time === 2) {
        throw new Error('the server is gone');
      }
      return shown(time);
    });
    expect(screen.out).toHaveLength(2);
    expect(screen.errors).toContain('error: the server is gone\n');
  });

  it('fails when the first look does', async () => {
    const failing = watchTimes(3, fakeScreen(false), () => {
      throw new Error('broken');
    });
    await expect(failing).rejects.toThrow('broken');
  });

  it('looks once without -w', async () => {
    const screen = fakeScreen(true);
    const flags = { ...EVERY_MOMENT, watch: false };
    expect(await watched(flags, screen, new AbortController().signal, async () => shown(1))).toEqual(shown(1));
    expect(screen.out).toEqual([]);
  });
});
