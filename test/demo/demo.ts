/**
 * `npm run demo [-- STRATEGY [SCENARIO]]`: rebalances a real, embedded control plane and shows the cluster before, the
 * plan, the moves as they land, and the cluster after. STRATEGY is RefineLB (default) or GreedyLB; SCENARIO is demo
 * (default) or demo-no-system-pods.
 */
import { STRATEGY_NAMES } from '../../src/api/v1alpha1/rebalance-policy.ts';
import { renderTable } from '../../src/report/table.ts';
import { type RebalancingResult, rebalance } from './rebalance.ts';

const SCENARIOS = ['demo', 'demo-no-system-pods'];

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function main([strategyName = 'RefineLB', scenario = 'demo']: readonly string[]): Promise<void> {
  const strategy = STRATEGY_NAMES.find((name) => name === strategyName);
  if (strategy === undefined || !SCENARIOS.includes(scenario)) {
    throw new Error(`write npm run demo -- ${STRATEGY_NAMES.join('|')} ${SCENARIOS.join('|')}`);
  }
  const result = await rebalance({ scenario, strategy, log: say });
  say('');
  say(loadTable(result));
  say('');
  say(summary(result));
}

function loadTable({ before, after }: RebalancingResult): string {
  const rows = [...before].map(([node, load]) => [
    node,
    percent(load),
    bar(load),
    percent(after.get(node) ?? 0),
    bar(after.get(node) ?? 0),
  ]);
  return renderTable(['NODE', 'BEFORE', '', 'AFTER', ''], rows, new Set(['BEFORE', 'AFTER']));
}

function summary({ stddevBefore, stddevAfter, planned, landed, evictions, laterRuns }: RebalancingResult): string {
  const fall = stddevBefore === 0 ? 0 : 1 - stddevAfter / stddevBefore;
  return [
    `standard deviation of CPU load: ${stddevBefore.toFixed(4)} -> ${stddevAfter.toFixed(4)} (${percent(fall)} less)`,
    `moves planned: ${planned}; evictions by the audit log: ${evictions.length}; landed as planned: ${landed}`,
    `moves of the next ${laterRuns.length} rounds: ${laterRuns.join(', ')}`,
  ].join('\n');
}

function percent(fraction: number): string {
  return `${(100 * fraction).toFixed(1)} %`;
}

function bar(fraction: number): string {
  return '█'.repeat(Math.round(25 * fraction)).padEnd(25, '·');
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
