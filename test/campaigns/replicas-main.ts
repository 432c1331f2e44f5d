/**
 * `npm run campaign:replicas [-- --policies N --seed S --seconds N --only steps|requests]`: replicas that share policies come and go under load,
 * and how many requests they send at rest, beside one leader. Progress goes to stderr, tables to stdout; the exit code is 1 when a
 * promise was broken.
 */
import { parseArgs } from 'node:util';
import { printTable } from '../support/print-table.ts';
import { type RestReport, runRest, runSteps, type Step } from './replicas.ts';
import { brokenPromises } from './report.ts';

/** Requests of shared policies at rest, for each of one leader. */
const MOST_REQUESTS = 1.5;

const { values } = parseArgs({
  options: {
    policies: { type: 'string', default: '9' },
    seed: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '180' },
    only: { type: 'string' },
  },
});
const log = (line: string): void => void process.stderr.write(`${line}\n`);
const missed: string[] = [];
if (values.only === undefined || values.only === 'steps') {
  await playSteps(Number(values.policies));
}
if (values.only === undefined || values.only === 'requests') {
  await playRest();
}
missed.forEach((line) => void console.log(line));
process.exitCode = missed.length === 0 ? 0 : 1;

async function playSteps(policies: number): Promise<void> {
  const { steps, evidence, ...rest } = await runSteps({ policies, seed: Number(values.seed), log });
  printTable(
    ['replicas', 'changed hands', 'share', 'expected', 'twice', 'idle', 'longest without a leader'],
    steps.map((step) => [
      `${step.from} -> ${step.to}`,
      `${step.moved.length} of ${policies}`,
      percent(step.moved.length / policies),
      percent(step.expected),
      String(step.twice.length),
      String(step.idle.length),
      `${step.longestVacancy.toFixed(2)} s`,
    ]),
  );
  console.log(`${evidence.plans} plans, ${evidence.evictions} evictions`);
  for (const step of steps) {
    missed.push(...missedIn(step));
    if (step.leasesLost > 0) {
      console.log(
        `${name(step)}: ${step.leasesLost} replicas lost their Lease: more has changed than the number of replicas`,
      );
    }
    if (step.idle.length > 0) {
      const { to } = step;
      const chance = percent(to * (1 - 1 / to) ** policies);
      console.log(
        `${name(step)}: replica ${step.idle.join(', ')} leads no policy; of ${policies} that is so with a chance of ${chance}`,
      );
    }
  }
  missed.push(
    ...[evidence, rest].flatMap((report) =>
      brokenPromises(report).map((list) => `${list}: ${JSON.stringify(Reflect.get(report, list))}`),
    ),
  );
}

function missedIn(step: Step): readonly string[] {
  return [
    ...step.twice.map((policy) => `${name(step)}: ${policy} changed hands twice`),
    ...step.needless.map(
      (policy) => `${name(step)}: ${policy} went from one replica to another, both of which were there before`,
    ),
    ...step.vacantTooLong.map((gap) => `${name(step)}: without a leader for too long: ${gap}`),
  ];
}

function name({ from, to }: Step): string {
  return `${from} -> ${to}`;
}

async function playRest(): Promise<void> {
  const reports = await runRest({ seconds: Number(values.seconds), log });
  const kinds = [...new Set(reports.flatMap(({ requests }) => Object.keys(requests)))];
  const perMinute = (report: RestReport, count: number): string => ((count * 60) / report.seconds).toFixed(1);
  printTable(
    ['requests for a minute', 'one leader', 'shared policies'],
    [
      ...kinds.map((kind) => [kind, ...reports.map((report) => perMinute(report, report.requests[kind] ?? 0))]),
      ['all', ...reports.map((report) => report.perMinute.toFixed(1))],
      ['writes, by the audit log', ...reports.map(({ writesPerMinute }) => writesPerMinute.toFixed(1))],
    ],
  );
  const [single, shared] = reports;
  const ratio = (shared?.perMinute ?? Number.NaN) / (single?.perMinute ?? Number.NaN);
  console.log(`shared policies send ${ratio.toFixed(2)} times the requests of one leader`);
  if (!(ratio <= MOST_REQUESTS)) {
    missed.push(`at rest, ${ratio.toFixed(2)} times the requests, target at most ${MOST_REQUESTS}`);
  }
  missed.push(
    ...reports.flatMap(({ shared: isShared, evictions }) =>
      evictions > 0
        ? [`${evictions} evictions while ${isShared ? 'shared policies' : 'one leader'} ought to be at rest`]
        : [],
    ),
  );
}

function percent(share: number): string {
  return `${Math.round(100 * share)} %`;
}
