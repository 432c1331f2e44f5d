import { beforeAll, describe, expect, it } from 'vitest';
import { type ApplicationsReport, runApplicationsCampaign } from '../campaigns/applications.ts';
import { brokenPromises } from '../campaigns/report.ts';

let report: ApplicationsReport;

beforeAll(async () => {
  const log = (line: string): void => void process.stderr.write(`${line}\n`);
  report = await runApplicationsCampaign({ nodes: 6, applications: 3, members: 4, kills: 5, seed: 1, log });
}, 1_200_000);

/** The short form of `npm run campaign:applications`. */
describe('three applications whose traffic Prometheus knows, while the operator is killed five times', () => {
  it('are brought together, with few moves', () => {
    expect(report.crossZone.before).toBeGreaterThan(50);
    expect(report.crossZone.after).toBeLessThanOrEqual(0.2 * report.crossZone.before);
    expect(report.evictions).toBeGreaterThan(5);
    expect(report.movesPerPodOutside).toBeLessThanOrEqual(1.2);
  });

  it('meet kills amid moves', () => {
    expect(report.killsWithOpenMoves).toBeGreaterThan(1);
  });

  it('keep their disruption budgets at every instant, and every promise of plans', () => {
    expect(brokenPromises(report)).toEqual([]);
  });
});
