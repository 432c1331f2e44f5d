/**
 * `npm run campaign:soak [-- --minutes N --seed S]`: the operator on 200 nodes and 4,000 pods that never come to rest.
 * Progress goes to stderr, the report to stdout; the exit code is 1 when a promise was broken.
 */
import { parseArgs } from 'node:util';
import { conclude } from './report.ts';
import { runSoakCampaign } from './soak.ts';

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '60' }, seed: { type: 'string', default: '1' } },
});
const report = await runSoakCampaign({
  minutes: Number(values.minutes),
  seed: Number(values.seed),
  log: (line) => void process.stderr.write(`${line}\n`),
});
conclude(report);
