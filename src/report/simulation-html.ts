import { escapeHtml } from '../model/escape.ts';
import type { SimulationResult, VariantResult } from './simulation-result.ts';
import { headline, type ReportTable, tablesOf } from './simulation-text.ts';

/**
 * What the simulation came to as one HTML file that asks nobody for anything: style and plots are in it, in light and dark as
 * the reader's system has it, and its policy forbids scripts and requests.
 */
export function simulationHtml(result: SimulationResult): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escapeHtml(`Simulation of ${result.scenario}`)}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>${escapeHtml(`Simulation of ${result.scenario}`)}</h1>
<p>${escapeHtml(headline(result))}</p>
${plotsOf(result).join('\n')}
${tablesOf(result).map(tableOf).join('\n')}
</body>
</html>
`;
}

function plotsOf({ variants }: SimulationResult): readonly string[] {
  const classes = [...new Set(variants.flatMap(({ classes: own }) => own.map(({ name }) => name)))];
  const all = variants.map(({ series }) => series);
  const lines = (of: (variant: VariantResult) => Line['values']): readonly Line[] =>
    variants.map((variant) => ({ name: variant.name, times: variant.series.times, values: of(variant) }));
  const plots = [
    ...classes.map(
      (name) =>
        [
          `Availability of class ${name} since admission, %`,
          true,
          (variant: VariantResult) => availability(variant, name),
        ] as const,
    ),
    [
      'Evictions and preemptions so far',
      all.some(({ evictions }) => (evictions.at(-1) ?? 0) > 0),
      ({ series }: VariantResult) => series.evictions,
    ],
    ...(['cpu', 'memory'] as const).map(
      (resource) =>
        [
          `Imbalance of ${resource === 'cpu' ? 'CPU' : resource}: mean absolute error, % of node capacity`,
          all.some((series) => series[resource].some((value) => value > 0)),
          ({ series }: VariantResult) => percent(series[resource]),
        ] as const,
    ),
  ] as const;
  return plots.flatMap(([title, isUsed, of]) => (isUsed ? [figure(title, lines(of))] : []));
}

function availability({ series }: VariantResult, name: string): Line['values'] {
  const own = series.availability.find((each) => each.name === name);
  return own === undefined ? series.times.map(() => null) : percent(own.values);
}

function percent(values: Line['values']): Line['values'] {
  return values.map((value) => (value === null ? null : 100 * value));
}

function figure(title: string, lines: readonly Line[]): string {
  const legend = lines
    .map(({ name }, index) => `<span class="key"><i class="c${index % 8}"></i>${escapeHtml(name)}</span>`)
    .join('');
  return `<figure><figcaption>${escapeHtml(title)}</figcaption>${linePlot(escapeHtml(title), lines)}<div class="legend">${legend}</div></figure>`;
}

function tableOf({ title, header, rows }: ReportTable): string {
  const head = header.map((name) => `<th>${escapeHtml(name)}</th>`).join('');
  const body = rows.map((row) => `<tr>${row.map((cell) => `<td>${escapeHtml(cell)}</td>`).join('')}</tr>`).join('\n');
  return `<section><h2>${escapeHtml(title)}</h2><div class="scroll"><table><thead><tr>${head}</tr></thead><tbody>\n${body}\n</tbody></table></div></section>`;
}

/** Colours that people with any colour vision can tell apart (Okabe and Ito), darker or lighter by scheme. */
const LIGHT = ['#0072b2', '#d55e00', '#007a5a', '#a8437c', '#8a6d00', '#2f7fb0', '#555555', '#b00020'];
const DARK = ['#56b4e9', '#e69f00', '#2fc79a', '#e79cc4', '#f0e442', '#9ad1f5', '#bbbbbb', '#ff8a80'];

function colours(palette: readonly string[]): string {
  return palette.map((colour, index) => `--c${index}:${colour};`).join('');
}

const CLASSES = LIGHT.map(
  (_, index) => `path.c${index}{stroke:var(--c${index})}i.c${index}{background:var(--c${index})}`,
).join('');

const STYLE = `
:root{color-scheme:light dark;--ink:#1b1f24;--soft:#59636e;--ground:#ffffff;--rule:#d1d9e0;${colours(LIGHT)}}
@media (prefers-color-scheme:dark){:root{--ink:#e6edf3;--soft:#9198a1;--ground:#0d1117;--rule:#3d444d;${colours(DARK)}}}
body{margin:2rem auto;max-width:70rem;padding:0 1rem;background:var(--ground);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
h1{font-size:1.5rem}h2{font-size:1.1rem;margin-top:2rem}
figure{margin:2rem 0}figcaption{font-weight:600}svg{width:100%;height:auto}
svg text{fill:var(--soft);font:12px system-ui,sans-serif}
svg .grid{stroke:var(--rule);stroke-width:1}path{fill:none;stroke-width:2}${CLASSES}
.legend{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;color:var(--soft)}.key i{display:inline-block;width:.8em;height:.8em;margin-right:.4em;border-radius:2px}
.scroll{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.9rem}
th,td{padding:.25rem .6rem;border-bottom:1px solid var(--rule);text-align:right;white-space:nowrap}th:first-child,td:first-child{text-align:left}
`;

/** One line of a plot. */
interface Line {
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
function linePlot(label: string, lines: readonly Line[]): string {
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
