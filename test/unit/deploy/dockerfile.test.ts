import { describe, expect, it } from 'vitest';
import { execForm, pairs, parseDockerfile } from '../../support/image/dockerfile.ts';

describe('parseDockerfile', () => {
  it('joins lines and leaves out comments, in the middle of an instruction too', () => {
    const text = '# top\nFROM a AS build\nRUN one \\\n# said\n && two\nFROM scratch\nUSER 1:1\n';
    expect(parseDockerfile(text)).toEqual([
      { from: 'a', name: 'build', instructions: [{ name: 'RUN', text: 'one  && two' }] },
      { from: 'scratch', name: undefined, instructions: [{ name: 'USER', text: '1:1' }] },
    ]);
  });

  it.each([
    ['an instruction that nobody carries out', 'FROM a\nHEALTHCHECK NONE'],
    ['an option of FROM', 'FROM --platform=x a AS b\nRUN x'],
    ['a here-document', 'FROM a\nRUN <<EOF\nEOF'],
    ['an instruction before FROM', 'RUN x\nFROM a'],
  ])('refuses %s', (_what, text) => {
    expect(() => parseDockerfile(text)).toThrow(/^the Dockerfile has an instruction/);
  });
});

it('reads lists and pairs', () => {
  expect(execForm({ name: 'CMD', text: '["a", "b c"]' })).toEqual(['a', 'b c']);
  expect(() => execForm({ name: 'CMD', text: 'a b' })).toThrow(/JSON form only/);
  expect(pairs({ name: 'LABEL', text: 'a.b="c d"   e=f' })).toEqual([
    ['a.b', 'c d'],
    ['e', 'f'],
  ]);
});
