import { beforeAll, describe, expect, it } from 'vitest';
import { type CrashReport, runCrashCampaign } from '../campaigns/crash.ts';

const KILLS = 50;

let report: CrashReport;

beforeAll(async () => {
  report = await runCrashCampaign({ kills: KILLS, seed: 1, log: (line) => void process.stderr.write(`${line}\n`) });
}, 900_000);

describe(`${KILLS} kill -9 of the operator at random instants, beside a second replica`, () => {
  it('hit leaders in the middle of plans', () => {
    expect(report.killsOfLeaders).toBeGreaterThan(10);
    expect(report.plans).toBeGreaterThan(2);
    expect(report.evictions).toBeGreaterThan(4);
  });

  it('evict no pod twice, and none that no plan names', () => {
    expect(report.evictedTwice).toEqual([]);
    expect(report.unexplained).toEqual([]);
  });

  it('never have more moves under way than the budget allows', () => {
    expect(report.overBudget).toEqual([]);
  });

  it('let every plan end, with its pods where it says, and no hint left', () => {
    expect(report.unfinished).toEqual([]);
    expect(report.strays).toEqual([]);
    expect(report.hintsLeft).toEqual([]);
  });

  it('are the only way in which a replica ends', () => {
    expect(report.crashes).toEqual([]);
  });
});
