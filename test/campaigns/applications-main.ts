/**
 * `npm run campaign:applications [-- --nodes N --applications N --members N --kills N --seed S]`: applications whose traffic a real
 * Prometheus knows are brought together on a real control plane, while the operator is killed. Progress goes to stderr, the report to
 * stdout; the exit code is 1 when a promise was broken.
 */
import { parseArgs } from 'node:util';
import { runApplicationsCampaign } from './applications.ts';
import { conclude } from './report.ts';

/** Share of the traffic between zones that may be left. */
const MOST_LEFT = 0.2;
/** Evictions for each pod outside the zone of most. */
const MOST_MOVES = 1.2;

const { values } = parseArgs({
  options: {
    nodes: { type: 'string', default: '30' },
    applications: { type: 'string', default: '20' },
    members: { type: 'string', default: '10' },
    kills: { type: 'string', default: '50' },
    seed: { type: 'string', default: '1' },
  },
});
const report = await runApplicationsCampaign({
  nodes: Number(values.nodes),
  applications: Number(values.applications),
  members: Number(values.members),
  kills: Number(values.kills),
  seed: Number(values.seed),
  log: (line) => void process.stderr.write(`${line}\n`),
});
const { before, after } = report.crossZone;
const missed = [
  ...(after > MOST_LEFT * before
    ? [`traffic between zones fell to ${(after / before).toFixed(2)} of what it was`]
    : []),
  ...(report.movesPerPodOutside > MOST_MOVES
    ? [`${report.movesPerPodOutside.toFixed(2)} evictions for each pod outside`]
    : []),
];
conclude({ ...report, missed });
