/**
 * `npm run parity [-- --verdicts N --seed S]`: asks kube-scheduler and our filters about random pods in random clusters.
 * `npm run parity -- --plans N [--seed S]`: has kube-scheduler replay random plans, move by move.
 * `npm run parity -- --steered N [--seed S]`: steers random pods, and asks kube-scheduler where they go.
 * With `--kubernetes VERSION` it is the scheduler of that version.
 * Progress goes to stderr, the result to stdout; the exit code is 1 when the two do not agree.
 */
import { parseArgs } from 'node:util';
import { DEFAULT_VERSION, kubernetesVersion } from '../control-plane/kubernetes-versions.ts';
import { runCampaign } from './campaign.ts';
import { replayPlans } from './replay.ts';
import { replayReport, reportOf, steeredReport } from './report.ts';
import { steerPods } from './steered.ts';
import { failuresOf, tallyOf } from './tally.ts';
import { openWorld, type World } from './world.ts';

function log(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** A whole number given on the command line. Throws a RangeError for anything else. */
function wholeNumber(name: string, text: string): number {
  if (!/^\d{1,9}$/.test(text)) {
    throw new RangeError(`--${name} ${text}: write a whole number`);
  }
  return Number(text);
}

async function verdicts(world: World, count: number, seed: number): Promise<boolean> {
  const tally = tallyOf(await runCampaign(world, { verdicts: count, seed, log }));
  process.stdout.write(`${reportOf(tally)}\n`);
  return failuresOf(tally).length === 0;
}

async function plans(world: World, count: number, seed: number): Promise<boolean> {
  const replays = await replayPlans(world, { plans: count, seed, log });
  process.stdout.write(`${replayReport(replays)}\n`);
  return replays.every(({ failure }) => failure === undefined);
}

async function steered(world: World, count: number, seed: number): Promise<boolean> {
  const pods = await steerPods(world, { verdicts: count, seed, log });
  process.stdout.write(`${steeredReport(pods)}\n`);
  return pods.every(({ failure }) => failure === undefined);
}

async function main(): Promise<boolean> {
  const { values } = parseArgs({
    options: {
      kubernetes: { type: 'string', default: DEFAULT_VERSION },
      verdicts: { type: 'string', default: '3000' },
      plans: { type: 'string' },
      steered: { type: 'string' },
      seed: { type: 'string', default: '1' },
    },
  });
  const seed = wholeNumber('seed', values.seed);
  const world = await openWorld({ kubernetes: kubernetesVersion(values.kubernetes), log });
  try {
    if (values.steered !== undefined) {
      return await steered(world, wholeNumber('steered', values.steered), seed);
    }
    return values.plans === undefined
      ? await verdicts(world, wholeNumber('verdicts', values.verdicts), seed)
      : await plans(world, wholeNumber('plans', values.plans), seed);
  } finally {
    await world.close();
  }
}

process.exitCode = (await main()) ? 0 : 1;
