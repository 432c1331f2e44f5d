/**
 * `npm run campaign:ledgers [-- --minutes N --seed S]`: QoSLedgers under fire on a real control plane. Progress goes to stderr,
 * the report to stdout; the exit code is 1 when a promise was broken.
 */
import { parseArgs } from 'node:util';
import { runLedgersCampaign } from './ledgers.ts';
import { conclude } from './report.ts';

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '10' }, seed: { type: 'string', default: '1' } },
});
const report = await runLedgersCampaign({
  minutes: Number(values.minutes),
  seed: Number(values.seed),
  log: (line) => void process.stderr.write(`${line}\n`),
});
conclude(report);
