import { describe, integerAt, type JsonObject, MalformedField } from '../../model/json.ts';

/** The weight of a preferred term, 1 to 100 as the API allows. Throws MalformedField, also when it is missing. */
export function readWeight(term: JsonObject, field: string): number {
  const weight = integerAt(term, 'weight', field);
  if (weight === undefined || weight < 1 || weight > 100) {
    throw new MalformedField(`${field}.weight`, `${describe(weight)} is not a weight: write a number from 1 to 100`);
  }
  return weight;
}
