import { listNodes, listPods, type PodState, qualifiedName } from './cluster-state.ts';
import { workloadLabel, workloadObjects } from './scenario-objects.ts';
import type { Scenario, ScenarioWorkload } from './scenario-parse.ts';
import type { ControlPlane } from './start.ts';
import { waitUntil } from './wait-until.ts';

const bindTimeout = 180_000;

/** Workloads that may be placed on the same nodes at first, and are therefore created together. */
interface Round {
  readonly allowed: ReadonlySet<string>;
  readonly workloads: readonly ScenarioWorkload[];
}

/**
 * Creates the workloads of a scenario so that their pods start where it says. The scheduler does the placing: the
 * nodes that a workload shall not start on are cordoned until its pods are bound, so no trace of it is left in the
 * pods, and where their replacements go is up to the scheduler alone.
 */
export async function placeWorkloads(cp: ControlPlane, scenario: Scenario): Promise<void> {
  for (const round of roundsOf(scenario)) {
    await cordonAllBut(cp, round.allowed);
    await cp.apply(round.workloads.flatMap(workloadObjects));
    const placed = round.workloads.filter((workload) => workload.kind !== 'DaemonSet');
    const missing = () => misplacedOrMissing(cp, placed, round.allowed);
    await waitUntil('placing pods', missing, { timeoutMilliseconds: bindTimeout });
  }
  await cordonAllBut(cp, new Set(scenario.nodes.map((node) => node.name)));
}

/** Where the pods of each workload run: names of nodes by `namespace/workload`. */
export type Placement = ReadonlyMap<string, readonly string[]>;

/** Where the pods of these workloads run now. */
export async function placementOf(cp: ControlPlane, scenarios: readonly Scenario[]): Promise<Placement> {
  const wanted = new Set(placeable(scenarios).map(keyOf));
  const bound = (await listPods(cp)).filter(
    (pod) => wanted.has(workloadOf(pod)) && pod.metadata.deletionTimestamp === undefined,
  );
  const byWorkload = Map.groupBy(bound, workloadOf);
  return new Map(
    [...byWorkload].map(([key, pods]) => [key, pods.flatMap(({ spec }) => spec.nodeName ?? []).toSorted()]),
  );
}

/**
 * Creates the workloads of all scenarios with their pods where `placement` has them. All nodes are cordoned meanwhile and the pods
 * are bound from here, so that no trace of it is left in the pods. The nodes must be there.
 */
export async function bindWorkloads(
  cp: ControlPlane,
  scenarios: readonly Scenario[],
  placement: Placement,
): Promise<void> {
  await cordonAllBut(cp, new Set());
  const workloads = scenarios.flatMap((scenario) => scenario.workloads);
  await cp.apply(workloads.flatMap(workloadObjects));
  const total = [...placement.values()].reduce((sum, nodes) => sum + nodes.length, 0);
  const unbound = async () =>
    (await listPods(cp)).filter((pod) => placement.has(workloadOf(pod)) && pod.spec.nodeName === undefined);
  await waitUntil(
    'creating pods',
    async () => ((await unbound()).length === total ? undefined : `${(await unbound()).length} of ${total}`),
    { timeoutMilliseconds: bindTimeout },
  );
  const bindings = [...Map.groupBy(await unbound(), workloadOf)].flatMap(([key, pods]) =>
    pods.map(({ metadata: { name, namespace } }, place) => ({
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name, namespace },
      target: { apiVersion: 'v1', kind: 'Node', name: placement.get(key)?.[place] },
    })),
  );
  const list = { apiVersion: 'v1', kind: 'List', items: bindings };
  await cp.kubectl(['create', '--validate=false', '-f', '-'], JSON.stringify(list));
  await cordonAllBut(cp, new Set(scenarios.flatMap(({ nodes }) => nodes.map(({ name }) => name))));
}

function placeable(scenarios: readonly Scenario[]): readonly ScenarioWorkload[] {
  return scenarios.flatMap(({ workloads }) => workloads.filter(({ kind }) => kind !== 'DaemonSet'));
}

function keyOf({ namespace, name }: ScenarioWorkload): string {
  return `${namespace}/${name}`;
}

function roundsOf(scenario: Scenario): readonly Round[] {
  const open = scenario.nodes.filter((node) => !node.startEmpty).map((node) => node.name);
  const rounds = new Map<string, { readonly allowed: ReadonlySet<string>; readonly workloads: ScenarioWorkload[] }>();
  for (const workload of scenario.workloads) {
    const allowed = [...(workload.startOn ?? open)].sort();
    const key = allowed.join(' ');
    const round = rounds.get(key) ?? { allowed: new Set(allowed), workloads: [] };
    round.workloads.push(workload);
    rounds.set(key, round);
  }
  return [...rounds.values()];
}

/** Cordons and uncordons, and waits until the node controller has followed with its taint. */
async function cordonAllBut(cp: ControlPlane, allowed: ReadonlySet<string>): Promise<void> {
  const nodes = await listNodes(cp);
  const closed = (unschedulable: boolean | undefined) => unschedulable === true;
  const toChange = nodes.filter(({ metadata, spec }) => closed(spec.unschedulable) === allowed.has(metadata.name));
  for (const command of ['cordon', 'uncordon']) {
    const names = toChange
      .map(({ metadata }) => metadata.name)
      .filter((name) => allowed.has(name) === (command === 'uncordon'));
    if (names.length > 0) {
      await cp.kubectl([command, ...names]);
    }
  }
  const missing = async () => {
    const lagging = (await listNodes(cp)).filter(({ metadata, spec }) => {
      const tainted = (spec.taints ?? []).some((taint) => taint.key === 'node.kubernetes.io/unschedulable');
      return tainted === allowed.has(metadata.name);
    });
    return lagging.length === 0 ? undefined : `${lagging.length} nodes`;
  };
  await waitUntil('cordoning nodes', missing, { timeoutMilliseconds: 60_000 });
}

/** What is not bound yet. A pod that slipped onto a node before the scheduler saw the cordon is deleted. */
async function misplacedOrMissing(
  cp: ControlPlane,
  workloads: readonly ScenarioWorkload[],
  allowed: ReadonlySet<string>,
): Promise<string | undefined> {
  const wanted = new Map(workloads.map((workload) => [`${workload.namespace}/${workload.name}`, workload.replicas]));
  const pods = (await listPods(cp)).filter((pod) => wanted.has(workloadOf(pod)));
  const bound = pods.filter((pod) => pod.spec.nodeName !== undefined && pod.metadata.deletionTimestamp === undefined);
  const misplaced = bound.filter((pod) => !allowed.has(pod.spec.nodeName ?? ''));
  for (const { metadata } of misplaced) {
    await cp.kubectl(['delete', 'pod', metadata.name, `--namespace=${metadata.namespace}`, '--wait=false']);
  }
  const total = [...wanted.values()].reduce((sum, replicas) => sum + replicas, 0);
  const rest = total - (bound.length - misplaced.length);
  const waiting = pods.find((pod) => pod.spec.nodeName === undefined);
  const example = waiting === undefined ? '' : `, ${qualifiedName(waiting)} for one; kubectl describe tells why`;
  return rest > 0 ? `${rest} of ${total} pods are not bound${example}` : undefined;
}

function workloadOf({ metadata }: PodState): string {
  return `${metadata.namespace}/${metadata.labels?.[workloadLabel]}`;
}
