import { parseArgs } from 'node:util';
import type { ClusterSnapshot } from '../../src/model/snapshot.ts';
import type { PolicyOptions } from '../../src/plan/options.ts';
import type { Plan } from '../../src/plan/plan.ts';
import { plan } from '../../src/plan/planner.ts';
import { ALL_REPAIRS, greedyLb, pack, refineLb, someOptions } from '../support/builders/options.ts';
import { crowdedSnapshot } from '../support/crowd.ts';
import { qosOptions } from '../support/gated.ts';
import { generateSnapshot } from '../support/generate.ts';
import { printTable } from '../support/print-table.ts';

/**
 * How long planning takes and how much heap it needs, on generated clusters, against the targets (quality.md, targets).
 * Run with `npm run bench [-- --only strategies,contests,repairs --nodes 5000]`; needs --expose-gc. Nothing is asserted: the table
 * is for people.
 */
const { values } = parseArgs({
  options: {
    only: { type: 'string', default: 'strategies,contests,repairs' },
    nodes: { type: 'string', default: '50,100,1000,5000' },
  },
});
const PODS_PER_NODE = 30;

interface Size {
  readonly nodes: number;
  readonly runs: number;
  /** Milliseconds. */
  readonly targets: Readonly<Record<PolicyOptions['strategy']['type'], number>>;
}

const ALL_SIZES: readonly Size[] = [
  { nodes: 50, runs: 30, targets: { GreedyLB: 10, RefineLB: 10, QoSDriven: 10, Pack: 10, TrafficAware: 10, None: 10 } },
  {
    nodes: 100,
    runs: 30,
    targets: { GreedyLB: 10, RefineLB: 10, QoSDriven: 10, Pack: 10, TrafficAware: 10, None: 10 },
  },
  {
    nodes: 1000,
    runs: 15,
    targets: { GreedyLB: 100, RefineLB: 100, QoSDriven: 100, Pack: 100, TrafficAware: 100, None: 100 },
  },
  {
    nodes: 5000,
    runs: 7,
    targets: { GreedyLB: 1000, RefineLB: 500, QoSDriven: 1000, Pack: 1000, TrafficAware: 1000, None: 1000 },
  },
];
const WANTED_NODES = values.nodes.split(',');
const SIZES = ALL_SIZES.filter(({ nodes }) => WANTED_NODES.includes(String(nodes)));
const HEAP_TARGET_MIB = 300;
const GROWTH_TARGET = 2;

const STRATEGIES: readonly { readonly label: string; readonly strategy: PolicyOptions['strategy'] }[] = [
  { label: 'RefineLB', strategy: refineLb() },
  { label: 'RefineLB as published', strategy: refineLb({ refinements: 'None' }) },
  { label: 'GreedyLB', strategy: greedyLb() },
  { label: 'GreedyLB as published', strategy: greedyLb({ minimizeMoves: false }) },
  { label: 'Pack', strategy: pack({ resources: [{ name: 'cpu', below: 0.9 }] }) },
];

interface Measurement {
  readonly milliseconds: number;
  readonly heapMiB: number;
  readonly pods: number;
  readonly found: Plan;
}

/** What a table is about. */
interface Setting {
  readonly title: string;
  readonly tied: number;
  /** No node has a pod slot left. */
  readonly full: boolean;
}

const SETTINGS: readonly Setting[] = [
  { title: 'no pod under affinity or spread', tied: 0, full: false },
  { title: 'a third of the pods under affinity or spread', tied: 1 / 3, full: false },
  { title: 'a third of the pods under affinity or spread, and no free pod slot on any node', tied: 1 / 3, full: true },
];

function snapshotOf({ tied, full }: Setting, nodes: number): ClusterSnapshot {
  const snapshot = generateSnapshot({ seed: 1, nodes, podsPerNode: PODS_PER_NODE, tied });
  return full
    ? { ...snapshot, nodes: snapshot.nodes.map((node) => ({ ...node, allocatable: { ...node.allocatable, pods: 0 } })) }
    : snapshot;
}

function measure({ nodes, runs }: Size, strategy: PolicyOptions['strategy'], setting: Setting): Measurement {
  const snapshot = snapshotOf(setting, nodes);
  const options = someOptions({ strategy });
  const milliseconds = medianTime(snapshot, options, runs);
  return { milliseconds, ...measureHeap(snapshot, options), pods: snapshot.pods.length };
}

/** So many runs compile the code: an operator that has just been started is as slow, and then plans for weeks. */
const WARM_UPS = 5;

/** Measured before the heap: a forced collection throws away compiled code as well. */
function medianTime(snapshot: ClusterSnapshot, options: PolicyOptions, runs: number): number {
  for (let run = 0; run < WARM_UPS; run += 1) {
    plan(snapshot, options);
  }
  const times = Array.from({ length: runs }, () => {
    const began = performance.now();
    plan(snapshot, options);
    return performance.now() - began;
  });
  return times.sort((left, right) => left - right)[Math.floor(times.length / 2)] ?? Number.NaN;
}

function measureHeap(snapshot: ClusterSnapshot, options: PolicyOptions): Pick<Measurement, 'found' | 'heapMiB'> {
  let heap = 0;
  let found = plan(snapshot, options);
  for (let run = 0; run < 3; run += 1) {
    globalThis.gc?.();
    const before = process.memoryUsage().heapUsed;
    found = plan(snapshot, options);
    heap = Math.max(heap, process.memoryUsage().heapUsed - before);
  }
  return { found, heapMiB: heap / 2 ** 20 };
}

function verdict(isMet: boolean): string {
  return isMet ? 'met' : 'MISSED';
}

function row(
  label: string,
  { nodes, targets }: Size,
  strategy: PolicyOptions['strategy'],
  measured: Measurement,
): string[] {
  const { milliseconds, heapMiB, pods, found } = measured;
  const { before, planned } = found.imbalance;
  const target = targets[strategy.type];
  return [
    label,
    String(nodes),
    String(pods),
    `${milliseconds.toFixed(1)} ms`,
    `${target} ms`,
    verdict(milliseconds <= target),
    `${heapMiB.toFixed(0)} MiB`,
    `${HEAP_TARGET_MIB} MiB`,
    verdict(heapMiB <= HEAP_TARGET_MIB),
    String(found.moves.length),
    (before.cpu?.stddev ?? 0).toFixed(4),
    (planned.cpu?.stddev ?? 0).toFixed(4),
  ];
}

/** A table of all strategies and sizes, and one of how the time per pod grows. */
function compare(setting: Setting): void {
  const rows: string[][] = [];
  const perPod = new Map<string, number[]>();
  for (const { label, strategy } of STRATEGIES) {
    for (const size of SIZES) {
      const measured = measure(size, strategy, setting);
      rows.push(row(label, size, strategy, measured));
      perPod.set(label, [...(perPod.get(label) ?? []), measured.milliseconds / measured.pods]);
    }
  }
  console.log(`\n${setting.title}; ${PODS_PER_NODE} pods per node, median time, at most 1000 moves:\n`);
  printTable(
    ['strategy', 'nodes', 'pods', 'time', 'target', '', 'heap', 'target', '', 'moves', 'stddev', 'planned'],
    rows,
  );
  console.log('\nTime per pod at 150,000 pods over that at 1,500:\n');
  const growth = [...perPod].map(([label, times]) => {
    const ratio = (times.at(-1) ?? Number.NaN) / (times[0] ?? Number.NaN);
    return [label, ratio.toFixed(2), `${GROWTH_TARGET}`, verdict(ratio <= GROWTH_TARGET)];
  });
  printTable(['strategy', 'growth', 'target', ''], growth);
}

/** Full clusters on which a fifth of the workloads have a pod that waits at the gate. */
function compareContests(): void {
  console.log(`\nfull clusters, a thousand pods waiting at most; ${PODS_PER_NODE} pods per node, median time:\n`);
  const rows = SIZES.flatMap(({ nodes, runs, targets }) => {
    const snapshot = crowdedSnapshot({ seed: 1, nodes, podsPerNode: PODS_PER_NODE, waiting: nodes / 5 });
    return (['Standard', 'None'] as const).map((refinements) => {
      const options = qosOptions(refinements);
      const milliseconds = medianTime(snapshot, options, runs);
      const found = plan(snapshot, options);
      const preemptions = found.moves.filter(({ to }) => to === undefined).length;
      return [
        `QoSDriven${refinements === 'None' ? ' as published' : ''}`,
        String(nodes),
        String(snapshot.pods.length),
        `${milliseconds.toFixed(1)} ms`,
        `${targets.QoSDriven} ms`,
        verdict(milliseconds <= targets.QoSDriven),
        String(preemptions),
        String(found.moves.length - preemptions),
      ];
    });
  });
  printTable(['strategy', 'nodes', 'pods', 'time', 'target', '', 'preemptions', 'admissions'], rows);
}

/** A hundredth of the nodes is tainted, a zone comes back empty, and pods of one controller share nodes. */
function misplaced(nodes: number): ClusterSnapshot {
  const snapshot = generateSnapshot({ seed: 1, nodes, podsPerNode: PODS_PER_NODE, tied: 1 / 3 });
  const taint = { key: 'retired', value: '', effect: 'NoSchedule' } as const;
  return {
    ...snapshot,
    nodes: snapshot.nodes.map((node, place) => (place % 100 === 0 ? { ...node, taints: [taint] } : node)),
  };
}

/** Every repair but those of old and restarted pods is on, and a strategy follows. */
function compareRepairs(): void {
  console.log(`\nall repairs, a hundredth of the nodes tainted; ${PODS_PER_NODE} pods per node, median time:\n`);
  const rows = SIZES.flatMap(({ nodes, runs, targets }) => {
    const snapshot = misplaced(nodes);
    return [{ type: 'None' } as const, refineLb(), greedyLb()].map((strategy) => {
      const options = someOptions({ strategy, repair: ALL_REPAIRS });
      const milliseconds = medianTime(snapshot, options, runs);
      const without = medianTime(snapshot, someOptions({ strategy }), runs);
      const { found, heapMiB } = measureHeap(snapshot, options);
      const repairs = found.moves.filter((move) => move.repairs.length > 0).length;
      const target = targets.None;
      return [
        strategy.type,
        String(nodes),
        String(snapshot.pods.length),
        `${milliseconds.toFixed(1)} ms`,
        `${target} ms`,
        verdict(milliseconds <= target),
        `${without.toFixed(1)} ms`,
        `${heapMiB.toFixed(0)} MiB`,
        String(repairs),
        String(found.moves.length - repairs),
      ];
    });
  });
  printTable(
    ['strategy', 'nodes', 'pods', 'time', 'target', '', 'without repairs', 'heap', 'repairs', 'other moves'],
    rows,
  );
}

const TABLES: Readonly<Record<string, () => void>> = {
  strategies: () => SETTINGS.forEach(compare),
  contests: compareContests,
  repairs: compareRepairs,
};

for (const name of values.only.split(',')) {
  const table = TABLES[name];
  if (table === undefined) {
    throw new RangeError(`there is no table ${name}: write ${Object.keys(TABLES).join(', ')}`);
  }
  table();
}
