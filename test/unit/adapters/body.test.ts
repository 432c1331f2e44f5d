import { describe, expect, it } from 'vitest';
import { readBytes, readLines } from '../../../src/adapters/kubernetes/body.ts';

async function* chunksOf(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) {
    yield Buffer.from(text);
  }
}

async function linesOf(...texts: readonly string[]): Promise<readonly string[]> {
  const lines: string[] = [];
  for await (const line of readLines(chunksOf(...texts), 5)) {
    lines.push(line);
  }
  return lines;
}

describe('a body', () => {
  it('is read whole up to so many bytes, and refused when it has one more', async () => {
    expect(await readBytes(chunksOf('abc', 'de'), 5)).toBe('abcde');
    expect(await readBytes(chunksOf('\u00e9'), 2)).toBe('\u00e9');
    await expect(readBytes(chunksOf('abc', 'def'), 5)).rejects.toThrow('longer than 5 bytes');
    await expect(readBytes(chunksOf('\u00e9'), 1)).rejects.toThrow('longer than 1 bytes');
  });

  it('has lines of so many characters, of which the last one needs an end', async () => {
    expect(await linesOf('ab', 'cde\n\n', 'f\ng')).toEqual(['abcde', 'f']);
    await expect(linesOf('abc', 'def', '\n')).rejects.toThrow('longer than 5 bytes');
  });
});
