import type { NodeInfo } from '../../model/node.ts';
import type { PodInfo } from '../../model/pod.ts';
import type { ClusterSnapshot } from '../../model/snapshot.ts';
import { roundedLoads } from './shifts.ts';
import type { Loads, NodeRow } from './state.ts';

/** Every node with its loads of now: measured, or what its pods request where the snapshot has no metrics. */
export function nodeRows({ nodes, pods, usage }: ClusterSnapshot): Readonly<Record<string, NodeRow>> {
  const totals = new Map(nodes.map(({ name }) => [name, { pods: 0, cpu: 0, memory: 0 }]));
  for (const pod of pods) {
    count(totals.get(pod.nodeName ?? ''), pod);
  }
  return Object.fromEntries(
    nodes.map((node) => {
      const total = totals.get(node.name) ?? { pods: 0, cpu: 0, memory: 0 };
      const used = usage === undefined ? total : usage.nodes.get(node.name);
      const now = loadsOf(node, { ...used, pods: total.pods });
      return [node.name, { status: statusOf(node), pods: total.pods, now }];
    }),
  );
}

function count(total: { pods: number; cpu: number; memory: number } | undefined, { constraints }: PodInfo): void {
  if (total !== undefined) {
    total.pods += 1;
    total.cpu += constraints.requests.cpu;
    total.memory += constraints.requests.memory;
  }
}

function loadsOf({ allocatable }: NodeInfo, used: Loads): Loads {
  const share = (amount: number | undefined, capacity: number): number =>
    amount === undefined || amount < 0 || capacity <= 0 ? Number.NaN : amount / capacity;
  return roundedLoads({
    cpu: share(used.cpu, allocatable.cpu),
    memory: share(used.memory, allocatable.memory),
    pods: share(used.pods, allocatable.pods),
  });
}

function statusOf({ ready, unschedulable, terminating }: NodeInfo): NodeRow['status'] {
  if (terminating) {
    return 'Terminating';
  }
  if (!ready) {
    return 'NotReady';
  }
  return unschedulable ? 'Cordoned' : 'Ready';
}
