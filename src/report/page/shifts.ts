import type { RebalancePlan } from '../../api/v1alpha1/rebalance-plan.ts';
import { entries } from '../../execute/journal.ts';
import { isFinal } from '../../execute/transitions.ts';
import type { NodeInfo } from '../../model/node.ts';
import { type PodInfo, podKey } from '../../model/pod.ts';
import type { Usage } from '../../model/resources.ts';
import type { ClusterSnapshot } from '../../model/snapshot.ts';
import { type Loads, type NodeShift, PAGE_RESOURCES, type PageResource } from './state.ts';

/** What one pod takes of a node: millicores, bytes, and one slot. */
type Amounts = Readonly<Record<PageResource, number>>;

/**
 * What the pods of a plan would add to each node, and take from it, were they all where they were before it, and all where it
 * wants them. A pod of a move that has ended counts only while it is there. Each counts with what it, or its replacement, uses now; in between with the mean of its controller's pods.
 */
export function shiftsOf(plan: RebalancePlan, snapshot: ClusterSnapshot): Readonly<Record<string, NodeShift>> {
  const nodes = new Map(snapshot.nodes.map((node) => [node.name, node]));
  const known = lookAt(plan, snapshot);
  const before = createTally(nodes);
  const planned = createTally(nodes);
  for (const { move, run } of entries(plan)) {
    const pod = known.byUid.get(run.replacement?.uid ?? '') ?? known.byUid.get(move.pod.uid);
    const here = pod?.nodeName ?? run.replacement?.node;
    if (pod !== undefined || !isFinal(run.phase)) {
      const amounts = known.amountsOf(pod, move.owner.uid);
      before.transfer(here, move.from, amounts);
      planned.transfer(here, move.to, amounts);
    }
  }
  const touched = [...nodes.keys()].filter((name) => before.has(name) || planned.has(name));
  return Object.fromEntries(touched.map((name) => [name, { before: before.of(name), planned: planned.of(name) }]));
}

interface Known {
  /** Pods and replacements of the plan. */
  readonly byUid: ReadonlyMap<string, PodInfo>;
  readonly amountsOf: (pod: PodInfo | undefined, owner: string) => Amounts;
}

function lookAt({ spec, status }: RebalancePlan, { pods, usage }: ClusterSnapshot): Known {
  const uids = new Set([
    ...spec.moves.map(({ pod }) => pod.uid),
    ...(status?.moves ?? []).flatMap(({ replacement }) => replacement?.uid ?? []),
  ]);
  const owners = new Set(spec.moves.map(({ owner }) => owner.uid));
  const byUid = new Map<string, PodInfo>();
  const siblings = new Map<string, Sum>();
  const useOf = (pod: PodInfo): Usage | undefined =>
    usage === undefined ? pod.constraints.requests : usage.pods.get(podKey(pod));
  for (const pod of pods) {
    if (uids.has(pod.uid)) {
      byUid.set(pod.uid, pod);
    }
    const owner = pod.owner?.uid ?? '';
    const use = owners.has(owner) ? useOf(pod) : undefined;
    if (use !== undefined) {
      const { cpu, memory, number } = siblings.get(owner) ?? NOTHING;
      siblings.set(owner, { cpu: cpu + use.cpu, memory: memory + use.memory, number: number + 1 });
    }
  }
  return {
    byUid,
    amountsOf: (pod, owner) => {
      const own = pod === undefined ? undefined : useOf(pod);
      const { cpu, memory, number } = siblings.get(owner) ?? NOTHING;
      const mean = { cpu: cpu / Math.max(1, number), memory: memory / Math.max(1, number) };
      return { ...mean, ...(own === undefined ? {} : { cpu: own.cpu, memory: own.memory }), pods: 1 };
    },
  };
}

/** What the measured pods of one controller use together. */
interface Sum {
  readonly cpu: number;
  readonly memory: number;
  readonly number: number;
}

const NOTHING: Sum = { cpu: 0, memory: 0, number: 0 };

function createTally(nodes: ReadonlyMap<string, NodeInfo>) {
  const sums = new Map<string, Record<PageResource, number>>();
  const add = (name: string | undefined, sign: 1 | -1, amounts: Amounts): void => {
    const node = name === undefined ? undefined : nodes.get(name);
    if (node === undefined) {
      return;
    }
    const sum = sums.get(node.name) ?? { cpu: 0, memory: 0, pods: 0 };
    for (const resource of PAGE_RESOURCES) {
      const capacity = node.allocatable[resource];
      sum[resource] += capacity > 0 ? (sign * amounts[resource]) / capacity : 0;
    }
    sums.set(node.name, sum);
  };
  return {
    has: (name: string): boolean => sums.has(name),
    of: (name: string): Loads => roundedLoads(sums.get(name) ?? {}),
    transfer(from: string | undefined, to: string | undefined, amounts: Amounts): void {
      if (from !== to) {
        add(from, -1, amounts);
        add(to, 1, amounts);
      }
    },
  };
}

/** Loads to a thousandth; those that are not finite are left out. */
export function roundedLoads(loads: Loads): Loads {
  return Object.fromEntries(
    Object.entries(loads).flatMap(([resource, load]) =>
      Number.isFinite(load) ? [[resource, Math.round(load * 1000) / 1000 + 0]] : [],
    ),
  );
}
