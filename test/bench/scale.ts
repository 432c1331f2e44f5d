import { parseArgs } from 'node:util';
import { printTable } from '../support/print-table.ts';
import { type Measured, measure } from './scale/measure.ts';
import { WAYS } from './scale/ways.ts';

/**
 * How many replacements land where they were planned to, on the real control plane with a scheduler that is configured by
 * default, while other pods come and go. Run with `npm run bench:scale [-- --nodes 200,1000 --ways AdmissionPolicy,Gate,Preference]`.
 * Nothing is asserted: the table is for people.
 */
const { values } = parseArgs({
  options: {
    nodes: { type: 'string', default: '200,1000' },
    ways: { type: 'string', default: Object.keys(WAYS).join(',') },
    minutes: { type: 'string', default: '20' },
  },
});

const log = (line: string): void => void process.stderr.write(`${line}\n`);

function percent(part: number, whole: number): string {
  return whole === 0 ? '-' : `${((100 * part) / whole).toFixed(1)} %`;
}

/** Evictions in words and as a share of the moves that perfect steering takes. */
function perMove(evictions: number | undefined, moves: number | undefined): string {
  if (evictions === undefined || moves === undefined) {
    return `${evictions ?? 'none'} of ${moves ?? 'none'}`;
  }
  return `${evictions} of ${moves} = ${(evictions / moves).toFixed(2)}`;
}

function row(nodes: string, way: string, found: Measured): readonly string[] {
  const {
    evictions,
    evictionsToAQuarter,
    perfect,
    landed,
    missed,
    deviation,
    untilRest,
    requests,
    bytes,
    cpu,
    rss,
    seconds,
  } = found;
  const moves = Math.max(1, landed + missed);
  return [
    `${nodes} ${way}`,
    `${landed} of ${landed + missed}`,
    percent(landed, landed + missed),
    Object.entries(found.reasons)
      .map(([reason, count]) => `${reason} ${count}`)
      .join(', ') || '-',
    `${deviation.before.toFixed(4)} -> ${deviation.after.toFixed(4)}`,
    percent(deviation.after - deviation.before, deviation.before),
    perMove(evictionsToAQuarter, perfect.toAQuarter),
    perMove(evictions, perfect.toRest),
    untilRest === undefined ? 'none' : `${untilRest.toFixed(0)} s`,
    (requests / moves).toFixed(1),
    `${(bytes / moves / 1024).toFixed(0)} KiB`,
    `${((100 * cpu) / seconds).toFixed(0)} %`,
    `${rss.toFixed(0)} MiB`,
  ];
}

const HEADER = [
  'nodes, way',
  'landed',
  'hits',
  'misses',
  'deviation of load',
  'change',
  'evictions to -75 %, of moves with perfect steering',
  'in all',
  'at rest after',
  'requests per move',
  'bytes per move',
  'CPU',
  'RSS',
];

const rows: (readonly string[])[] = [];
for (const nodes of values.nodes.split(',')) {
  for (const name of values.ways.split(',')) {
    const way = WAYS[name];
    if (way === undefined) {
      throw new Error(`there is no way ${name}: write ${Object.keys(WAYS).join(', ')}`);
    }
    log(`--- ${nodes} nodes, ${name}`);
    rows.push(row(nodes, name, await measure(Number(nodes), way, Number(values.minutes), log)));
    printTable(HEADER, rows);
  }
}
