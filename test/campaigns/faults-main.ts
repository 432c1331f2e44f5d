/**
 * `npm run campaign:faults [-- --minutes N --rate R --seed S --elected]`: the operator behind a proxy that spoils its requests, on a
 * real control plane. Progress goes to stderr, the report to stdout; the exit code is 1 when a promise was broken.
 */
import { parseArgs } from 'node:util';
import { MAX_GROWTH, runFaultCampaign } from './faults.ts';
import { brokenPromises } from './report.ts';

/** Minutes after which every kind of fault should have come; metrics are asked for a few times a minute only. */
const LONG_ENOUGH = 10;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    rate: { type: 'string', default: '0.3' },
    seed: { type: 'string', default: '1' },
    elected: { type: 'boolean', default: false },
  },
});
const report = await runFaultCampaign({
  minutes: Number(values.minutes),
  rate: Number(values.rate),
  seed: Number(values.seed),
  elected: values.elected,
  log: (line) => void process.stderr.write(`${line}\n`),
});
process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
const { lateEvictions, memory, minutes, roundsToConverge } = report;
const broken = brokenPromises(report).filter((name) => name !== 'neverInjected' || minutes >= LONG_ENOUGH);
const hadLateEffects = lateEvictions > 0 || minutes < LONG_ENOUGH;
const isFlat = memory.last <= MAX_GROWTH * memory.second;
process.exitCode = broken.length === 0 && hadLateEffects && roundsToConverge <= 2 && isFlat ? 0 : 1;
