import { describe, expect, it } from 'vitest';
import { createItemScanner } from '../../../src/adapters/kubernetes/json-items.ts';

/** What a scanner finds in a text that comes in these pieces. */
function scanned(...pieces: readonly string[]) {
  const items: string[] = [];
  const scanner = createItemScanner((text) => items.push(text));
  for (const piece of pieces) {
    scanner.push(Buffer.from(piece));
  }
  return { items, frame: scanner.frame() };
}

describe('the items of a list', () => {
  it.each<[string, string, readonly string[], string]>([
    ['follow each other', '{"items":[{"a":1},{"b":2}]}', ['{"a":1}', '{"b":2}'], '{"items":[]}'],
    [
      'stand between other fields',
      '{"kind":"List","items":[{"a":1}],"metadata":{"continue":"c"}}',
      ['{"a":1}'],
      '{"kind":"List","items":[],"metadata":{"continue":"c"}}',
    ],
    [
      'hold objects and lists',
      '{"items":[{"a":[{"b":[1,2]},[3,4]],"c":{"d":{}}},{}]}',
      ['{"a":[{"b":[1,2]},[3,4]],"c":{"d":{}}}', '{}'],
      '{"items":[]}',
    ],
    [
      'hold brackets, commas and quotes in text',
      String.raw`{"items":[{"a":"]},{\"[","b\\":"\\"},{"c":"\\\""}]}`,
      [String.raw`{"a":"]},{\"[","b\\":"\\"}`, String.raw`{"c":"\\\""}`],
      '{"items":[]}',
    ],
    ['have space around them', '{ "items" : [ {"a":1} , {"b":2} ] }', ['{"a":1}', '{"b":2}'], '{ "items" : [    ] }'],
    ['are none', '{"items":[],"metadata":{}}', [], '{"items":[],"metadata":{}}'],
    ['are null', '{"items":null,"a":1}', [], '{"items":null,"a":1}'],
    [
      'stand behind text that looks like a list',
      String.raw`{"a":"\"items\":[{","metadata":{"b":[{"c":1},{"d":2}]},"items":[{"e":1}]}`,
      ['{"e":1}'],
      String.raw`{"a":"\"items\":[{","metadata":{"b":[{"c":1},{"d":2}]},"items":[]}`,
    ],
    [
      'are no list but an object',
      '{"items":{"a":{"b":1},"c":[1,{"d":2}]}}',
      [],
      '{"items":{"a":{"b":1},"c":[1,{"d":2}]}}',
    ],
  ])('are found where they %s, wherever chunks end', (_, text, items, frame) => {
    expect(scanned(text)).toEqual({ items, frame });
    expect(scanned(...text)).toEqual({ items, frame });
    for (let cut = 0; cut <= text.length; cut += 1) {
      expect(scanned(text.slice(0, cut), text.slice(cut)), `cut at ${cut}`).toEqual({ items, frame });
    }
  });

  it('are whole also where a chunk ends in the middle of a letter', () => {
    const bytes = Buffer.from('{"items":[{"a":"ü世"}]}');
    const items: string[] = [];
    const scanner = createItemScanner((text) => items.push(text));
    for (const byte of bytes) {
      scanner.push(Uint8Array.of(byte));
    }
    expect(items).toEqual(['{"a":"ü世"}']);
  });

  it('are not what becomes of the memory of a chunk', () => {
    const chunk = Buffer.from('{"kind":"List","items":[{"a":');
    const items: string[] = [];
    const scanner = createItemScanner((text) => items.push(text));
    scanner.push(chunk);
    chunk.fill('x');
    scanner.push(Buffer.from('1}]}'));
    expect([items, scanner.frame()]).toEqual([['{"a":1}'], '{"kind":"List","items":[]}']);
  });

  it('are read from the part of the memory that is the chunk', () => {
    const items: string[] = [];
    const scanner = createItemScanner((text) => items.push(text));
    scanner.push(new Uint8Array(Buffer.from('xxx{"items":[{"a":1}]}yyy')).subarray(3, -3));
    expect([items, scanner.frame()]).toEqual([['{"a":1}'], '{"items":[]}']);
  });
});

describe('what is too long', () => {
  const MIB = 2 ** 20;
  const frameOf = (length: number): string => `{"items":[{"a":1}],"b":"${'x'.repeat(length - 19)}"}`;

  it('is a list of more than 1 MiB without its items', () => {
    expect(scanned(frameOf(MIB)).frame).toHaveLength(MIB);
    expect(() => scanned(frameOf(MIB + 1))).toThrow(
      'the API server sent a list without its items of more than 1048576 bytes',
    );
  });

  it('is an object of which more than 16 MiB have come, and not several that have less', () => {
    const items: number[] = [];
    const scanner = createItemScanner((text) => items.push(text.length));
    scanner.push(Buffer.from('{"items":['));
    const most = Buffer.from(`{"a":"${'x'.repeat(16 * MIB - 6)}`);
    for (const _ of [1, 2]) {
      scanner.push(most);
      scanner.push(Buffer.from('"},'));
    }
    expect(items).toEqual([16 * MIB + 2, 16 * MIB + 2]);
    scanner.push(most);
    expect(() => scanner.push(Buffer.from('x'))).toThrow('the API server sent an object of more than 16777216 bytes');
  });
});
