import { formatDuration } from '../../model/duration.ts';
import { isObject, type JsonObject, listAt, MalformedField } from '../../model/json.ts';
import { seconds } from '../../model/units.ts';
import { changed, type ImportNote } from '../note.ts';

const HOUR = 3600;
const SECONDS_PER: Readonly<Record<string, number>> = {
  m: 60,
  h: HOUR,
  d: 24 * HOUR,
  w: 7 * 24 * HOUR,
  M: 30 * 24 * HOUR,
  Q: 90 * 24 * HOUR,
  Y: 365 * 24 * HOUR,
};
/** Units of openslo/v1alpha. */
const UNITS: Readonly<Record<string, string>> = {
  Minute: 'm',
  Hour: 'h',
  Day: 'd',
  Week: 'w',
  Month: 'M',
  Quarter: 'Q',
  Year: 'Y',
};
/** Longest window of a ServiceClass: 30 days. */
const LONGEST = 720 * HOUR;

/** The first time window of an SLO as `spec.window` of a ServiceClass; undefined where it has none. Throws MalformedField. */
export function windowOf(
  spec: JsonObject,
  at: string,
): { readonly text: string | undefined; readonly notes: readonly ImportNote[] } {
  const key = spec['timeWindows'] === undefined ? 'timeWindow' : 'timeWindows';
  const [first] = listAt(spec, key, at);
  const path = `${at}.${key}[0]`;
  if (!isObject(first)) {
    return {
      text: undefined,
      notes: [changed(`${at}.${key}`, 'is missing: the promise holds over the default window, 1h')],
    };
  }
  const span = spanOf(first, path);
  const isRolling = first['isRolling'] !== false && first['calendar'] === undefined;
  return {
    text: formatDuration(seconds(Math.min(span, LONGEST))),
    notes: [
      span > LONGEST ? [changed(path, 'is longer than the longest window, which it gets: 720h, 30 days')] : [],
      isRolling ? [] : [changed(path, 'follows the calendar: a window of a ServiceClass always slides')],
    ].flat(),
  };
}

function spanOf({ duration, count, unit }: JsonObject, path: string): number {
  const text = typeof duration === 'string' ? duration : `${String(count)}${UNITS[String(unit)] ?? String(unit)}`;
  const [, number, letter = ''] = /^(\d{1,6})([mhdwMQY])$/.exec(text) ?? [];
  const each = SECONDS_PER[letter];
  if (number === undefined || each === undefined) {
    throw new MalformedField(
      path,
      `"${text}" is no time window: write duration: 28d, with a unit of m, h, d, w, M, Q or Y`,
    );
  }
  return Number(number) * each;
}
