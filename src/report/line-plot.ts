/** One line of a plot. */
export interface Line {
  readonly name: string;
  /** Seconds, ascending. */
  readonly times: readonly number[];
  /** `null` leaves a gap. */
  readonly values: readonly (number | null)[];
}

const WIDTH = 900;
const HEIGHT = 260;
const LEFT = 56;
const BOTTOM = 28;
const TOP = 10;
const RIGHT = 12;

/** Lines over time as inline SVG; line i has the class c0 to c7. `label` is for those who cannot see it, escaped already. */
export function linePlot(label: string, lines: readonly Line[]): string {
  const values = lines.flatMap((line) => line.values.filter((value) => value !== null));
  const end = Math.max(1, ...lines.map(({ times }) => times.at(-1) ?? 0));
  const scale = scaleOf(values);
  const x = (time: number): number => LEFT + ((WIDTH - LEFT - RIGHT) * time) / end;
  const y = (value: number): number =>
    HEIGHT - BOTTOM - ((HEIGHT - TOP - BOTTOM) * (value - scale.low)) / (scale.high - scale.low);
  const grid = scale.ticks.map((tick) => {
    const at = y(tick).toFixed(1);
    const line = `<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${at}" y2="${at}"/>`;
    return `${line}<text x="${LEFT - 6}" y="${at}" text-anchor="end" dominant-baseline="middle">${Number(tick.toPrecision(6))}</text>`;
  });
  const times = [0, 0.25, 0.5, 0.75, 1].map((share) => {
    const anchor = share === 1 ? 'end' : 'middle';
    return `<text x="${x(share * end).toFixed(1)}" y="${HEIGHT - 8}" text-anchor="${anchor}">${timeLabel(share * end)}</text>`;
  });
  const paths = lines.map((line, index) => `<path class="c${index % 8}" d="${pathOf(line, x, y)}"/>`);
  return `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${label}">${[...grid, ...times, ...paths].join('')}</svg>`;
}

interface Scale {
  readonly low: number;
  readonly high: number;
  readonly ticks: readonly number[];
}

/** From a round number below the values to one above, in steps of 1, 2 or 5 times a power of ten. */
function scaleOf(values: readonly number[]): Scale {
  const least = values.reduce((low, value) => Math.min(low, value), Number.POSITIVE_INFINITY);
  const most = values.reduce((high, value) => Math.max(high, value), Number.NEGATIVE_INFINITY);
  const [low, high] = values.length === 0 ? [0, 1] : [least, most > least ? most : least + 1];
  const rough = (high - low) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10);
  const first = Math.floor(low / step);
  const last = Math.ceil(high / step);
  const ticks = Array.from({ length: last - first + 1 }, (_, index) => (first + index) * step);
  return { low: first * step, high: last * step, ticks };
}

function pathOf({ times, values }: Line, x: (time: number) => number, y: (value: number) => number): string {
  let isDrawing = false;
  const parts = values.flatMap((value, index) => {
    const command = isDrawing ? 'L' : 'M';
    isDrawing = value !== null;
    return value === null ? [] : [`${command}${x(times[index] ?? 0).toFixed(1)} ${y(value).toFixed(1)}`];
  });
  return parts.join('');
}

function timeLabel(seconds: number): string {
  return seconds < 120 ? `${Number(seconds.toFixed(1))} s` : `${Number((seconds / 60).toFixed(1))} min`;
}
