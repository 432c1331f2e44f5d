import { describe, expect, it } from 'vitest';
import { LabelSelectorError, parseLabelSelector } from '../../../src/api/label-selector.ts';

describe('a label selector in one line', () => {
  it.each([
    ['app=web', [{ key: 'app', operator: 'In', values: ['web'] }]],
    ['app == web', [{ key: 'app', operator: 'In', values: ['web'] }]],
    ['app=', [{ key: 'app', operator: 'In', values: [''] }]],
    ['tier!=db', [{ key: 'tier', operator: 'NotIn', values: ['db'] }]],
    ['zone in (a)', [{ key: 'zone', operator: 'In', values: ['a'] }]],
    ['zone notin (a, b)', [{ key: 'zone', operator: 'NotIn', values: ['a', 'b'] }]],
    ['example.com/canary', [{ key: 'example.com/canary', operator: 'Exists' }]],
    ['!old', [{ key: 'old', operator: 'DoesNotExist' }]],
    ['in', [{ key: 'in', operator: 'Exists' }]],
    ['', []],
    [' ', []],
  ])('%j is understood', (text, expressions) => {
    expect(parseLabelSelector(text)).toEqual(expressions);
  });

  it('has expressions joined by commas, which lists of values have, too', () => {
    expect(parseLabelSelector('app=web, zone in (a, b),!old').map(({ key, values }) => [key, values])).toEqual([
      ['app', ['web']],
      ['zone', ['a', 'b']],
      ['old', undefined],
    ]);
  });

  it.each([
    ['commas', ','.repeat(200_000)],
    ['open parentheses', 'a in (,'.repeat(50_000)],
    ['spaces', `a${' '.repeat(200_000)}b`],
    ['a long key', `${'a'.repeat(200_000)}(`],
  ])('is refused in linear time: %s', (_what, text) => {
    const began = performance.now();
    expect(() => parseLabelSelector(text)).toThrow(LabelSelectorError);
    expect(performance.now() - began).toBeLessThan(1000);
  });

  it.each([
    ['a=b=c', 'a=b=c'],
    ['a=b,', ''],
    [',a=b', ''],
    ['zone in (a', 'zone in (a'],
    ['zone in a', 'zone in a'],
    ['a(b', 'a(b'],
    ['!a=b', '!a=b'],
    ['a>1', 'a>1'],
  ])('%j is refused with the part that is wrong', (text, part) => {
    const parse = () => parseLabelSelector(text);
    expect(parse).toThrow(LabelSelectorError);
    expect(parse).toThrow(`"${part}" is no part of a label selector: write key=value`);
  });
});
