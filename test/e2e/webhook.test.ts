import { describe, expect, it } from 'vitest';
import { type RebalancingResult, rebalance } from '../demo/rebalance.ts';

const log = (line: string): void => void process.stderr.write(`${line}\n`);

describe('a cluster that has only the webhook', () => {
  let result: RebalancingResult;

  it('comes to rest', { timeout: 600_000 }, async () => {
    result = await rebalance({ scenario: 'demo', strategy: 'RefineLB', overlay: 'webhook', log });
    expect(result.planned).toBeGreaterThan(0);
  });

  it('is steered by it with mode Auto, and says so', () => {
    expect(result.steering).toEqual({
      mode: 'Webhook',
      message: 'the operator serves the webhook of MutatingWebhookConfiguration evenkeel',
    });
    expect(new Set(result.plans.map(({ status }) => status?.steering))).toEqual(new Set(['Webhook']));
  });

  it('lands at least 95 % of the replacements on their planned node', () => {
    log(`by the webhook: ${result.planned} moves, ${result.landed} landed`);
    expect(result.landed).toBeGreaterThanOrEqual(0.95 * result.planned);
  });

  it('lowers the standard deviation of CPU load by at least 75 %', () => {
    expect(result.stddevAfter).toBeLessThanOrEqual(0.25 * result.stddevBefore);
  });
});
