import { type EpochSeconds, epochSeconds, type Seconds, seconds } from './units.ts';

/** A JSON object of unknown content. Read it with the functions below, never by a key that came from outside. */
export type JsonObject = { readonly [key: string]: unknown };

/**
 * Thrown by the reading functions below and caught once per object, where it becomes a problem text: an object of the
 * wrong shape takes no part, and everything else goes on.
 */
export class MalformedField extends Error {
  override readonly name = 'MalformedField';

  readonly field: string;
  readonly wrong: string;

  /** `field` is the path inside the object; `wrong` says what is there and what to write. */
  constructor(field: string, wrong: string) {
    super(`${field}: ${wrong}`);
    this.field = field;
    this.wrong = wrong;
  }
}

/** Whether `value` is an object; arrays and null are not. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What stands under a key; an empty object where that is none. */
export function childOf(object: JsonObject, key: string): JsonObject {
  const child = object[key];
  return isObject(child) ? child : {};
}

/** `value` as an object; `field` is its own path. Throws MalformedField. */
export function asObject(value: unknown, field: string): JsonObject {
  if (!isObject(value)) {
    throw new MalformedField(field, `${describe(value)} is not an object`);
  }
  return value;
}

/** The object at `key`; undefined when absent or null. `field` is the path of `parent`. Throws MalformedField. */
export function objectAt(parent: JsonObject, key: string, field: string): JsonObject | undefined {
  const value = parent[key];
  return isAbsent(value) ? undefined : asObject(value, join(field, key));
}

/** The objects of the list at `key`; empty when absent or null. Throws MalformedField. */
export function objectsAt(parent: JsonObject, key: string, field: string): readonly JsonObject[] {
  return listAt(parent, key, field).map((item, index) => asObject(item, `${join(field, key)}[${index}]`));
}

/** The list at `key`; empty when absent or null. Throws MalformedField. */
export function listAt(parent: JsonObject, key: string, field: string): readonly unknown[] {
  const value = parent[key];
  if (isAbsent(value)) {
    return [];
  }
  if (!Array.isArray(value)) {
    throw new MalformedField(join(field, key), `${describe(value)} is not a list`);
  }
  return value;
}

/** The text at `key`; undefined when absent or null. Throws MalformedField. */
export function textAt(parent: JsonObject, key: string, field: string): string | undefined {
  const value = parent[key];
  return isAbsent(value) ? undefined : asText(value, join(field, key));
}

/** The text at `key`, which must be there and not empty. Throws MalformedField. */
export function nameAt(parent: JsonObject, key: string, field: string): string {
  const text = textAt(parent, key, field) ?? '';
  if (text === '') {
    throw new MalformedField(join(field, key), 'is missing');
  }
  return text;
}

/** The texts of the list at `key`; empty when absent or null. Throws MalformedField. */
export function textsAt(parent: JsonObject, key: string, field: string): readonly string[] {
  return listAt(parent, key, field).map((item, index) => asText(item, `${join(field, key)}[${index}]`));
}

/** `value` as text; `field` is its own path. Throws MalformedField. */
export function asText(value: unknown, field: string): string {
  if (typeof value !== 'string') {
    const hint = typeof value === 'object' ? '' : ': write it in quotes';
    throw new MalformedField(field, `${describe(value)} is not text${hint}`);
  }
  return value;
}

/** The boolean at `key`; false when absent or null. Throws MalformedField. */
export function booleanAt(parent: JsonObject, key: string, field: string): boolean {
  const value = parent[key];
  if (isAbsent(value)) {
    return false;
  }
  if (typeof value !== 'boolean') {
    throw new MalformedField(join(field, key), `${describe(value)} is not a boolean: write true or false`);
  }
  return value;
}

/** The whole number at `key`; undefined when absent or null. Throws MalformedField. */
export function integerAt(parent: JsonObject, key: string, field: string): number | undefined {
  const value = parent[key];
  if (isAbsent(value)) {
    return undefined;
  }
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) {
    throw new MalformedField(join(field, key), `${describe(value)} is not a whole number`);
  }
  return value;
}

/** The map of texts at `key`, sorted by key; empty when absent or null. Throws MalformedField. */
export function textEntriesAt(parent: JsonObject, key: string, field: string): [string, string][] {
  const path = join(field, key);
  return entriesAt(parent, key, field).map(([name, value]): [string, string] => [
    name,
    asText(value, `${path}.${name}`),
  ]);
}

/** The entries of the map at `key`, sorted by key, so that the order in which a file has them means nothing. */
export function entriesAt(parent: JsonObject, key: string, field: string): [string, unknown][] {
  const map = objectAt(parent, key, field);
  return map === undefined ? [] : Object.entries(map).sort(([left], [right]) => (left < right ? -1 : 1));
}

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;

/** The RFC 3339 instant that `text` writes; NaN for anything else. */
export function parseTimestamp(text: string): EpochSeconds {
  return epochSeconds(TIMESTAMP.test(text) ? Date.parse(text) / 1000 : Number.NaN);
}

/** The instant at `key`; undefined when absent or null. Throws MalformedField. */
export function timestampAt(parent: JsonObject, key: string, field: string): EpochSeconds | undefined {
  const text = textAt(parent, key, field);
  if (text === undefined) {
    return undefined;
  }
  const instant = parseTimestamp(text);
  if (Number.isNaN(instant)) {
    throw new MalformedField(join(field, key), `${describe(text)} is not a time: write 2026-01-31T12:00:00Z`);
  }
  return instant;
}

const SECONDS_PER: ReadonlyMap<string, number> = new Map([
  ['h', 3600],
  ['m', 60],
  ['s', 1],
  ['ms', 1e-3],
  ['us', 1e-6],
  ['\u00b5s', 1e-6],
  ['ns', 1e-9],
]);

/** Seconds of a Go duration as metrics objects write it, fractions included (1m0s, 14.835s); NaN for anything else. */
export function parseGoDuration(text: string): Seconds {
  if (text.length > 64 || !/^(\d+(\.\d*)?(h|ms|us|\u00b5s|ns|m|s))+$/.test(text)) {
    return seconds(Number.NaN);
  }
  let total = 0;
  for (const [, count, , unit] of text.matchAll(/(\d+(\.\d*)?)(h|ms|us|\u00b5s|ns|m|s)/g)) {
    total += Number(count) * (SECONDS_PER.get(unit ?? '') ?? Number.NaN);
  }
  return seconds(total);
}

/** `value` for people: short, on one line. */
export function describe(value: unknown): string {
  if (typeof value === 'string') {
    return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}...` : value);
  }
  if (Array.isArray(value)) {
    return 'a list';
  }
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}

function isAbsent(value: unknown): value is undefined | null {
  return value === undefined || value === null;
}

function join(field: string, key: string): string {
  return field === '' ? key : `${field}.${key}`;
}
