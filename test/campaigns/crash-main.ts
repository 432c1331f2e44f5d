/**
 * `npm run campaign:crash [-- --kills N --seed S]`: kill -9 of the operator, mostly in the middle of moves, on a real control plane.
 * Progress goes to stderr, the report to stdout; the exit code is 1 when a promise was broken.
 */
import { parseArgs } from 'node:util';
import { runCrashCampaign } from './crash.ts';
import { conclude } from './report.ts';

/** Kills after which every kind of fault should have come. */
const LONG_ENOUGH = 300;

const { values } = parseArgs({
  options: { kills: { type: 'string', default: '1000' }, seed: { type: 'string', default: '1' } },
});
const report = await runCrashCampaign({
  kills: Number(values.kills),
  seed: Number(values.seed),
  log: (line) => void process.stderr.write(`${line}\n`),
});
conclude(report, report.kills < LONG_ENOUGH ? ['neverInjected'] : []);
