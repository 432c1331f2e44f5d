import { expect, it } from 'vitest';
import { integer } from '../../../../src/adapters/http/der.ts';

it.each([
  ['007f', '02017f'],
  ['0000', '020100'],
  ['00ff', '020200ff'],
  ['ff01', '020300ff01'],
])('writes the integer %s in the fewest bytes, positive', (bytes, der) => {
  expect(integer(Buffer.from(bytes, 'hex')).toString('hex')).toBe(der);
});
