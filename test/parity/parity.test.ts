import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCampaign } from './campaign.ts';
import { replayPlans } from './replay.ts';
import { describeJudged } from './report.ts';
import { steerPods } from './steered.ts';
import { rareFilters, type Tally, tallyOf } from './tally.ts';
import { openWorld, type World } from './world.ts';

const SEED = 1;

function log(line: string): void {
  process.stderr.write(`${line}\n`);
}

let world: World;

beforeAll(async () => {
  world = await openWorld({ log });
});

afterAll(async () => {
  await world?.close();
});

describe('our filters and kube-scheduler, asked about 300 random pods', () => {
  let tally: Tally;

  it('have a verdict on each', async () => {
    tally = tallyOf(await runCampaign(world, { verdicts: 300, seed: SEED, log }));
    expect(tally.verdicts).toBe(300);
    expect(tally.unsupported).toBe(0);
  });

  it('agree', () => {
    expect(tally.disagreements.map(describeJudged)).toEqual([]);
  });

  it('refuse for the same reason', () => {
    expect(tally.otherReasons.map(describeJudged)).toEqual([]);
  });

  it('accept a fair share, and every filter refuses some', () => {
    expect(tally.accepted / tally.verdicts).toBeGreaterThan(0.25);
    expect(tally.accepted / tally.verdicts).toBeLessThan(0.75);
    expect(rareFilters(tally)).toEqual([]);
  });
});

describe('kube-scheduler, given 60 random pods that were steered', () => {
  it('puts each on its planned node, and none where its own constraints would not allow it', async () => {
    const pods = await steerPods(world, { verdicts: 60, seed: SEED, log });
    expect(pods.filter(({ failure }) => failure !== undefined)).toEqual([]);
    const kept = pods.filter(({ narrowed }) => narrowed);
    expect(kept.length).toBeGreaterThan(40);
    expect(kept.filter(({ verdict, target }) => verdict.kind !== 'Accepted' || verdict.node !== target)).toEqual([]);
  });
});

describe('kube-scheduler, given the moves of random plans one by one', () => {
  it('binds every replacement', async () => {
    const replays = await replayPlans(world, { plans: 3, seed: SEED, log });
    expect(replays.filter(({ failure }) => failure !== undefined)).toEqual([]);
    expect(replays.reduce((sum, { bound }) => sum + bound, 0)).toBeGreaterThan(3);
  });
});
