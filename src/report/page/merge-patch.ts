/** An object of JSON. */
type JsonRecord = Readonly<Record<string, unknown>>;

/**
 * The JSON merge patch (RFC 7396) that makes `after` of `before`; `undefined` when they are equal. Neither may hold null.
 * Arrays are replaced whole.
 */
export function mergePatchOf(before: object, after: object): object | undefined {
  return differenceOf(before as JsonRecord, after as JsonRecord);
}

function differenceOf(before: JsonRecord, after: JsonRecord): JsonRecord | undefined {
  const entries: [string, unknown][] = [];
  for (const [key, value] of Object.entries(after)) {
    const change = changeOf(Object.hasOwn(before, key) ? before[key] : undefined, value);
    if (change !== undefined) {
      entries.push([key, change]);
    }
  }
  for (const key of Object.keys(before)) {
    if (before[key] !== undefined && (!Object.hasOwn(after, key) || after[key] === undefined)) {
      entries.push([key, null]);
    }
  }
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

function changeOf(before: unknown, after: unknown): unknown {
  if (isRecord(before) && isRecord(after)) {
    return differenceOf(before, after);
  }
  return before === after || JSON.stringify(before) === JSON.stringify(after) ? undefined : after;
}

/**
 * What RFC 7396 makes of `target` and `patch`. Parts that the patch does not touch are the same objects as before, so that a
 * view knows them again. Names such as `__proto__` are keys like any other.
 */
export function applyMergePatch<Target extends object>(target: Target, patch: object): Target {
  return patched(target, patch) as Target;
}

function patched(target: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) {
    return patch;
  }
  const entries = new Map(isRecord(target) ? Object.entries(target) : []);
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) {
      entries.delete(key);
    } else {
      entries.set(key, patched(entries.get(key), value));
    }
  }
  return Object.fromEntries(entries);
}

function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
