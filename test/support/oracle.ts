import { isMeasured, type LoadResource, offeredOf, requestedOf } from '../../src/model/resources.ts';
import type { ClusterSnapshot } from '../../src/model/snapshot.ts';
import type { PolicyOptions } from '../../src/plan/options.ts';
import { isAtHome } from './arbitraries.ts';

/**
 * What the planner should see in a healthy snapshot, computed the slow and obvious way, apart from the code under test.
 * Loads are fractions of node capacity by node name.
 */
export interface Picture {
  readonly loads: ReadonlyMap<string, number>;
  readonly mean: number;
  readonly objective: number;
}

/** Rounding of loads to billionths adds up to this over the pods of a small cluster. */
export const ROUNDING = 1e-7;

/** The picture of a healthy snapshot, in which every pod has a sample. */
export function pictureOf(whole: ClusterSnapshot, { load }: PolicyOptions): Picture {
  const snapshot = { ...whole, nodes: whole.nodes.filter(({ taints }) => taints.length === 0 || isTolerated(whole)) };
  const totalWeight = load.resources.reduce((sum, { weight }) => sum + weight, 0);
  const combine = (values: readonly number[]): number =>
    load.aggregate === 'Dominant'
      ? Math.max(...values)
      : values.reduce((sum, value, index) => sum + value * (load.resources[index]?.weight ?? 0), 0) / totalWeight;
  const used = load.resources.map(
    ({ name }) => new Map(snapshot.nodes.map((node) => [node.name, usageOf(snapshot, node.name, name)])),
  );
  const capacity = load.resources.map(({ name }) =>
    snapshot.nodes.reduce((sum, { allocatable }) => sum + offeredOf(allocatable, name), 0),
  );
  const loads = new Map(
    snapshot.nodes.map(({ name: node, allocatable }) => [
      node,
      combine(load.resources.map(({ name }, index) => (used[index]?.get(node) ?? 0) / offeredOf(allocatable, name))),
    ]),
  );
  const mean = combine(
    used.map((byNode, index) => [...byNode.values()].reduce((sum, value) => sum + value, 0) / (capacity[index] ?? 1)),
  );
  const objective = snapshot.nodes.reduce((sum, { name: node, allocatable }) => {
    const shares = load.resources.map(({ name }, index) => offeredOf(allocatable, name) / (capacity[index] ?? 1));
    const share =
      shares.reduce((total, value, index) => total + value * (load.resources[index]?.weight ?? 0), 0) / totalWeight;
    return sum + share * ((loads.get(node) ?? 0) - mean) ** 2;
  }, 0);
  return { loads, mean, objective };
}

/**
 * Whether some pod that may be moved tolerates the one taint that there is; without any, tainted nodes take no part.
 */
function isTolerated({ pods, pdbs }: ClusterSnapshot): boolean {
  const isHeld = (owner: string | undefined): boolean =>
    owner === 'web' && pdbs.some(({ disruptionsAllowed }) => disruptionsAllowed === 0);
  return pods.some(({ owner, constraints }) => constraints.tolerations.length > 0 && !isHeld(owner?.name));
}

function usageOf({ usage, pods }: ClusterSnapshot, node: string, resource: LoadResource): number {
  const there = pods.filter(({ nodeName }) => nodeName === node);
  if (!isMeasured(resource)) {
    return there.reduce((sum, { constraints }) => sum + requestedOf(constraints.requests, resource), 0);
  }
  const own = there.reduce(
    (sum, { namespace, name }) => sum + (usage?.pods.get(`${namespace}/${name}`)?.[resource] ?? 0),
    0,
  );
  return Math.max(own, usage?.nodes.get(node)?.[resource] ?? 0);
}

/** Names of pods that could not run where the snapshot has them. */
export function misplacedPods({ nodes, pods }: ClusterSnapshot): readonly string[] {
  return pods
    .filter((pod) => {
      const node = nodes.find(({ name }) => name === pod.nodeName);
      const others = pods.filter((other) => other !== pod && other.nodeName === pod.nodeName);
      return node === undefined || !isAtHome(pod, node, others);
    })
    .map(({ name }) => name);
}

/** The least possible load of the highest node, over every placement of the pods; only for a handful of pods. */
export function bestPossibleHighest(snapshot: ClusterSnapshot, options: PolicyOptions): number {
  const [pods, names] = [snapshot.pods, snapshot.nodes.map(({ name }) => name)];
  const bare = { ...snapshot, pods: [] as typeof pods };
  const floors = pictureOf({ ...bare, usage: floorsOf(snapshot) }, options).loads;
  const sizes = pods.map(({ namespace, name }) => snapshot.usage?.pods.get(`${namespace}/${name}`)?.cpu ?? 0);
  const capacities = snapshot.nodes.map(({ allocatable }) => allocatable.cpu);
  const loads = names.map((name) => floors.get(name) ?? 0);
  let best = Number.POSITIVE_INFINITY;
  const place = (pod: number): void => {
    if (Math.max(...loads) >= best) {
      return;
    }
    if (pod === sizes.length) {
      best = Math.max(...loads);
      return;
    }
    for (let node = 0; node < loads.length; node += 1) {
      const added = (sizes[pod] ?? 0) / (capacities[node] ?? 1);
      loads[node] = (loads[node] ?? 0) + added;
      place(pod + 1);
      loads[node] = (loads[node] ?? 0) - added;
    }
  };
  place(0);
  return best;
}

/** Samples of the nodes without their pods. */
function floorsOf(snapshot: ClusterSnapshot): ClusterSnapshot['usage'] {
  const { usage } = snapshot;
  if (usage === undefined) {
    return undefined;
  }
  const nodes = [...usage.nodes].map(([name, sample]) => {
    const pods = snapshot.pods.filter(({ nodeName }) => nodeName === name);
    const own = pods.reduce((sum, pod) => sum + (usage.pods.get(`${pod.namespace}/${pod.name}`)?.cpu ?? 0), 0);
    return [name, { ...sample, cpu: Math.max(0, sample.cpu - own) as typeof sample.cpu }] as const;
  });
  return { nodes: new Map(nodes), pods: new Map() };
}
