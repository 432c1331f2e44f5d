import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import {
  type ControllerState,
  hasCondition,
  listBudgets,
  listControllers,
  listNodes,
  type NodeState,
  qualifiedName,
} from './cluster-state.ts';
import { bindWorkloads, type Placement, placeWorkloads } from './initial-placement.ts';
import { missingMetrics } from './node-loads.ts';
import { namespaceObject, nodeObject } from './scenario-objects.ts';
import { parseScenario, type Scenario } from './scenario-parse.ts';
import type { ControlPlane } from './start.ts';
import { type WaitOptions, waitUntil } from './wait-until.ts';

/** Where `applyScenario` and `waitForMetrics` report what they wait for. */
export interface ScenarioOptions {
  readonly log?: (line: string) => void;
}

/** The scenario in a YAML file; throws with what is wrong and where. Its fields are those of scenario-schema.ts. */
export function loadScenario(path: string): Scenario {
  return parseScenario(readFileSync(path, 'utf8'), basename(path).replace(/\.ya?ml$/, ''));
}

/**
 * Creates the nodes and workloads of a scenario and waits until all nodes are Ready and schedulable, all pods are Ready
 * and all disruption budgets have counted them.
 */
export async function applyScenario(
  cp: ControlPlane,
  scenario: Scenario,
  options: ScenarioOptions = {},
): Promise<void> {
  await applyAll(cp, [scenario], () => placeWorkloads(cp, scenario), options);
}

/** Creates the same of several scenarios at once, with the pods where `placement` has them. */
export async function applyPlaced(
  cp: ControlPlane,
  scenarios: readonly Scenario[],
  placement: Placement,
  options: ScenarioOptions = {},
): Promise<void> {
  await applyAll(cp, scenarios, () => bindWorkloads(cp, scenarios, placement), options);
}

async function applyAll(
  cp: ControlPlane,
  scenarios: readonly Scenario[],
  place: () => Promise<void>,
  { log = () => undefined }: ScenarioOptions,
): Promise<void> {
  for (const { name, nodes, workloads } of scenarios) {
    log(`${name}: ${nodes.length} nodes, ${workloads.length} workloads`);
  }
  const waiting: WaitOptions = { timeoutMilliseconds: 300_000, log };
  await cp.apply(
    scenarios.flatMap(({ namespaces, nodes }) => [...namespaces.map(namespaceObject), ...nodes.map(nodeObject)]),
  );
  await waitUntil('waiting for nodes', () => unreadyNodes(cp), waiting);
  const manifests = scenarios.flatMap((scenario) => scenario.manifests);
  if (manifests.length > 0) {
    await cp.apply(manifests);
  }
  await place();
  await waitUntil('waiting for pods', () => unreadyWorkloads(cp), waiting);
}

/**
 * Waits until the metrics API tells the truth about what runs now: every running pod has PodMetrics, every node with
 * pods has NodeMetrics (an empty one never has), and they agree. Some 30 s after the last pod started.
 */
export async function waitForMetrics(cp: ControlPlane, { log }: ScenarioOptions = {}): Promise<void> {
  const missing = () => missingMetrics(cp).catch((error: unknown) => String(error));
  await waitUntil('waiting for metrics', missing, { timeoutMilliseconds: 180_000, ...(log && { log }) });
}

async function unreadyNodes(cp: ControlPlane): Promise<string | undefined> {
  const unready = (await listNodes(cp)).filter((node) => !hasCondition(node, 'Ready') || isTainted(node));
  return unready.length === 0 ? undefined : `${unready.length} nodes are not Ready`;
}

/** A new node is not Ready, and the taint for that goes a moment after the condition. */
function isTainted({ spec }: NodeState): boolean {
  return (spec.taints ?? []).some((taint) => taint.key === 'node.kubernetes.io/not-ready');
}

async function unreadyWorkloads(cp: ControlPlane): Promise<string | undefined> {
  const [controllers, budgets] = await Promise.all([listControllers(cp), listBudgets(cp)]);
  const unready = controllers.filter((controller) => !isReady(controller)).map(qualifiedName);
  const uncounted = budgets.filter(({ metadata, status }) => {
    return status?.observedGeneration !== metadata.generation || status?.currentHealthy !== status?.expectedPods;
  });
  const waiting = [...unready, ...uncounted.map((budget) => `budget ${qualifiedName(budget)}`)];
  return waiting.length === 0 ? undefined : `${waiting.length} not ready: ${waiting.slice(0, 5).join(', ')}`;
}

function isReady({ kind, metadata, spec, status }: ControllerState): boolean {
  if (status.observedGeneration !== metadata.generation) {
    return false;
  }
  return kind === 'DaemonSet'
    ? (status.desiredNumberScheduled ?? 0) > 0 && status.numberReady === status.desiredNumberScheduled
    : (status.readyReplicas ?? 0) === (spec.replicas ?? 1);
}
