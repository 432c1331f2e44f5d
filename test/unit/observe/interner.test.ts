import { describe, expect, it } from 'vitest';
import { createInterner } from '../../../src/observe/interner.ts';

describe('an interner', () => {
  it('has one map for labels that are the same, and others for others', () => {
    const { labels } = createInterner();
    const web = labels([['app', 'web']]);
    expect([...web]).toEqual([['app', 'web']]);
    expect(labels([['app', 'web']])).toBe(web);
    expect(labels([['app', 'db']])).not.toBe(web);
    expect(createInterner().labels([['app', 'web']])).not.toBe(web);
  });

  it('tells labels apart that differ only at their end, however long they are', () => {
    const { labels } = createInterner();
    const long = (end: string) => labels([['app', `${'x'.repeat(500)}${end}`]]);
    expect(long('a')).toBe(long('a'));
    expect(long('a')).not.toBe(long('b'));
  });

  it('parses a quantity once', () => {
    const { quantity } = createInterner();
    expect(quantity('250m')).toMatchObject({ nano: 250_000_000n });
    expect(quantity('250m')).toBe(quantity('250m'));
    expect(quantity('251m')).not.toBe(quantity('250m'));
    expect(quantity('much')).toBe(quantity('much'));
  });

  it('remembers a hundred thousand quantities, and with one more begins anew', () => {
    const { quantity } = createInterner();
    const first = quantity('0');
    for (let count = 1; count < 100_000; count += 1) {
      quantity(String(count));
    }
    expect(quantity('0')).toBe(first);
    quantity('100000');
    const again = quantity('0');
    expect(again).not.toBe(first);
    expect(again).toEqual(first);
  });
});
