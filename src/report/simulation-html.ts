import { type Line, linePlot } from './line-plot.ts';
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
  const uses = (resource: 'cpu' | 'memory'): boolean =>
    all.some((series) => series[resource].some((value) => value > 0));
  const lines = (of: (variant: VariantResult) => Line['values']): readonly Line[] =>
    variants.map((variant) => ({ name: variant.name, times: variant.series.times, values: of(variant) }));
  return [
    ...classes.map((name) =>
      figure(
        `Availability of class ${name} since admission, %`,
        lines((variant) => availability(variant, name)),
      ),
    ),
    ...(all.some(({ evictions }) => (evictions.at(-1) ?? 0) > 0)
      ? [
          figure(
            'Evictions and preemptions so far',
            lines(({ series }) => series.evictions),
          ),
        ]
      : []),
    ...(uses('cpu')
      ? [
          figure(
            'Imbalance of CPU: mean absolute error, % of node capacity',
            lines(({ series }) => percent(series.cpu)),
          ),
        ]
      : []),
    ...(uses('memory')
      ? [
          figure(
            'Imbalance of memory: mean absolute error, % of node capacity',
            lines(({ series }) => percent(series.memory)),
          ),
        ]
      : []),
  ];
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

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
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
