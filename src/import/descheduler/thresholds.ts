import { entriesAt, type JsonObject, MalformedField } from '../../model/json.ts';

/** Percentages by resource, in the order of their names; none when the field is absent. Throws MalformedField outside of 0 to 100. */
export function percentagesAt(args: JsonObject, key: string, path: string): readonly (readonly [string, number])[] {
  return entriesAt(args, key, path).map(([name, value]) => {
    if (typeof value !== 'number' || !(value >= 0 && value <= 100)) {
      throw new MalformedField(
        `${path}.${key}.${name}`,
        `is ${JSON.stringify(value)}: write a percentage from 0 to 100`,
      );
    }
    return [name, value] as const;
  });
}
