import { readFileSync } from 'node:fs';
import { isMainThread, parentPort } from 'node:worker_threads';
import type { ClassResult, VariantResult } from '../../src/report/simulation-result.ts';
import { parseRequestLog } from '../../src/simulate/request-log.ts';
import type { Scenario, Variant } from '../../src/simulate/scenario.ts';
import { simulate } from '../../src/simulate/simulate.ts';
import { inThreads } from '../support/in-threads.ts';
import { printTable } from '../support/print-table.ts';
import { generateRequests, OURS, PRIORITY, PUBLISHED, qosScenario } from '../support/qos-validation.ts';

/**
 * The published experiment (QoS, validation 1): the priority baseline, QoSDriven as published, and our defaults; then five
 * generated workloads of the same shape. Run with `npm run reproduce:qos`; ends with status 1 when a target is missed. The
 * request log is test/bench/qos-validation1.csv, or the file that is named. Runs are spread
 * over the cores.
 */
const FILE = process.argv[2] ?? new URL('qos-validation1.csv', import.meta.url).pathname;
const SEEDS = [1, 2, 3, 4, 5];

interface Claim {
  readonly text: string;
  readonly holds: boolean;
}

/** The classes of the experiment by their SLO. */
function classAt({ classes }: VariantResult, slo: number): ClassResult {
  const found = classes.find((each) => each.slo === slo);
  if (found === undefined) {
    throw new Error(`there is no class with SLO ${slo}`);
  }
  return found;
}

/** Within the tolerance, to the three decimals that availabilities are published with. */
function near(value: number, wanted: number, tolerance: number): boolean {
  return Math.abs(Math.round(1000 * value) - Math.round(1000 * wanted)) <= Math.round(1000 * tolerance);
}

/** One simulation: of the log without a seed, else of the workload that the seed generates. */
interface Run {
  readonly file: string;
  readonly seed: number | undefined;
  readonly variant: string;
}

const VARIANTS: readonly Variant[] = [PRIORITY, PUBLISHED, OURS];

function scenarioOf({ file, seed, variant }: Run): Scenario {
  const own = VARIANTS.filter(({ name }) => name === variant);
  return seed === undefined
    ? qosScenario(parseRequestLog(readFileSync(file, 'utf8'), file), own)
    : qosScenario(generateRequests(seed).requests, own, { seed });
}

function reproduce([priority, published, ours]: readonly VariantResult[]): readonly Claim[] {
  if (priority === undefined || published === undefined || ours === undefined) {
    throw new Error('a variant is missing');
  }
  show([priority, published, ours]);
  return [...baselineClaims(priority), ...publishedClaims(published), ...ourClaims(ours)];
}

function baselineClaims(priority: VariantResult): readonly Claim[] {
  const free = classAt(priority, 0.5).availabilities;
  return [
    {
      text: 'priority: A and B >= .999',
      holds: classAt(priority, 1).mean >= 0.999 && classAt(priority, 0.9).mean >= 0.999,
    },
    { text: 'priority: 40 of C above .9', holds: free.filter((value) => value > 0.9).length === 40 },
    { text: 'priority: 56 of C below .1', holds: free.filter((value) => value < 0.1).length === 56 },
    { text: 'priority: Gini of C >= .5', holds: classAt(priority, 0.5).gini >= 0.5 },
  ];
}

function publishedClaims(published: VariantResult): readonly Claim[] {
  const [a, b, c] = [classAt(published, 1), classAt(published, 0.9), classAt(published, 0.5)];
  return [
    { text: 'published: A >= .999', holds: a.mean >= 0.999 },
    { text: 'published: B .905 +- .005', holds: near(b.mean, 0.905, 0.005) },
    { text: 'published: C .472 +- .010', holds: near(c.mean, 0.472, 0.01) },
    { text: 'published: 5,600 preemptions +- 3 %', holds: near(published.moves.preemptions, 5600, 168) },
    { text: 'published: Gini of C <= .02', holds: c.gini <= 0.02 },
  ];
}

function ourClaims(ours: VariantResult): readonly Claim[] {
  const [a, b, c] = [classAt(ours, 1), classAt(ours, 0.9), classAt(ours, 0.5)];
  return [
    { text: 'ours: A >= .999, B >= .90, C >= .49', holds: a.mean >= 0.999 && b.mean >= 0.9 && c.mean >= 0.49 },
    { text: 'ours: every B >= .89', holds: b.least >= 0.89 },
    { text: 'ours: every C >= .45', holds: c.least >= 0.45 },
    { text: 'ours: Gini of C <= .05', holds: c.gini <= 0.05 },
    { text: 'ours: at most 310 preemptions', holds: ours.moves.preemptions <= 310 },
  ];
}

/** On workloads that nobody tuned for: no class fulfils less than under the published policy, with a fifth of the preemptions. */
function generalize(seed: number, [published, ours]: readonly VariantResult[]): readonly Claim[] {
  if (published === undefined || ours === undefined) {
    throw new Error('a variant is missing');
  }
  const name = `generated ${seed} (contention ${generateRequests(seed).contention.toFixed(2)})`;
  console.log(`\n${name}:\n`);
  show([published, ours]);
  const falls = ours.classes.filter(({ fulfilled }, index) => fulfilled < (published.classes[index]?.fulfilled ?? 0));
  return [
    { text: `${name}: no class fulfils less than under the published policy`, holds: falls.length === 0 },
    {
      text: `${name}: at most a fifth of its preemptions`,
      holds: ours.moves.preemptions <= published.moves.preemptions / 5,
    },
  ];
}

function show(variants: readonly VariantResult[]): void {
  printTable(
    ['variant', 'preemptions', 'class', 'SLO', 'mean', 'least', 'fulfilled', 'Gini', 'penalty'],
    variants.flatMap(({ name, moves, classes }) =>
      classes.map((each) => [
        name,
        String(moves.preemptions),
        each.name,
        each.slo.toFixed(2),
        each.mean.toFixed(4),
        each.least.toFixed(4),
        each.fulfilled.toFixed(3),
        each.gini.toFixed(3),
        each.penalty.toFixed(0),
      ]),
    ),
  );
}

async function main(): Promise<void> {
  const began = performance.now();
  const ofLog = VARIANTS.map(({ name }) => ({ file: FILE, seed: undefined, variant: name }));
  const generated = SEEDS.flatMap((seed) => [PUBLISHED, OURS].map(({ name }) => ({ file: FILE, seed, variant: name })));
  const results = await inThreads<Run, VariantResult>(new URL(import.meta.url), [...ofLog, ...generated]);
  const claims = [
    ...reproduce(results.slice(0, ofLog.length)),
    ...SEEDS.flatMap((seed, place) => generalize(seed, results.slice(ofLog.length + 2 * place))),
  ];
  const timing = performance.now() - began;
  console.log('');
  for (const { text, holds } of claims) {
    console.log(`${holds ? 'yes' : 'NO '}  ${text}`);
  }
  console.log(`\n${(timing / 1000).toFixed(1)} s`);
  process.exitCode = claims.every(({ holds }) => holds) ? 0 : 1;
}

if (isMainThread) {
  await main();
} else {
  parentPort?.on('message', async (run: Run) => parentPort?.postMessage((await simulate(scenarioOf(run))).variants[0]));
}
