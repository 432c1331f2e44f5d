import type { UsageSample } from '../model/snapshot.ts';
import { seconds } from '../model/units.ts';
import { meanOf } from '../qos/fulfilment.ts';
import { availabilityByMode } from '../qos/service-account.ts';
import type {
  Balance,
  Series,
  SimulationResult,
  VariantResult,
  WaitResult,
  WindowResult,
} from '../report/simulation-result.ts';
import { byClass, classResult, contentionOf, type Mark, windowClasses } from './class-results.ts';
import { type Cluster, createCluster } from './cluster.ts';
import { createEventQueue, type EventQueue } from './event-queue.ts';
import { relieveMemory } from './memory.ts';
import { type NodeUse, startMeter } from './meter.ts';
import { startOperator } from './operator.ts';
import { randomStreams } from './random.ts';
import type { Scenario, Variant } from './scenario.ts';
import { startScheduler } from './scheduler.ts';
import { viewsOf } from './scheduling-view.ts';
import { keepServiceRecords, type ServiceRecord, type ServiceRecords } from './service-record.ts';
import { createTrafficMeter } from './traffic-meter.ts';
import { violationsLeft } from './violations.ts';
import { createVirtualClock, type VirtualClock } from './virtual-clock.ts';
import { keyOf } from './world.ts';

/** Points of the series over time. */
const POINTS = 120;
/** Length of the windows in which classes are compared (algorithms.md 8). */
const WINDOW = 600;

/** Told how far a simulation has come, from time to time. */
export type Progress = (progress: {
  readonly variant: string;
  /** Simulated seconds so far, and in all. */
  readonly now: number;
  readonly duration: number;
  readonly events: number;
}) => void;

/** Plays every variant of a scenario. The same scenario gives the same result, to the byte. */
export async function simulate(scenario: Scenario, progress: Progress = () => undefined): Promise<SimulationResult> {
  const variants: VariantResult[] = [];
  for (const variant of scenario.variants) {
    variants.push(await playVariant(scenario, variant, progress));
  }
  const baseline = scenario.variants.findIndex(
    ({ scheduler, policies }) => scheduler === 'Priority' && policies.length === 0,
  );
  const used = new Set(scenario.workloads.map(({ className }) => className));
  const promised = scenario.classes.filter(({ name }) => used.has(name));
  return {
    scenario: scenario.name,
    seed: scenario.seed,
    duration: scenario.duration,
    nodes: scenario.nodes.length,
    workloads: scenario.workloads.length,
    variants,
    contention: variants[baseline]?.windows.map((window) => contentionOf(window, promised)) ?? [],
  };
}

interface Counts {
  transfers: number;
  preemptions: number;
  memoryEvictions: number;
  runs: number;
  plans: number;
}

async function playVariant(scenario: Scenario, variant: Variant, progress: Progress): Promise<VariantResult> {
  const streams = randomStreams(scenario.seed);
  const queue = createEventQueue();
  const cluster = createCluster(scenario, queue, {
    gates: variant.policies.length > 0,
    random: streams('start-up and termination'),
  });
  const { world } = cluster;
  const records = keepServiceRecords(world);
  const clock = createVirtualClock(queue, scenario.start);
  const balance = createBalanceSum();
  const current = { cpu: 0, memory: 0 };
  const counts: Counts = { transfers: 0, preemptions: 0, memoryEvictions: 0, runs: 0, plans: 0 };
  const traffic = createTrafficMeter(world);
  const meter = startMeter(world, streams, ({ nodes, pods, workingSets, span }) => {
    if (scenario.starvation) {
      starvePods(cluster, nodes, pods);
    }
    counts.memoryEvictions += relieveMemory(cluster, workingSets);
    balance.add(nodes);
    traffic.look(span);
    current.cpu = balanceOf([...nodes.values()].map((node) => node.cpu)).ema;
    current.memory = balanceOf([...nodes.values()].map((node) => node.memory)).ema;
  });
  const views = viewsOf(world);
  startScheduler(cluster, views, {
    preempts: variant.scheduler === 'Priority',
    random: streams('ties of the scheduler'),
    latency: scenario.timing.scheduling,
    preempted: () => {
      counts.preemptions += 1;
    },
  });
  const operator = startOperator({
    cluster,
    clock,
    policies: variant.policies,
    usage: meter.samples,
    planned: (plan) => {
      counts.runs += 1;
      counts.plans += plan.moves.length > 0 ? 1 : 0;
    },
    evicted: (_, kind) => {
      counts[kind === 'Transfer' ? 'transfers' : 'preemptions'] += 1;
    },
  });
  const series = recordSeries(scenario, queue, records, () => ({
    ...current,
    evictions: counts.transfers + counts.preemptions,
  }));
  const windows = recordWindows(scenario, queue, records);
  await runWithProgress(scenario, variant, clock, queue, progress);
  await operator.stop();
  records.settle();
  const { total, failed } = meter.requests();
  return {
    name: variant.name,
    events: queue.performed(),
    balance: { cpu: balance.cpu(), memory: balance.memory() },
    violations: violationsLeft(scenario, world),
    traffic: traffic.result(),
    moves: { ...counts, perRun: counts.runs === 0 ? 0 : counts.transfers / counts.runs },
    requests: { total, failed, success: total === 0 ? 1 : 1 - failed / total },
    classes: byClass(records.list, scenario.classes).map(({ serviceClass, records: own }) =>
      classResult(serviceClass, own),
    ),
    windows: windows(),
    waits: waitsOf(records.list),
    series: series(),
  };
}

async function runWithProgress(
  { duration }: Scenario,
  { name }: Variant,
  clock: VirtualClock,
  queue: EventQueue,
  progress: Progress,
): Promise<void> {
  for (let part = 1; part <= POINTS; part += 1) {
    await clock.run((duration * part) / POINTS);
    progress({ variant: name, now: queue.now(), duration, events: queue.performed() });
  }
}

/** Looks at the classes at equal distances. */
function recordSeries(
  { duration, classes }: Scenario,
  queue: EventQueue,
  records: ServiceRecords,
  figures: () => { readonly cpu: number; readonly memory: number; readonly evictions: number },
): () => Series {
  const times: number[] = [];
  const rows: ReturnType<typeof figures>[] = [];
  const availability = new Map(classes.map(({ name }) => [name, [] as (number | null)[]]));
  const look = (): void => {
    records.settle();
    times.push(queue.now());
    rows.push(figures());
    for (const [name, values] of availability) {
      const own = records.list.filter(({ workload }) => workload.spec.className === name);
      values.push(meanOf(own.flatMap(({ service, mode }) => availabilityByMode(service, mode) ?? [])) ?? null);
    }
  };
  for (let part = 1; part <= POINTS; part += 1) {
    queue.at((duration * part) / POINTS, look);
  }
  return () => ({
    times,
    cpu: rows.map(({ cpu }) => cpu),
    memory: rows.map(({ memory }) => memory),
    evictions: rows.map(({ evictions }) => evictions),
    availability: [...availability].map(([name, values]) => ({ name, values })),
  });
}

/** Compares the counters of the records at the ends of windows. */
function recordWindows(
  { duration, classes }: Scenario,
  queue: EventQueue,
  records: ServiceRecords,
): () => readonly WindowResult[] {
  const windows: WindowResult[] = [];
  let marks = new Map<ServiceRecord, Mark>();
  const close = (from: number): void => {
    records.settle();
    windows.push({ from, to: queue.now(), classes: windowClasses(byClass(records.list, classes), marks) });
    marks = new Map(records.list.map((record) => [record, { service: record.service, room: record.room }]));
  };
  for (let from = 0; from < duration; from += WINDOW) {
    queue.at(Math.min(duration, from + WINDOW), () => close(from));
  }
  return () => windows;
}

function waitsOf(list: readonly ServiceRecord[]): WaitResult {
  const waits = list.flatMap(({ servedAt, arrivedAt }) => (servedAt === undefined ? [] : [servedAt - arrivedAt]));
  const done = list.flatMap((record) => {
    const { runTime } = record.workload.spec;
    return runTime === undefined || record.endedAt === undefined
      ? []
      : [{ runTime, span: seconds(record.endedAt - record.arrivedAt) }];
  });
  return {
    waiting: meanOf(waits),
    neverServed: list.length - waits.length,
    makespan: meanOf(done.map(({ span }) => span)),
    slowdown: meanOf(done.map(({ runTime, span }) => span / runTime)),
    finished: done.length,
  };
}

/**
 * What a node without enough CPU does to its pods, at the end of a window: those that used more than they request get less
 * than they want (cgroup cpu.weight follows the requests), and their readiness probes time out. They are Ready again after a
 * window in which their node had enough.
 */
function starvePods(
  cluster: Cluster,
  use: ReadonlyMap<string, NodeUse>,
  samples: ReadonlyMap<string, UsageSample>,
): void {
  for (const pod of cluster.world.pods.filter(cluster.world.isBusy)) {
    const { nodeName = '', constraints } = pod.info;
    const isFull = (use.get(nodeName)?.cpu ?? 0) >= 1;
    const isGreedy = (samples.get(keyOf(pod))?.cpu ?? 0) > constraints.requests.cpu;
    if (pod.starved !== (isFull && (isGreedy || pod.starved))) {
      cluster.starve(pod, !pod.starved);
    }
  }
}

/** Sums what windows show. */
interface BalanceSum {
  readonly add: (use: ReadonlyMap<string, NodeUse>) => void;
  readonly cpu: () => Balance;
  readonly memory: () => Balance;
}

/** The balance of one moment. */
function balanceOf(values: readonly number[]): Balance {
  if (values.length === 0) {
    return { mean: 0, ema: 0, stddev: 0, max: 0 };
  }
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const ema = values.reduce((sum, value) => sum + Math.abs(value - mean), 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
  return { mean, ema, stddev: Math.sqrt(variance), max: Math.max(...values) };
}

/** The mean of several balances; all zero without any. */
function meanBalance(balances: readonly Balance[]): Balance {
  const mean = (of: (balance: Balance) => number): number =>
    balances.length === 0 ? 0 : balances.reduce((sum, balance) => sum + of(balance), 0) / balances.length;
  return { mean: mean((b) => b.mean), ema: mean((b) => b.ema), stddev: mean((b) => b.stddev), max: mean((b) => b.max) };
}

/** An empty sum. */
function createBalanceSum(): BalanceSum {
  const cpu: Balance[] = [];
  const memory: Balance[] = [];
  return {
    add: (use) => {
      cpu.push(balanceOf([...use.values()].map((node) => node.cpu)));
      memory.push(balanceOf([...use.values()].map((node) => node.memory)));
    },
    cpu: () => meanBalance(cpu),
    memory: () => meanBalance(memory),
  };
}
