/**
 * `npm run campaign:faults [-- --minutes N --rate R --seed S]`: the operator behind a proxy that spoils its requests, on a
 * real control plane. Progress goes to stderr, the report to stdout; the exit code is 1 when a promise was broken.
 */
import { parseArgs } from 'node:util';
import { runFaultCampaign } from './faults.ts';
import { brokenPromises } from './report.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    rate: { type: 'string', default: '0.3' },
    seed: { type: 'string', default: '1' },
  },
});
const report = await runFaultCampaign({
  minutes: Number(values.minutes),
  rate: Number(values.rate),
  seed: Number(values.seed),
  log: (line) => void process.stderr.write(`${line}\n`),
});
process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
process.exitCode = brokenPromises(report).length === 0 && report.roundsToConverge <= 2 ? 0 : 1;
