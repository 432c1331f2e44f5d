import { describe, expect, it } from 'vitest';
import type { StrategyName } from '../../src/api/v1alpha1/rebalance-policy.ts';
import { DEMO_TRIGGER, type RebalancingResult, rebalance } from '../demo/rebalance.ts';

const CASES: readonly (readonly [StrategyName, string])[] = [
  ['RefineLB', 'demo'],
  ['GreedyLB', 'demo'],
  ['RefineLB', 'demo-no-system-pods'],
];

describe.each(CASES)('%s on %s', (strategy, scenario) => {
  let result: RebalancingResult;

  it('comes to rest', { timeout: 600_000 }, async () => {
    result = await rebalance({ scenario, strategy, log: (line) => void process.stderr.write(`${line}\n`) });
    expect(result.planned).toBeGreaterThan(0);
  });

  // Where the scheduler happened to spread pods well: loads that are no further apart deviate by at most half of that.
  it('lowers the standard deviation of CPU load by at least 75 %, or to what the trigger leaves alone', () => {
    expect(result.stddevAfter).toBeLessThanOrEqual(Math.max(0.25 * result.stddevBefore, DEMO_TRIGGER / 2));
    expect(result.stddevAfter).toBeLessThan(result.stddevBefore);
  });

  it('evicts no more than it planned, no pod twice, and only with a UID precondition', () => {
    const uids = result.evictions.map(({ uidPrecondition }) => uidPrecondition);
    expect(uids).not.toContain(undefined);
    expect(new Set(uids).size).toBe(uids.length);
    expect(uids.length).toBeLessThanOrEqual(result.planned);
  });

  it('lands at least 95 % of the replacements on their planned node', () => {
    expect(result.landed).toBeGreaterThanOrEqual(0.95 * result.planned);
  });

  it('moves nothing in the three rounds that follow', () => {
    expect(result.laterRuns).toEqual([0, 0, 0]);
  });
});
