import { type Seconds, seconds } from './units.ts';

const SECONDS_PER = { h: 3600, m: 60, s: 1 } as const;

/** Seconds of a Go duration in hours, minutes and seconds such as 1h30m. Throws a RangeError for anything else. */
export function parseDuration(text: string): Seconds {
  if (!/^(\d+(h|m|s))+$/.test(text)) {
    throw new RangeError(`"${text}" is not a duration: write something like 90s, 5m or 1h30m`);
  }
  let total = 0;
  for (const [, count, unit] of text.matchAll(/(\d+)(h|m|s)/g)) {
    total += Number(count) * SECONDS_PER[unit as keyof typeof SECONDS_PER];
  }
  return seconds(total);
}

/** Shortest Go duration of whole seconds: 5400 becomes 1h30m. */
export function formatDuration(span: Seconds): string {
  const whole = Math.max(0, Math.round(span));
  const parts = [
    [Math.floor(whole / 3600), 'h'],
    [Math.floor((whole % 3600) / 60), 'm'],
    [whole % 60, 's'],
  ] as const;
  const shown = parts.filter(([count]) => count > 0).map(([count, unit]) => `${count}${unit}`);
  return shown.length === 0 ? '0s' : shown.join('');
}
