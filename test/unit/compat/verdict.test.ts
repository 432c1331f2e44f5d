import { expect, it } from 'vitest';
import { tableOf, type Verdict, yesUnless } from '../../compat/verdict.ts';

it('a table has a row for each check, and says below what is not plain', () => {
  const older = new Map<string, Verdict>([
    ['demo', yesUnless(['nothing was evicted', 'no plan'])],
    ['steering', { kind: 'NotApplicable', why: 'alpha there' }],
  ]);
  const newer = new Map<string, Verdict>([
    ['demo', yesUnless([], '22 evictions')],
    ['steering', yesUnless([])],
  ]);
  const table = tableOf(
    ['demo', 'steering', 'parity'],
    new Map([
      ['1.33', older],
      ['1.36', newer],
    ]),
  );
  expect(table.split('\n')).toEqual([
    'check     1.33     1.36',
    'demo      no [1]   yes [2]',
    'steering  n/a [3]  yes',
    'parity    -        -',
    '',
    '[1] demo on 1.33: no: nothing was evicted; no plan',
    '[2] demo on 1.36: 22 evictions',
    '[3] steering on 1.33: n/a: alpha there',
  ]);
});
