import { beforeAll, describe, expect, it } from 'vitest';
import { type CrashReport, runCrashCampaign } from '../campaigns/crash.ts';
import { MAX_CONCURRENT } from '../campaigns/stage.ts';

const KILLS = 30;

let report: CrashReport;

beforeAll(async () => {
  report = await runCrashCampaign({ kills: KILLS, seed: 1, log: (line) => void process.stderr.write(`${line}\n`) });
}, 1_500_000);

describe(`${KILLS} kill -9 of the operator, beside a second replica, while some requests fail`, () => {
  it('hit leaders in the middle of moves, at least half of them', () => {
    expect(report.shortfalls).toEqual([]);
    const { Evicting = 0, AwaitingReplacement = 0, Verifying = 0 } = report.killsByPhase;
    expect(Evicting + AwaitingReplacement + Verifying).toBeGreaterThan(KILLS / 4);
    expect(report.evictions).toBeGreaterThanOrEqual(MAX_CONCURRENT);
  });

  it('evict no pod twice, and none that no plan owns up to', () => {
    expect(report.evictedTwice).toEqual([]);
    expect(report.unexplained).toEqual([]);
    expect(report.disowned).toEqual([]);
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
