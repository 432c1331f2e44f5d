import { listPods, type PodState } from '../control-plane/cluster-state.ts';
import type { ControlPlane } from '../control-plane/start.ts';
import type { Random } from '../support/random.ts';
import type { PlanLog } from './plan-log.ts';

/** Millicores that a pod of the disturbed workload uses at most: enough to tilt a node of four cores. */
const MOST_USED = 600;
const USAGE = 'kwok.x-k8s.io/usage-cpu';
const NOT_READY = 'evenkeel.dev/test-not-ready';

/** What the pods of some workloads of namespace shop use now, other than their templates say. */
export type Usages = Map<string, string>;

/** Changes what all pods of a random workload of namespace shop use, so that the balance is gone again; records it in `usages`. */
export async function changeUsage(cp: ControlPlane, random: Random, usages: Usages = new Map()): Promise<void> {
  const apps = [...new Set((await podsOfShop(cp)).map(appOf))].sort();
  const app = apps[random.below(apps.length)] ?? '';
  usages.set(app, `${20 + random.below(MOST_USED)}m`);
  await applyUsages(cp, new Map([...usages].filter(([each]) => each === app)));
}

/**
 * Lets pods that were made since use what their workload does: load follows the workload wherever its pods are moved, as it
 * does in truth. A change of the template would do that, too, but as a rollout.
 */
async function applyUsages(cp: ControlPlane, usages: ReadonlyMap<string, string>): Promise<void> {
  const pods = await podsOfShop(cp);
  for (const [app, usage] of usages) {
    const others = pods.filter((pod) => appOf(pod) === app && pod.metadata.annotations?.[USAGE] !== usage);
    const names = others.map(({ metadata }) => metadata.name);
    if (names.length > 0) {
      await cp
        .kubectl(['annotate', 'pod', '-n', 'shop', '--overwrite', ...names, `${USAGE}=${usage}`])
        .catch(ignoreGone);
    }
  }
}

/** A log of plans that lets load follow its workloads whenever it looks: where it did not, each move would upset the balance anew. */
export function withLoad(plans: PlanLog, cp: ControlPlane, usages: Usages): PlanLog {
  return {
    ...plans,
    look: async () => {
      await applyUsages(cp, usages);
      await plans.look();
    },
  };
}

async function podsOfShop(cp: ControlPlane): Promise<readonly PodState[]> {
  return (await listPods(cp)).filter(
    ({ metadata }) => metadata.namespace === 'shop' && metadata.deletionTimestamp === undefined,
  );
}

/** Makes a random workload of namespace shop one pod larger or smaller. */
export async function changeScale(cp: ControlPlane, random: Random): Promise<void> {
  const names = (await cp.kubectl(['get', 'deployments', '-n', 'shop', '-o', 'name'])).trim().split('\n').sort();
  const name = names[random.below(names.length)] ?? '';
  await cp.kubectl(['scale', '-n', 'shop', name, `--replicas=${2 + random.below(4)}`]);
}

/** The kubelet of a node reports no good any more: its pods are not Ready, and in the end taken from it. */
export async function stopKubelet(cp: ControlPlane, node: string): Promise<void> {
  await cp.kubectl(['annotate', 'node', node, `${NOT_READY}=`]);
  const status = { conditions: [{ type: 'Ready', status: 'False', reason: 'KubeletStopped', message: 'a test' }] };
  const patch = JSON.stringify({ status });
  await cp.kubectl(['patch', 'node', node, '--subresource=status', '--type=strategic', '-p', patch]);
}

/** It does again. */
export async function startKubelet(cp: ControlPlane, node: string): Promise<void> {
  await cp.kubectl(['annotate', 'node', node, `${NOT_READY}-`]);
}

function appOf({ metadata }: PodState): string {
  return metadata.labels?.['app'] ?? '';
}

/** A pod may be gone by the time that it is changed. */
function ignoreGone(error: unknown): void {
  if (!String(error).includes('not found')) {
    throw error;
  }
}
