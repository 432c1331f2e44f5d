import { join } from 'node:path';
import { listNodes, listPods } from '../../control-plane/cluster-state.ts';
import { type Placement, placementOf } from '../../control-plane/initial-placement.ts';
import { applyPlaced, applyScenario, loadScenario, waitForMetrics } from '../../control-plane/scenario.ts';
import type { Scenario } from '../../control-plane/scenario-parse.ts';
import type { ControlPlane } from '../../control-plane/start.ts';
import { waitUntil } from '../../control-plane/wait-until.ts';
import type { Task } from './contender.ts';
import { placement, unevenness } from './judge.ts';
import type { PodTrack } from './observer.ts';

/** Something that went wrong on a cluster, and who is to put it right. */
export interface Case {
  readonly task: Task;
  readonly minutes: number;
  /** Names of the scenarios that make the cluster, one after the other. */
  readonly scenarios: readonly string[];
  /** Brings pods to where they should not be. */
  readonly misplace?: (cp: ControlPlane) => Promise<void>;
  /** Changes the cluster around the pods, or waits for what is to be known of it. */
  readonly finish?: (cp: ControlPlane, log: (line: string) => void) => Promise<void>;
  readonly goal: Goal;
  /** How kube-scheduler ranks nodes; default as Kubernetes configures it. */
  readonly scoring?: 'MostAllocated';
}

/** What a case is about. */
export type Goal =
  /** The deviation of the load of the nodes. */
  | { readonly kind: 'Deviation' }
  /** How many pods must move until nothing is wrong any more. */
  | {
      readonly kind: 'OutOfPlace';
      readonly count: (pods: readonly PodTrack[], nodes: readonly Placeable[]) => number;
    }
  /** How many nodes run pods. */
  | { readonly kind: 'UsedNodes' };

const EVENNESS: Goal = { kind: 'Deviation' };

function outOfPlace(count: Extract<Goal, { kind: 'OutOfPlace' }>['count']): Goal {
  return { kind: 'OutOfPlace', count };
}

/** Makes the cluster of a case as it is to be found; its pods where `placement` has them, or where the scheduler puts them. */
export async function prepare(
  { scenarios, misplace, finish }: Case,
  cp: ControlPlane,
  placement: Placement | undefined,
  log: (line: string) => void,
): Promise<Placement> {
  const loaded = scenarios.map(load);
  if (placement === undefined) {
    for (const scenario of loaded) {
      await applyScenario(cp, scenario, { log });
    }
    await misplace?.(cp);
  } else {
    await applyPlaced(cp, loaded, placement, { log });
  }
  await finish?.(cp, log);
  return await placementOf(cp, loaded);
}

function load(name: string): Scenario {
  return loadScenario(join(import.meta.dirname, '..', '..', 'scenarios', `${name}.yaml`));
}

/** Namespaces of the pods that a case is about. */
export function namespacesOf({ scenarios }: Case): ReadonlySet<string> {
  return new Set(scenarios.flatMap((name) => load(name).workloads.map(({ namespace }) => namespace)));
}

/** A node for the judgement of a case. */
export interface Placeable {
  readonly name: string;
  readonly zone: string;
  readonly isTainted: boolean;
}

/** The nodes of the cluster, for the judgement of a case. */
export async function placeables(cp: ControlPlane): Promise<readonly Placeable[]> {
  return (await listNodes(cp)).map(({ metadata, spec }) => ({
    name: metadata.name,
    zone: metadata.labels?.['topology.kubernetes.io/zone'] ?? '',
    isTainted: (spec.taints ?? []).length > 0,
  }));
}

const INTERVAL = 30;
/** As its users are told to write it: a pod is only evicted when another node can take it. */
const EVICTOR = { name: 'DefaultEvictor', args: { nodeFit: true } };
const UNHURRIED = { minPodAge: '0s', stabilization: '0s', cooldown: '0s' };
const BUDGETS = [{ maxMoves: 1000, maxConcurrent: 20, perOwner: '100%' }];

function profileOf(kind: 'balance' | 'deschedule', plugin: string, args: object): Task['profile'] {
  return {
    name: 'peer',
    pluginConfig: [EVICTOR, { name: plugin, args }],
    plugins: { [kind]: { enabled: [plugin] } },
  };
}

function repairing(repair: object): Task['policy'] {
  return { strategy: { type: 'None' }, repair, budgets: BUDGETS, protections: UNHURRIED };
}

function skewed(scenario: string, minutes: number): Case {
  const deviation = { cpu: 3, memory: 3 };
  return {
    minutes,
    task: {
      seconds: INTERVAL,
      policy: {
        strategy: { type: 'RefineLB' },
        thresholds: { trigger: '0.05', consecutive: 1 },
        scope: { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'shop' } } },
        budgets: BUDGETS,
        protections: UNHURRIED,
      },
      profile: profileOf('balance', 'LowNodeUtilization', {
        useDeviationThresholds: true,
        thresholds: { cpu: deviation.cpu },
        targetThresholds: { cpu: deviation.cpu },
        metricsUtilization: { source: 'KubernetesMetrics' },
      }),
    },
    scenarios: [scenario],
    finish: (cp, log) => waitForMetrics(cp, { log }),
    goal: EVENNESS,
  };
}

const isBad = (
  pods: readonly PodTrack[],
  nodes: readonly Placeable[],
  groupOf: (node: Placeable) => string,
): number => {
  const groups = [...new Set(nodes.map(groupOf))];
  const groupByName = new Map(nodes.map((node) => [node.name, groupOf(node)]));
  return [...placement(pods).values()].reduce((sum, byNode) => {
    const counts = new Map(groups.map((group) => [group, 0]));
    for (const [node, count] of byNode) {
      const group = groupByName.get(node) ?? '';
      counts.set(group, (counts.get(group) ?? 0) + count);
    }
    return sum + unevenness([...counts.values()]);
  }, 0);
};

const PACKING: Case = {
  minutes: 5,
  task: {
    seconds: INTERVAL,
    policy: {
      strategy: { type: 'Pack', pack: { minNodeAge: '0s' } },
      budgets: BUDGETS,
      protections: UNHURRIED,
    },
    profile: profileOf('balance', 'HighNodeUtilization', { thresholds: { cpu: 50, memory: 50 } }),
  },
  scenarios: ['peers-packing'],
  goal: { kind: 'UsedNodes' },
};

/** By the name that the command line takes. */
export const CASES: Readonly<Record<string, Case>> = {
  'skewed-8': skewed('demo', 5),
  'skewed-200': skewed('scale-200', 12),
  drains: {
    minutes: 4,
    task: {
      seconds: INTERVAL,
      policy: repairing({ duplicates: true }),
      profile: profileOf('balance', 'RemoveDuplicates', {}),
    },
    scenarios: ['sixty-pods'],
    misplace: async (cp) => {
      for (const node of ['worker-1', 'worker-2']) {
        await untilReady(cp, 60);
        await cp.kubectl(['drain', node, '--ignore-daemonsets', '--delete-emptydir-data', '--timeout=120s']);
        await untilReady(cp, 60);
        await cp.kubectl(['uncordon', node]);
      }
    },
    goal: outOfPlace((pods, nodes) => isBad(pods, nodes, ({ name }) => name)),
  },
  zone: {
    minutes: 4,
    task: {
      seconds: INTERVAL,
      policy: repairing({ topologySpread: {} }),
      profile: profileOf('balance', 'RemovePodsViolatingTopologySpreadConstraint', { constraints: ['DoNotSchedule'] }),
    },
    scenarios: ['peers-two-zones', 'peers-third-zone'],
    goal: outOfPlace((pods, nodes) => isBad(pods, nodes, ({ zone }) => zone)),
  },
  duplicates: {
    minutes: 4,
    task: {
      seconds: INTERVAL,
      policy: repairing({ duplicates: true }),
      profile: profileOf('balance', 'RemoveDuplicates', {}),
    },
    scenarios: ['peers-duplicates'],
    goal: outOfPlace((pods, nodes) => isBad(pods, nodes, ({ name }) => name)),
  },
  taints: {
    minutes: 4,
    task: {
      seconds: INTERVAL,
      policy: repairing({ taints: {} }),
      profile: profileOf('deschedule', 'RemovePodsViolatingNodeTaints', {}),
    },
    scenarios: ['peers-taints'],
    finish: async (cp) => {
      await cp.kubectl(['taint', 'node', 'node-1', 'node-2', 'dedicated=batch:NoSchedule']);
    },
    goal: outOfPlace((pods, nodes) => {
      const tainted = new Set(nodes.filter(({ isTainted }) => isTainted).map(({ name }) => name));
      return pods.filter(({ node = '', goneAt }) => goneAt === undefined && tainted.has(node)).length;
    }),
  },
  packing: PACKING,
  // As the documentation of HighNodeUtilization asks for.
  'packing-most-allocated': { ...PACKING, scoring: 'MostAllocated' },
};

async function untilReady(cp: ControlPlane, wanted: number): Promise<void> {
  await waitUntil(
    `waiting for ${wanted} Ready pods`,
    async () => {
      const pods = await listPods(cp);
      const ready = pods.filter(
        ({ metadata, status }) =>
          metadata.deletionTimestamp === undefined &&
          status.conditions?.some(({ type, status: state }) => type === 'Ready' && state === 'True'),
      ).length;
      return ready >= wanted ? undefined : `${ready} are`;
    },
    { timeoutMilliseconds: 120_000 },
  );
}
