/** `73`, for cells that have no room for more. */
export function wholePercent(fraction: number): string {
  return String(Math.round(fraction * 100));
}

/** `73.1 %`. */
export function percent(fraction: number, digits = 1): string {
  return `${(fraction * 100).toFixed(digits)} %`;
}

/** `99.95 %`: as many digits as tell an availability from its objective, without trailing zeros. */
export function finePercent(fraction: number): string {
  return `${Number((fraction * 100).toFixed(3))} %`;
}

/** Points of node capacity: `+1.2 pp`. */
export function points(fraction: number): string {
  return `${fraction < 0 ? '−' : '+'}${Math.abs(fraction * 100).toFixed(1)} pp`;
}

/** `45 s`, `12 min`, `3.5 h`, `2.1 d`; of a negative one its size. */
export function duration(seconds: number): string {
  const span = Math.abs(seconds);
  if (span < 120) {
    return `${Math.round(span)} s`;
  }
  if (span < 7200) {
    return `${Math.round(span / 60)} min`;
  }
  return span < 172_800 ? `${(span / 3600).toFixed(1)} h` : `${(span / 86_400).toFixed(1)} d`;
}

const AGES = [
  ['year', 365.25 * 86_400],
  ['month', 30.44 * 86_400],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const;

/** `10 months`, `3 hours`: the largest whole unit. */
export function age(seconds: number): string {
  const [unit, span] = AGES.find((each) => seconds >= each[1]) ?? [undefined, 1];
  return unit === undefined ? 'less than a minute' : count(Math.floor(seconds / span), unit);
}

/** `14:03:22` today, with the date on other days. */
export function clockTime(time: string | Date, now = new Date()): string {
  const date = new Date(time);
  const clock = date.toTimeString().slice(0, 8);
  const isToday = date.toDateString() === now.toDateString();
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return isToday ? clock : `${day} ${clock}`;
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}

/** `1 pod`, `2 pods`. */
export function count(number: number, noun: string): string {
  return `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`;
}

/** `NodeResourcesFit` as `node resources fit`. */
export function words(code: string): string {
  return code.replaceAll(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
}
