import { type Bytes, bytes, type MilliCpu, milliCpu } from './units.ts';

/** How a quantity was written, and so how it is written again: 12M, 12Mi or 12e6. */
export type QuantityFormat = 'DecimalSI' | 'BinarySI' | 'DecimalExponent';

/** A Kubernetes quantity, exact: apimachinery's resource.Quantity keeps nothing finer than a billionth either. */
export interface Quantity {
  /** Value in billionths. */
  readonly nano: bigint;
  readonly format: QuantityFormat;
}

/** Why a text is not a quantity. */
export interface QuantityError {
  /** What is wrong and what to write, starting with the text itself. */
  readonly error: string;
}

const NANO = 1_000_000_000n;
const NANO_PER_MILLI = 1_000_000n;
/** No quantity represents more than 2^63 - 1 in magnitude (apimachinery resource.Quantity). */
const MAX_NANO = (2n ** 63n - 1n) * NANO;
/** Far above anything sensible; keeps BigInt arithmetic short. */
const MAX_LENGTH = 64;

const DECIMAL_EXPONENT: ReadonlyMap<string, number> = new Map([
  ['n', -9],
  ['u', -6],
  ['m', -3],
  ['', 0],
  ['k', 3],
  ['M', 6],
  ['G', 9],
  ['T', 12],
  ['P', 15],
  ['E', 18],
]);
const DECIMAL_SUFFIX: ReadonlyMap<number, string> = new Map(
  Array.from(DECIMAL_EXPONENT, ([suffix, exponent]) => [exponent, suffix]),
);
const BINARY_SUFFIXES: readonly string[] = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

const PATTERN = /^([+-]?)(\d+(?:\.\d*)?|\.\d+)(?:([KMGTPE]i)|[eE]([+-]?\d+)|([numkMGTPE]?))$/;

/** Whether `result` says why there is no quantity. */
export function isQuantityError(result: Quantity | QuantityError): result is QuantityError {
  return 'error' in result;
}

/** A quantity that a schema has checked. Throws RangeError for what it would refuse. */
export function quantityOf(text: string): Quantity {
  const quantity = parseQuantity(text);
  if (isQuantityError(quantity)) {
    throw new RangeError(quantity.error);
  }
  return quantity;
}

/**
 * The quantity that `text` writes, by the grammar and rounding of apimachinery's ParseQuantity: what is finer than a
 * billionth is rounded away from zero, and a binary quantity above 2^63 - 1 is capped there. Total: for any other text,
 * larger decimal numbers included, the result is an error value. Never throws.
 */
export function parseQuantity(text: string): Quantity | QuantityError {
  const match = text.length > MAX_LENGTH ? null : PATTERN.exec(text);
  if (match === null) {
    return { error: `${shown(text)} is not a quantity: write a number and a suffix, such as 250m, 1.5 or 512Mi` };
  }
  const [, sign, number = '', binary, exponent, decimal = ''] = match;
  const nano =
    binary === undefined
      ? decimalNano(number, exponent === undefined ? (DECIMAL_EXPONENT.get(decimal) ?? 0) : Number(exponent))
      : binaryNano(number, binary);
  if (nano > MAX_NANO) {
    return { error: `${shown(text)} is too large: a quantity is at most 2^63 - 1` };
  }
  return { nano: sign === '-' ? -nano : nano, format: formatOf(number, nano, binary, exponent) };
}

/** Thousandths, rounded away from zero, as MilliValue(): what the scheduler counts of a CPU request. */
export function toMilliCpu(quantity: Quantity): MilliCpu {
  return milliCpu(Number(divideAwayFromZero(quantity.nano, NANO_PER_MILLI)));
}

/** Whole bytes, rounded away from zero, as Value(). Above 2^53 the nearest double. */
export function toBytes(quantity: Quantity): Bytes {
  return bytes(toCount(quantity));
}

/** A whole number, rounded away from zero, as Value(): pod slots, devices, huge pages. */
export function toCount(quantity: Quantity): number {
  return Number(divideAwayFromZero(quantity.nano, NANO));
}

/** Thousandths of a core with their fraction, for measured use. */
export function toFractionalMilliCpu(quantity: Quantity): MilliCpu {
  return milliCpu(Number(quantity.nano) / Number(NANO_PER_MILLI));
}

/** Canonical text, as apimachinery prints it: the largest suffix without a fraction, and 1.5Gi as 1536Mi. */
export function formatQuantity(quantity: Quantity): string {
  const { nano, format } = quantity;
  if (nano === 0n) {
    return '0';
  }
  const whole = nano / NANO;
  const binary = format === 'BinarySI' && nano % NANO === 0n && (whole >= 1024n || whole <= -1024n);
  return binary ? formatBinary(whole) : formatDecimal(nano, format === 'DecimalExponent');
}

function formatBinary(whole: bigint): string {
  let mantissa = whole;
  let suffix = 0;
  while (mantissa % 1024n === 0n && suffix < BINARY_SUFFIXES.length - 1) {
    mantissa /= 1024n;
    suffix += 1;
  }
  return `${mantissa}${BINARY_SUFFIXES[suffix]}`;
}

function formatDecimal(nano: bigint, asExponent: boolean): string {
  let mantissa = nano;
  let exponent = -9;
  while (mantissa % 1000n === 0n) {
    mantissa /= 1000n;
    exponent += 3;
  }
  if (asExponent) {
    return exponent === 0 ? `${mantissa}` : `${mantissa}e${exponent}`;
  }
  return `${mantissa}${DECIMAL_SUFFIX.get(exponent) ?? ''}`;
}

/** `number` times ten to `exponent`, in billionths. Not negative. */
function decimalNano(number: string, exponent: number): bigint {
  const [digits, places] = unscaled(number);
  if (digits === 0n) {
    return 0n;
  }
  const shift = exponent - places + 9;
  if (shift > MAX_LENGTH) {
    return MAX_NANO + 1n;
  }
  return shift >= 0
    ? digits * 10n ** BigInt(shift)
    : divideAwayFromZero(digits, 10n ** BigInt(Math.min(-shift, 2 * MAX_LENGTH)));
}

function binaryNano(number: string, suffix: string): bigint {
  const [digits, places] = unscaled(number);
  const power = BINARY_SUFFIXES.indexOf(suffix);
  const nano = divideAwayFromZero(digits * 1024n ** BigInt(power) * NANO, 10n ** BigInt(places));
  return nano > MAX_NANO ? MAX_NANO : nano;
}

/** The digits of a decimal number without its point, and how many of them stood behind it. */
function unscaled(number: string): [digits: bigint, places: number] {
  const point = number.indexOf('.');
  return point === -1
    ? [BigInt(number), 0]
    : [BigInt(number.slice(0, point) + number.slice(point + 1)), number.length - point - 1];
}

function divideAwayFromZero(value: bigint, divisor: bigint): bigint {
  const quotient = value / divisor;
  if (quotient * divisor === value) {
    return quotient;
  }
  return value > 0n ? quotient + 1n : quotient - 1n;
}

/** ParseQuantity turns a binary quantity below one into a decimal one, to avoid rounding. */
function formatOf(
  number: string,
  nano: bigint,
  binary: string | undefined,
  exponent: string | undefined,
): QuantityFormat {
  if (binary !== undefined) {
    return number.includes('.') && nano > 0n && nano < NANO ? 'DecimalSI' : 'BinarySI';
  }
  return exponent === undefined ? 'DecimalSI' : 'DecimalExponent';
}

function shown(text: string): string {
  return JSON.stringify(text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}...` : text);
}
