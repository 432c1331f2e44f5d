/**
 * `npm run parity [-- --verdicts N --seed S]`: asks kube-scheduler and our filters about random pods in random clusters.
 * Progress goes to stderr, the result to stdout; exit code 1 when they disagree.
 */
import { parseArgs } from 'node:util';
import { runCampaign } from './campaign.ts';
import { reportOf } from './report.ts';
import { failuresOf, tallyOf } from './tally.ts';
import { openWorld } from './world.ts';

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

async function main(): Promise<boolean> {
  const { values } = parseArgs({
    options: {
      verdicts: { type: 'string', default: '3000' },
      seed: { type: 'string', default: '1' },
    },
  });
  const verdicts = wholeNumber('verdicts', values.verdicts);
  const seed = wholeNumber('seed', values.seed);
  const world = await openWorld(log);
  try {
    const tally = tallyOf(await runCampaign(world, { verdicts, seed, log }));
    process.stdout.write(`${reportOf(tally)}\n`);
    return failuresOf(tally).length === 0;
  } finally {
    await world.close();
  }
}

process.exitCode = (await main()) ? 0 : 1;
