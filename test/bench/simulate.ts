import { readFileSync } from 'node:fs';
import { parseRequestLog } from '../../src/simulate/request-log.ts';
import { simulate } from '../../src/simulate/simulate.ts';
import { printTable } from '../support/print-table.ts';
import { OURS, PRIORITY, PUBLISHED, qosScenario } from '../support/qos-validation.ts';

/**
 * How fast the simulator is: the published experiment, 256 requests on 20 nodes for an hour of virtual time, by each policy.
 * Run with `npm run bench:simulate`. Nothing is asserted: the table is for people.
 */
const RUNS = 7;
/** Milliseconds, for our policy. */
const TARGET = 1000;

const file = new URL('qos-validation1.csv', import.meta.url).pathname;
const requests = parseRequestLog(readFileSync(file, 'utf8'), file);
const rows: string[][] = [];
for (const variant of [PRIORITY, PUBLISHED, OURS]) {
  const scenario = qosScenario(requests, [variant]);
  const runs: { readonly milliseconds: number; readonly events: number }[] = [];
  while (runs.length < RUNS) {
    const began = performance.now();
    const { variants } = await simulate(scenario);
    runs.push({ milliseconds: performance.now() - began, events: variants[0]?.events ?? 0 });
  }
  const [{ milliseconds, events } = { milliseconds: Number.NaN, events: 0 }] = runs
    .sort((left, right) => left.milliseconds - right.milliseconds)
    .slice(RUNS >> 1);
  const isOurs = variant === OURS;
  rows.push([
    variant.name,
    String(events),
    milliseconds.toFixed(0),
    ((1000 * events) / milliseconds).toFixed(0),
    isOurs ? String(TARGET) : '',
    isOurs ? (milliseconds <= TARGET ? 'met' : 'MISSED') : '',
  ]);
}
printTable(['variant', 'events', 'ms (median)', 'events per s', 'target ms', ''], rows);
