import { listPods, type PodState } from '../control-plane/cluster-state.ts';
import type { ControlPlane } from '../control-plane/start.ts';
import type { Random } from '../support/random.ts';

/** Millicores that a pod of the disturbed workload uses at most: enough to tilt a node of four cores. */
const MOST_USED = 600;

/** Changes what all pods of a random workload of namespace shop use, so that the balance is gone again. */
export async function changeUsage(cp: ControlPlane, random: Random): Promise<void> {
  const pods = (await listPods(cp)).filter(({ metadata }) => metadata.namespace === 'shop');
  const apps = [...new Set(pods.map(appOf))].sort();
  const app = apps[random.below(apps.length)];
  const names = pods.filter((pod) => appOf(pod) === app).map(({ metadata }) => metadata.name);
  const usage = `kwok.x-k8s.io/usage-cpu=${20 + random.below(MOST_USED)}m`;
  await cp.kubectl(['annotate', 'pod', '-n', 'shop', '--overwrite', ...names, usage]).catch(ignoreGone);
}

/** Makes a random workload of namespace shop one pod larger or smaller. */
export async function changeScale(cp: ControlPlane, random: Random): Promise<void> {
  const names = (await cp.kubectl(['get', 'deployments', '-n', 'shop', '-o', 'name'])).trim().split('\n').sort();
  const name = names[random.below(names.length)] ?? '';
  await cp.kubectl(['scale', '-n', 'shop', name, `--replicas=${2 + random.below(4)}`]);
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
