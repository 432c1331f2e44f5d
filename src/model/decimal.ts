/** A decimal string with at most six decimals and no trailing zeros, as our resources write fractions. `-0` becomes 0. */
export function formatDecimal(value: number): string {
  const text = value.toFixed(6).replace(/\.?0+$/, '');
  return text === '-0' ? '0' : text;
}
