/**
 * `npm run campaign:strangers [-- --seconds N --connections N --clients N]`: hostile connections and made-up tokens against a
 * real operator that is probed and scraped meanwhile. Progress goes to stderr, the report to stdout; the exit code is 1 when a
 * probe or a scrape failed, or the operator passed the load on to the API server.
 */
import { parseArgs } from 'node:util';
import { runStrangerCampaign } from './strangers.ts';

/** Requests for TokenReviews and SubjectAccessReviews of strangers (5 a second) and of known readers. */
const MOST_REVIEWS = 12;

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '300' },
    connections: { type: 'string', default: '1000' },
    clients: { type: 'string', default: '16' },
  },
});
const report = await runStrangerCampaign({
  seconds: Number(values.seconds),
  connections: Number(values.connections),
  anonymous: Number(values.clients),
  log: (line) => void process.stderr.write(`${line}\n`),
});
process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
const { probes, scrapes, reviewsPerSecond } = report;
const failed = [probes, scrapes].reduce((sum, { cutOff, late, refused }) => sum + cutOff + late + refused, 0);
process.exitCode = failed === 0 && reviewsPerSecond <= MOST_REVIEWS ? 0 : 1;
