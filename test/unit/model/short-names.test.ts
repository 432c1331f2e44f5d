import { describe, expect, it } from 'vitest';
import { shortNames } from '../../../src/model/short-names.ts';

describe('short names of nodes', () => {
  it.each([
    ['a domain that all have', ['ip-1.eu.internal', 'ip-2.eu.internal'], ['ip-1', 'ip-2']],
    ['what several regions have in common', ['a.eu.internal', 'b.us.internal'], ['a.eu', 'b.us']],
    ['no addresses', ['10.0.0.4', '10.0.1.4'], ['10.0.0.4', '10.0.1.4']],
    ['not the name of a single node', ['a.eu.internal'], ['a.eu.internal']],
    ['nothing where one has another domain', ['a.eu', 'b'], ['a.eu', 'b']],
  ])('remove %s', (_what, names, short) => {
    expect(names.map(shortNames(names))).toEqual(short);
  });

  it('are used in texts, and only where a name ends', () => {
    const names = shortNames(['a.eu', 'b.eu']);
    expect(names('a.eu remains at 55 %: c.eu.x and b.europe')).toBe('a remains at 55 %: c.eu.x and b.europe');
  });
});
