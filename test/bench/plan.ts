/**
 * `npm run bench`: time and heap of the planner on generated clusters of 100, 1,000 and 5,000 nodes with 30 pods each,
 * beside quality.md's targets. Times are medians; what counts is the ratio within one run. Budgets do not bind.
 */

import type { StrategyName } from '../../src/api/v1alpha1/rebalance-policy.ts';
import { validatePolicy } from '../../src/api/validate.ts';
import type { ClusterSnapshot } from '../../src/model/snapshot.ts';
import { resolveOptions } from '../../src/plan/options.ts';
import type { Plan } from '../../src/plan/plan.ts';
import { plan } from '../../src/plan/planner.ts';
import { renderTable } from '../../src/report/table.ts';
import { generateSnapshot } from '../support/generate.ts';
import { policyObject } from '../support/resources.ts';

const PODS_PER_NODE = 30;
const MIB = 2 ** 20;

/** Targets in milliseconds and MiB (quality.md, speed and memory). */
const TARGETS: readonly { readonly nodes: number; readonly ms: Readonly<Record<StrategyName, number>> }[] = [
  { nodes: 100, ms: { GreedyLB: 10, RefineLB: 10 } },
  { nodes: 1_000, ms: { GreedyLB: 100, RefineLB: 100 } },
  { nodes: 5_000, ms: { GreedyLB: 1_000, RefineLB: 500 } },
];
const HEAP_TARGET_MIB = 300;
const GROWTH_TARGET = 2;

interface Measured {
  readonly ms: number;
  readonly heapMiB: number;
  readonly plan: Plan;
}

function optionsOf(type: StrategyName) {
  const spec = {
    strategy: { type },
    budgets: [{ maxMoves: 1000 }],
    protections: { minPodAge: '0s' },
    thresholds: { trigger: '0.05' },
  };
  const { value, problems } = validatePolicy(policyObject('bench', spec));
  if (problems.length > 0) {
    throw new Error(JSON.stringify(problems));
  }
  return resolveOptions(value.spec);
}

/** Heap growth is what one plan leaves before a collection; run with --expose-gc. */
function measure(snapshot: ClusterSnapshot, strategy: StrategyName, rounds: number): Measured {
  const options = optionsOf(strategy);
  let last = plan(snapshot, options);
  const times: number[] = [];
  const heaps: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    globalThis.gc?.();
    const heap = process.memoryUsage().heapUsed;
    const began = performance.now();
    last = plan(snapshot, options);
    times.push(performance.now() - began);
    heaps.push((process.memoryUsage().heapUsed - heap) / MIB);
  }
  return { ms: median(times), heapMiB: Math.max(...heaps), plan: last };
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function verdict(figure: number, target: number): string {
  return figure <= target ? 'met' : 'MISSED';
}

function main(): void {
  if (globalThis.gc === undefined) {
    throw new Error('run with node --expose-gc: npm run bench');
  }
  const rows: string[][] = [];
  const perPod = new Map<string, number>();
  const small = generateSnapshot({ seed: 1, nodes: 50, podsPerNode: PODS_PER_NODE });
  for (const strategy of ['GreedyLB', 'RefineLB'] as const) {
    perPod.set(strategy, measure(small, strategy, 25).ms / small.pods.length);
  }
  for (const { nodes, ms } of TARGETS) {
    const snapshot = generateSnapshot({ seed: 1, nodes, podsPerNode: PODS_PER_NODE });
    for (const strategy of ['GreedyLB', 'RefineLB'] as const) {
      const measured = measure(snapshot, strategy, nodes >= 5_000 ? 5 : 11);
      const growth = measured.ms / snapshot.pods.length / (perPod.get(strategy) ?? Number.NaN);
      const { before, planned } = measured.plan.imbalance;
      rows.push([
        strategy,
        String(nodes),
        String(snapshot.pods.length),
        measured.ms.toFixed(1),
        String(ms[strategy]),
        verdict(measured.ms, ms[strategy]),
        measured.heapMiB.toFixed(0),
        verdict(measured.heapMiB, HEAP_TARGET_MIB),
        growth.toFixed(2),
        nodes === 5_000 ? verdict(growth, GROWTH_TARGET) : '',
        String(measured.plan.moves.length),
        `${before.cpu?.stddev.toFixed(4)} -> ${planned.cpu?.stddev.toFixed(4)}`,
      ]);
    }
  }
  const header = [
    'STRATEGY',
    'NODES',
    'PODS',
    'MS',
    'TARGET',
    '',
    'HEAP MIB',
    `<= ${HEAP_TARGET_MIB}`,
    'PER POD',
    `<= ${GROWTH_TARGET}`,
    'MOVES',
    'STDDEV OF CPU',
  ];
  const right = new Set(['NODES', 'PODS', 'MS', 'TARGET', 'HEAP MIB', 'PER POD', 'MOVES']);
  process.stdout.write(`${renderTable(header, rows, right)}\n`);
  process.stdout.write(
    'PER POD: time per pod against that of 1,500 pods in this run. At most 1,000 moves; other budgets do not bind.\n',
  );
}

main();
