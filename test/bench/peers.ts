import { parseArgs } from 'node:util';
import { printTable } from '../support/print-table.ts';
import { CASES } from './peers/cases.ts';
import { CONTENDERS } from './peers/contender.ts';
import { type Measured, measure } from './peers/measure.ts';

/**
 * Evenkeel and the descheduler on the same clusters of the real control plane, with the same pods on the same nodes, one after the
 * other. Run with
 * `npm run bench:peers [-- --cases skewed-8,zone --contenders Evenkeel]`. The descheduler is compiled on the first run. Exits
 * with 1 when Evenkeel is not at least as good in every column but the deviation, or that has not fallen by 75 %.
 */
const { values } = parseArgs({
  options: {
    cases: { type: 'string', default: Object.keys(CASES).join(',') },
    contenders: { type: 'string', default: Object.keys(CONTENDERS).join(',') },
  },
});

const log = (line: string): void => void process.stderr.write(`${line}\n`);

/** By how much the deviation of a cluster with uneven load must fall. */
const WANTED_FALL = 0.75;
const WANTED_ROUNDS = 3;

function named<Value>(all: Readonly<Record<string, Value>>, name: string): Value {
  const found = all[name];
  if (found === undefined) {
    throw new RangeError(`there is no ${name}: write ${Object.keys(all).join(', ')}`);
  }
  return found;
}

function row(name: string, contender: string, found: Measured): readonly string[] {
  const { deviation, left, rest } = found;
  const change = (100 * (deviation.after - deviation.before)) / deviation.before;
  return [
    name,
    contender,
    String(found.evictions),
    String(found.forNothing),
    `${deviation.before.toFixed(4)} -> ${deviation.after.toFixed(4)} (${change.toFixed(0)} %)`,
    left === undefined ? '-' : `${left.before} -> ${left.after}`,
    rest === undefined ? 'never' : `${rest.rounds} rounds, ${rest.seconds.toFixed(0)} s`,
    String(found.waiting),
    `${found.lost.toFixed(0)} s`,
  ];
}

const HEADER = [
  'case',
  'by',
  'evictions',
  'for nothing',
  'deviation of load',
  'out of place, or nodes used',
  'last eviction decided in, sent after',
  'waiting at worst',
  'service lost',
];

/** In what Evenkeel does not do as well as was wanted. */
function misses(name: string, ours: Measured, theirs: Measured | undefined): readonly string[] {
  const { deviation, left, rest } = ours;
  const fallsShort = left === undefined && deviation.after > (1 - WANTED_FALL) * deviation.before;
  const wrong = [
    ...(ours.forNothing > 0 ? [`${ours.forNothing} evictions for nothing`] : []),
    ...(rest === undefined || rest.rounds > WANTED_ROUNDS
      ? [`last eviction after ${rest?.rounds ?? 'more'} rounds`]
      : []),
    ...(fallsShort ? ['the deviation has not fallen by 75 %'] : []),
    ...(theirs === undefined ? [] : worse(ours, theirs)),
  ];
  return wrong.map((each) => `${name}: ${each}`);
}

function worse(ours: Measured, theirs: Measured): readonly string[] {
  const left = (found: Measured): number => found.left?.after ?? 0;
  return [
    ...(left(ours) > left(theirs) ? ['leaves more out of place'] : []),
    ...(ours.evictions > theirs.evictions && left(ours) >= left(theirs) ? ['evicts more'] : []),
    ...(ours.waiting > theirs.waiting ? ['more pods wait at worst'] : []),
  ];
}

const rows: (readonly string[])[] = [];
const missed: string[] = [];
for (const name of values.cases.split(',')) {
  const results = new Map<string, Measured>();
  for (const contender of values.contenders.split(',')) {
    log(`--- ${name}, ${contender}`);
    // Who comes first has its pods where the scheduler puts them, and all others where they were then.
    const [first] = results.values();
    const found = await measure(named(CASES, name), named(CONTENDERS, contender), first?.placement, log);
    results.set(contender, found);
    rows.push(row(name, contender, found));
    printTable(HEADER, rows);
  }
  const ours = results.get('Evenkeel');
  missed.push(...(ours === undefined ? [] : misses(name, ours, results.get('Descheduler'))));
}
process.stdout.write(missed.length === 0 ? 'all targets met\n' : `missed:\n  ${missed.join('\n  ')}\n`);
process.exitCode = missed.length === 0 ? 0 : 1;
