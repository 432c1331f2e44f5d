import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { VariantResult } from '../../src/report/simulation-result.ts';
import { parseRequestLog } from '../../src/simulate/request-log.ts';
import { simulate } from '../../src/simulate/simulate.ts';
import { OURS, PRIORITY, PUBLISHED, qosScenario } from '../../test/support/qos-validation.ts';
import { at, COLOURS, line, picture, text } from './svg.ts';

const LOG = join(import.meta.dirname, '..', '..', 'test', 'bench', 'qos-validation1.csv');
const TITLES = ['Priorities, stock preemption', 'QoSDriven as published', 'QoSDriven'];
const PANEL = { width: 270, height: 170, gap: 24, left: 40, top: 60 } as const;

/** Mean availability since admission of each class over an hour, in the experiment of `npm run reproduce:qos`, three ways. */
export async function availabilityOverTime(): Promise<string> {
  const requests = parseRequestLog(readFileSync(LOG, 'utf8'), LOG);
  const { variants, duration } = await simulate(qosScenario(requests, [PRIORITY, PUBLISHED, OURS]));
  const [first] = variants;
  const classes = first?.classes ?? [];
  const key = classes.flatMap(({ slo }, index) => {
    const x = PANEL.left + 190 * index;
    return [
      line(`M${at(x)} 20H${at(x + 22)}`, { colour: colourOf(index), width: 2.5 }),
      text(x + 28, 24.5, `class with SLO ${slo}`),
    ];
  });
  const said = variants.map(
    (variant, index) =>
      `${TITLES[index]}: ${variant.classes.map(({ slo, mean }) => `SLO ${slo} got ${mean.toFixed(4)}`).join(', ')}`,
  );
  const width = PANEL.left + variants.length * (PANEL.width + PANEL.gap);
  return picture(width, PANEL.top + PANEL.height + 40, `Mean availability by class. ${said.join('. ')}`, [
    ...key,
    ...variants.flatMap((variant, index) => panel(variant, index, duration)),
  ]);
}

function panel({ series, classes }: VariantResult, place: number, duration: number): readonly string[] {
  const left = PANEL.left + place * (PANEL.width + PANEL.gap);
  const x = (time: number): number => left + (PANEL.width * time) / duration;
  const y = (value: number): number => PANEL.top + PANEL.height * (1 - value);
  const grid = [0, 0.25, 0.5, 0.75, 1].flatMap((value) => [
    line(`M${left} ${at(y(value))}H${left + PANEL.width}`, { width: 0.4 }),
    ...(place === 0 ? [text(left - 6, y(value) + 4, String(value), { anchor: 'end', size: 11 })] : []),
  ]);
  const times = [0, 0.5, 1].map((share) =>
    text(x(share * duration), PANEL.top + PANEL.height + 18, `${(share * duration) / 60} min`, {
      anchor: (['start', 'middle', 'end'] as const)[2 * share] ?? 'middle',
      size: 11,
    }),
  );
  const lines = classes.flatMap(({ name, slo }, index) => {
    const values = series.availability.find((each) => each.name === name)?.values ?? [];
    const target = line(`M${left} ${at(y(slo))}H${left + PANEL.width}`, { colour: colourOf(index), dashed: true });
    return [target, line(pathOf(series.times, values, x, y), { colour: colourOf(index), width: 2 })];
  });
  return [text(left, PANEL.top - 10, TITLES[place] ?? '', { bold: true }), ...grid, ...times, ...lines];
}

function pathOf(
  times: readonly number[],
  values: readonly (number | null)[],
  x: (time: number) => number,
  y: (value: number) => number,
): string {
  let isDrawing = false;
  const parts = values.map((value, index) => {
    const command = isDrawing ? 'L' : 'M';
    isDrawing = value !== null;
    return value === null ? '' : `${command}${at(x(times[index] ?? 0))} ${at(y(value))}`;
  });
  return parts.join('');
}

function colourOf(index: number): string {
  return COLOURS[index % COLOURS.length] ?? COLOURS[0];
}
