import type { UsageSample, UsageSamples } from '../model/snapshot.ts';
import { bytes, milliCpu, seconds } from '../model/units.ts';
import { grownWorkingSet } from './memory.ts';
import type { Random } from './random.ts';
import { integral } from './trace.ts';
import { keyOf, type SimulatedPod, type SimulatedWorkload, type World } from './world.ts';

/** Requests of users to a workload, or to all. */
export interface RequestCount {
  total: number;
  failed: number;
}

/** What one node used over the last window: fractions of its allocatable. */
export interface NodeUse {
  readonly cpu: number;
  readonly memory: number;
}

/** Measures what pods use and what requests come to, window by window, as kubelets and metrics-server do. */
export interface Meter {
  /** The newest samples; `undefined` where the Metrics API is not served. A pod has one once it ran for a whole window. */
  readonly samples: () => UsageSamples | undefined;
  /** Counts requests up to now. */
  readonly requests: () => Readonly<RequestCount>;
}

interface Consumption {
  /** Millicores and bytes, times seconds. */
  cpu: number;
  memory: number;
  /** Since when the pod has been serving without a break. */
  since: number;
}

/** What a pod that serves has consumed in this window. */
interface Serving extends Consumption {
  /** Bytes; `undefined` for a pod that ran before the beginning, which has all the memory that it wants. */
  workingSet: number | undefined;
}

interface Account {
  readonly serving: Map<SimulatedPod, Serving>;
  settledTo: number;
  /** Arrivals of this window over those expected. */
  factor: number;
  /** Its workload has ended, and what came before is counted. */
  isClosed: boolean;
}

/** What a window came to. */
export interface WindowUse {
  /** Seconds. */
  readonly span: number;
  /** What the nodes that are up used, by name. */
  readonly nodes: ReadonlyMap<string, NodeUse>;
  /** Pods that ran for all of it, by key. */
  readonly pods: ReadonlyMap<string, UsageSample>;
  /** Bytes at its end of all pods that serve, where the scenario says how memory behaves; empty otherwise. */
  readonly workingSets: ReadonlyMap<SimulatedPod, number>;
}

/** Called at the end of each window. */
export type WindowObserver = (use: WindowUse) => void;

/**
 * Starts measuring. `random` gives each workload a stream of its own, drawn from once per window whatever is moved, so that
 * all policies meet the same arrivals.
 */
export function startMeter(world: World, random: (purpose: string) => Random, observe: WindowObserver): Meter {
  const { queue, scenario } = world;
  const { window, served } = scenario.metrics;
  const { memory } = scenario;
  const accounts = new Map<SimulatedWorkload, Account>();
  const arrivals = new Map<SimulatedWorkload, Random>();
  const departed = new Map<string, Consumption>();
  const requests: RequestCount = { total: 0, failed: 0 };
  let windowStart = 0;
  let span = window / 2;
  let samples: UsageSamples = { nodes: new Map(), pods: new Map() };

  const accountOf = (workload: SimulatedWorkload): Account => {
    const known = accounts.get(workload);
    if (known !== undefined) {
      return known;
    }
    const account: Account = { serving: new Map(), settledTo: queue.now(), factor: 1, isClosed: false };
    accounts.set(workload, account);
    account.factor = arrivalFactor(workload);
    return account;
  };

  function arrivalFactor(workload: SimulatedWorkload): number {
    const load = workload.spec.requests;
    if (load === undefined || load.arrivals === 'Even') {
      return 1;
    }
    const stream = arrivals.get(workload) ?? random(`arrivals of ${workload.info.uid}`);
    arrivals.set(workload, stream);
    const mean = integral(load.rate, windowStart, windowStart + span);
    return mean === 0 ? 1 : stream.poisson(mean) / mean;
  }

  function settle(workload: SimulatedWorkload, account: Account): void {
    const [from, to] = [account.settledTo, queue.now()];
    account.settledTo = to;
    if (account.isClosed) {
      return;
    }
    account.isClosed = workload.ended;
    const { requests: load } = workload.spec;
    const count = load === undefined ? 0 : account.factor * integral(load.rate, from, to);
    requests.total += count;
    const serving = [...account.serving.keys()].filter(({ starved }) => !starved).length;
    requests.failed += serving === 0 ? count : 0;
    for (const [pod, consumption] of account.serving) {
      const usage = usageOf(pod);
      const share = pod.starved ? 0 : count / serving;
      consumption.cpu += integral(usage?.cpu ?? [], from, to) + share * (load?.cpu ?? 0);
      occupy(consumption, integral(usage?.memory ?? [], from, to) + share * (load?.memory ?? 0), to - from);
    }
  }

  /** Adds the memory of a span in which the pod wanted this many bytes times seconds. */
  function occupy(consumption: Serving, wanted: number, span: number): void {
    if (memory === undefined) {
      consumption.memory += wanted;
    } else if (span > 0) {
      const { workingSet = wanted / span } = consumption;
      const { bytes: grown, area } = grownWorkingSet(workingSet, wanted / span, span, memory.fill);
      consumption.workingSet = grown;
      consumption.memory += area;
    }
  }

  world.observe((pod) => {
    const account = accountOf(pod.workload);
    const serves = world.isBusy(pod);
    const consumption = account.serving.get(pod);
    if (serves === (consumption !== undefined)) {
      return;
    }
    settle(pod.workload, account);
    if (consumption === undefined) {
      account.serving.set(pod, {
        cpu: 0,
        memory: 0,
        since: queue.now(),
        workingSet: queue.now() === 0 ? undefined : 0,
      });
    } else {
      account.serving.delete(pod);
      addTo(departed, pod.info.nodeName ?? '', consumption);
    }
  });

  function close(): void {
    const nodes = new Map(departed);
    departed.clear();
    const pods = new Map<string, UsageSample>();
    const workingSets = new Map<SimulatedPod, number>();
    for (const [workload, account] of accounts) {
      settle(workload, account);
      for (const [pod, consumption] of account.serving) {
        addTo(nodes, pod.info.nodeName ?? '', consumption);
        if (consumption.since <= windowStart) {
          pods.set(keyOf(pod), sampleOf(consumption));
        }
        if (memory !== undefined) {
          workingSets.set(pod, consumption.workingSet ?? 0);
        }
        account.serving.set(pod, { ...consumption, cpu: 0, memory: 0 });
      }
    }
    report(nodes, pods, workingSets);
    windowStart = queue.now();
    span = window;
    for (const [workload, account] of accounts) {
      account.factor = arrivalFactor(workload);
    }
    queue.at(queue.now() + window, close);
  }

  function report(
    nodes: ReadonlyMap<string, Consumption>,
    pods: ReadonlyMap<string, UsageSample>,
    workingSets: ReadonlyMap<SimulatedPod, number>,
  ): void {
    const use = new Map<string, NodeUse>();
    const nodeSamples = new Map<string, UsageSample>();
    for (const [name, { info, down }] of world.nodes) {
      const consumption = nodes.get(name) ?? { cpu: 0, memory: 0, since: 0 };
      const { cpu, memory } = info.allocatable;
      // A node gives no more than it has: what pods want beyond that waits.
      const sample = sampleOf({
        cpu: Math.min(consumption.cpu, cpu * span),
        memory: Math.min(consumption.memory, memory * span),
        since: 0,
      });
      if (!down) {
        use.set(name, { cpu: ratio(sample.cpu, cpu), memory: ratio(sample.memory, memory) });
      }
      // metrics-server leaves out nodes whose usage is zero.
      if (!down && sample.cpu > 0) {
        nodeSamples.set(name, sample);
      }
    }
    samples = { nodes: nodeSamples, pods };
    observe({ span, nodes: use, pods, workingSets });
  }

  function sampleOf({ cpu, memory }: Consumption): UsageSample {
    return {
      cpu: milliCpu(cpu / span),
      memory: bytes(memory / span),
      timestamp: world.serverTime(),
      window: seconds(span),
    };
  }

  queue.at(span, close);
  return {
    samples: () => (served ? samples : undefined),
    requests: () => {
      for (const [workload, account] of accounts) {
        settle(workload, account);
      }
      return requests;
    },
  };
}

function usageOf({ workload, instance }: SimulatedPod) {
  const { usage } = workload.spec;
  return usage[instance] ?? usage.at(-1);
}

function addTo(totals: Map<string, Consumption>, key: string, { cpu, memory }: Consumption): void {
  const total = totals.get(key);
  totals.set(key, { cpu: (total?.cpu ?? 0) + cpu, memory: (total?.memory ?? 0) + memory, since: 0 });
}

function ratio(part: number, whole: number): number {
  return whole > 0 ? part / whole : 0;
}
