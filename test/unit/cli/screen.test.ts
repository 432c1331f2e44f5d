import { PassThrough } from 'node:stream';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { whilePlanning, withProgress } from '../../../src/cli/progress.ts';
import { screenOf } from '../../../src/cli/screen.ts';

afterEach(() => vi.useRealTimers());

/** A stream that says that it is a terminal so many columns wide, or none. */
function stream(columns: number | undefined): NodeJS.WriteStream & { readonly text: () => string } {
  const through = new PassThrough();
  const all: string[] = [];
  through.on('data', (chunk) => all.push(String(chunk)));
  const terminal = columns === undefined ? {} : { isTTY: true, columns };
  return Object.assign(through, terminal, { text: () => all.join('') }) as never;
}

const crowd = { pods: { length: 20_000 }, nodes: { length: 500 } } as never;

describe('where output goes', () => {
  it('cuts tables on a terminal, and never in a file', () => {
    expect(screenOf(stream(80), stream(undefined)).look.columns).toBe(80);
    expect(screenOf(stream(undefined), stream(80)).look.columns).toBeUndefined();
  });

  it('shows what takes longer than a second on a terminal, and takes it away again', async () => {
    vi.useFakeTimers();
    const stderr = stream(80);
    const work = withProgress(screenOf(stream(80), stderr), 'reading', async () => {
      await vi.advanceTimersByTimeAsync(1500);
      return 1;
    });
    expect(await work).toBe(1);
    expect(stderr.text()).toBe('reading ...\r\u001b[K');
  });

  it('is silent about what is quick, and where nobody looks', async () => {
    const [terminal, file] = [stream(80), stream(undefined)];
    await withProgress(screenOf(terminal, terminal), 'reading', async () => undefined);
    whilePlanning(screenOf(file, file), crowd, () => undefined);
    expect(terminal.text() + file.text()).toBe('');
  });

  it('says before a long plan is computed that it is', () => {
    const stderr = stream(80);
    whilePlanning(screenOf(stderr, stderr), crowd, () => undefined);
    expect(stderr.text()).toBe('planning for 20000 pods on 500 nodes ...\r\u001b[K');
  });
});
