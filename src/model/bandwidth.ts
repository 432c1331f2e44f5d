import { isQuantityError, parseQuantity } from './quantity.ts';

/** Bits per second that a quantity such as 20M writes; throws RangeError for what the schema of our kinds would refuse. */
export function bitsPerSecond(text: string): number {
  const quantity = parseQuantity(text);
  if (isQuantityError(quantity)) {
    throw new RangeError(quantity.error);
  }
  return Number(quantity.nano) / 1e9;
}
