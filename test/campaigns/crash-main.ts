/**
 * `npm run campaign:crash [-- --kills N --minutes M --seed S --clusters C --replicas N --policies N --shard-policies --lease SECONDS]`: kill -9 of the operator, mostly
 * in the middle of moves, on real control planes: the kills wait for moves most of the time, so several clusters side by side take a
 * fraction of the time. Progress goes to stderr, the report to stdout; the exit code is 1 when a promise was broken.
 */
import { parseArgs } from 'node:util';
import { mergedReport, runCrashCampaign } from './crash.ts';
import { LEASE_SECONDS } from './operators.ts';
import { conclude } from './report.ts';

/** Kills after which every kind of fault should have come. */
const LONG_ENOUGH = 300;

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '1000' },
    minutes: { type: 'string' },
    seed: { type: 'string', default: '1' },
    clusters: { type: 'string', default: '4' },
    replicas: { type: 'string', default: '2' },
    policies: { type: 'string', default: '1' },
    'shard-policies': { type: 'boolean', default: false },
    lease: { type: 'string', default: String(LEASE_SECONDS) },
  },
});
const clusters = Number(values.clusters);
const reports = await Promise.all(
  Array.from({ length: clusters }, (_, cluster) =>
    runCrashCampaign({
      kills: Math.ceil(Number(values.kills) / clusters),
      ...(values.minutes === undefined ? {} : { minutes: Number(values.minutes) }),
      seed: Number(values.seed) + cluster,
      replicas: Number(values.replicas),
      policies: Number(values.policies),
      shardPolicies: values['shard-policies'],
      lease: Number(values.lease),
      log: (line) => void process.stderr.write(`cluster ${cluster}: ${line}\n`),
    }),
  ),
);
const report = mergedReport(reports);
conclude(report, report.kills < LONG_ENOUGH ? ['neverInjected'] : []);
