import { describe, expect, it } from 'vitest';
import { type RebalancingResult, rebalance } from '../demo/rebalance.ts';

const log = (line: string): void => void process.stderr.write(`${line}\n`);

/** Auto finds no admission policy on a cluster that has only the webhook. */
const CASES = [
  ['demo', 'Auto'],
  ['small', 'Webhook'],
] as const;

describe.each(CASES)('%s with the webhook alone and steering.mode %s', (scenario, steering) => {
  let result: RebalancingResult;

  it('comes to rest', { timeout: 600_000 }, async () => {
    result = await rebalance({ scenario, strategy: 'RefineLB', overlay: 'webhook', steering, log });
    expect(result.planned).toBeGreaterThan(0);
  });

  it('is steered by the webhook, and the policy reports why', () => {
    expect(result.steering).toEqual({
      mode: 'Webhook',
      message: 'the operator serves the webhook of MutatingWebhookConfiguration evenkeel',
    });
    expect(new Set(result.plans.map(({ status }) => status?.steering))).toEqual(new Set(['Webhook']));
  });

  it('lands at least 95 % of the replacements on their planned node', () => {
    log(`${scenario}: ${result.planned} moves, ${result.landed} landed`);
    expect(result.landed).toBeGreaterThanOrEqual(0.95 * result.planned);
  });
});
