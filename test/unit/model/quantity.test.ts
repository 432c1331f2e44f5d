import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  formatQuantity,
  isQuantityError,
  parseQuantity,
  type Quantity,
  toBytes,
  toCount,
  toFractionalMilliCpu,
  toMilliCpu,
} from '../../../src/model/quantity.ts';

function quantity(text: string): Quantity {
  const result = parseQuantity(text);
  if (isQuantityError(result)) {
    throw new Error(result.error);
  }
  return result;
}

function errorOf(text: string): string | undefined {
  const result = parseQuantity(text);
  return isQuantityError(result) ? result.error : undefined;
}

/** text, value in billionths, MilliValue(), Value(), String(): printed by apimachinery 0.36.3. */
const FROM_APIMACHINERY: readonly (readonly [string, bigint, number, number, string])[] = [
  ['0', 0n, 0, 0, '0'],
  ['1', 1_000_000_000n, 1000, 1, '1'],
  ['1.', 1_000_000_000n, 1000, 1, '1'],
  ['.5', 500_000_000n, 500, 1, '500m'],
  ['+1.5', 1_500_000_000n, 1500, 2, '1500m'],
  ['100m', 100_000_000n, 100, 1, '100m'],
  ['0.1m', 100_000n, 1, 1, '100u'],
  ['123456n', 123_456n, 1, 1, '123456n'],
  ['0.1n', 1n, 1, 1, '1n'],
  ['1e-400', 1n, 1, 1, '1e-9'],
  ['1.0000000001', 1_000_000_001n, 1001, 2, '1000000001n'],
  ['12k', 12_000_000_000_000n, 12_000_000, 12_000, '12k'],
  ['1000M', 1_000_000_000_000_000_000n, 1_000_000_000_000, 1_000_000_000, '1G'],
  ['1E', 10n ** 27n, 10 ** 21, 10 ** 18, '1E'],
  ['1E3', 10n ** 12n, 10 ** 6, 1000, '1e3'],
  ['12e-3', 12_000_000n, 12, 1, '12e-3'],
  ['1Ki', 1024n * 10n ** 9n, 1_024_000, 1024, '1Ki'],
  ['1024Ki', 1024n * 1024n * 10n ** 9n, 1_048_576_000, 1_048_576, '1Mi'],
  ['1.5Gi', 1_610_612_736n * 10n ** 9n, 1_610_612_736_000, 1_610_612_736, '1536Mi'],
  ['0.0001Ki', 102_400_000n, 103, 1, '102400u'],
  ['1.1Mi', 1_153_433_600_000_000n, 1_153_433_600, 1_153_434, '1153433600m'],
  ['-1500m', -1_500_000_000n, -1500, -2, '-1500m'],
];

describe('parseQuantity', () => {
  it.each(FROM_APIMACHINERY)('reads %s as apimachinery does', (text, nano, milli, value, canonical) => {
    expect(quantity(text).nano).toBe(nano);
    expect(toMilliCpu(quantity(text))).toBe(milli);
    expect(toCount(quantity(text))).toBe(value);
    expect(formatQuantity(quantity(text))).toBe(canonical);
  });

  it('refuses what no cluster can hold', () => {
    expect(errorOf('1e400')).toBe('"1e400" is too large: a quantity is at most 2^63 - 1');
    expect(errorOf('10E')).toContain('too large');
    expect(errorOf('0e400')).toBeUndefined();
  });

  it('caps a binary quantity at 2^63 - 1, as apimachinery does', () => {
    expect(quantity('8Ei').nano).toBe((2n ** 63n - 1n) * 10n ** 9n);
    expect(quantity('-9Ei').nano).toBe(-(2n ** 63n - 1n) * 10n ** 9n);
  });

  it.each([
    '',
    ' ',
    '.',
    '+',
    'k',
    'e3',
    '1 Gi',
    ' 1',
    '1K',
    '1ki',
    '1e',
    '1e1.5',
    '--1',
    '0x10',
    '1_000',
    'NaN',
    '\u0661',
  ])('says what to write instead of %j', (text) => {
    expect(errorOf(text)).toContain(`${JSON.stringify(text)} is not a quantity: write`);
  });

  it('gives a value or a short error for any text, and never throws', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: fc.constantFrom(...'0123456789.+-eEinumkKMGTP') })),
        (text) => {
          const result = parseQuantity(text);
          return isQuantityError(result) ? result.error.length < 500 : typeof result.nano === 'bigint';
        },
      ),
      { numRuns: 5000 },
    );
    expect(errorOf('9'.repeat(1_000_000))?.length).toBeLessThan(200);
  });
});

const SUFFIXES: Readonly<Record<string, readonly [bigint, bigint]>> = {
  n: [1n, 1n],
  u: [1000n, 1n],
  m: [10n ** 6n, 1n],
  '': [10n ** 9n, 1n],
  k: [10n ** 12n, 1n],
  M: [10n ** 15n, 1n],
  G: [10n ** 18n, 1n],
  e3: [10n ** 12n, 1n],
  'E-2': [10n ** 7n, 1n],
  'e-11': [1n, 100n],
  Ki: [1024n * 10n ** 9n, 1n],
  Mi: [1024n ** 2n * 10n ** 9n, 1n],
  Gi: [1024n ** 3n * 10n ** 9n, 1n],
};

/** A text and its exact value as numerator and denominator of billionths. */
const decimals = fc
  .record({
    negative: fc.boolean(),
    whole: fc.nat({ max: 9_000_000 }),
    places: fc.string({ unit: fc.constantFrom(...'0123456789'), maxLength: 12 }),
    suffix: fc.constantFrom(...Object.entries(SUFFIXES)),
  })
  .map(({ negative, whole, places, suffix: [suffix, [factor, divisor]] }) => {
    const sign = negative ? -1n : 1n;
    return {
      text: `${negative ? '-' : ''}${whole}${places === '' ? '' : `.${places}`}${suffix}`,
      numerator: sign * BigInt(`${whole}${places}`) * factor,
      denominator: 10n ** BigInt(places.length) * divisor,
    };
  });

function roundAwayFromZero(numerator: bigint, denominator: bigint): bigint {
  const magnitude = numerator < 0n ? -numerator : numerator;
  const rounded = (magnitude + denominator - 1n) / denominator;
  return numerator < 0n ? -rounded : rounded;
}

describe('quantities against exact arithmetic', () => {
  it('keeps billionths and rounds anything finer away from zero', () => {
    fc.assert(
      fc.property(decimals, ({ text, numerator, denominator }) => {
        expect(quantity(text).nano).toBe(roundAwayFromZero(numerator, denominator));
      }),
      { numRuns: 2000 },
    );
  });

  it('reads back what it formats', () => {
    fc.assert(
      fc.property(decimals, ({ text }) => {
        const once = formatQuantity(quantity(text));
        expect(quantity(once).nano).toBe(quantity(text).nano);
        expect(formatQuantity(quantity(once))).toBe(once);
      }),
      { numRuns: 2000 },
    );
  });

  it('rounds to millicores and bytes as the scheduler does, and keeps the fraction of measured use', () => {
    fc.assert(
      fc.property(decimals, ({ text }) => {
        const value = quantity(text);
        expect(toMilliCpu(value)).toBe(Number(roundAwayFromZero(value.nano, 10n ** 6n)));
        expect(toBytes(value)).toBe(Number(roundAwayFromZero(value.nano, 10n ** 9n)));
        expect(toFractionalMilliCpu(value)).toBe(Number(value.nano) / 1e6);
      }),
      { numRuns: 1000 },
    );
  });
});
