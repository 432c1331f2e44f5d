import { quantityOf } from './quantity.ts';

/** Bits per second that a quantity such as 20M writes; throws RangeError for what the schema of our kinds would refuse. */
export function bitsPerSecond(text: string): number {
  return Number(quantityOf(text).nano) / 1e9;
}

/** The highest bandwidth that a field takes, in bits per second. */
export const HIGHEST_BANDWIDTH = 999_999e12;

/** Units of bandwidth, the largest first: bits per second, and their prefix. */
const BANDWIDTH_UNITS: readonly (readonly [size: number, prefix: string])[] = [
  [1e12, 'T'],
  [1e9, 'G'],
  [1e6, 'M'],
  [1e3, 'k'],
];

/** Bits per second as the fields of our kinds have them, such as 20M or 1.5G, to a thousandth of the unit; what is not nothing is not 0k. */
export function bandwidthText(bandwidth: number): string {
  const [size, unit] = BANDWIDTH_UNITS.find(([each]) => bandwidth >= each) ?? [1e3, 'k'];
  const thousandths = Math.max(bandwidth > 0 ? 1 : 0, Math.round((bandwidth / size) * 1000));
  return `${Math.min(thousandths / 1000, 999_999)}${unit}`;
}

/** For people: `12.5 Mb/s`. */
export function bitRate(bandwidth: number): string {
  const [size, prefix] = BANDWIDTH_UNITS.find(([each]) => bandwidth >= each) ?? [1, ''];
  return `${Math.round((bandwidth / size) * 100) / 100} ${prefix}b/s`;
}
