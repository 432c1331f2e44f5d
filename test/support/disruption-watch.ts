import { hasCondition, qualifiedName } from '../control-plane/cluster-state.ts';
import type { ControlPlane } from '../control-plane/start.ts';
import { type PodEvent, watchPods } from './object-watch.ts';

/** A Ready pod that is Ready no more, or is being deleted. */
export interface Loss {
  readonly uid: string;
  /** `namespace/name` of the pod. */
  readonly pod: string;
  /** `namespace/app` of the pod. */
  readonly workload: string;
  /** Ready pods of the workload that were left at that instant, without those being deleted. */
  readonly left: number;
}

/** Follows every change of every pod, so that no state in between is missed. */
export interface DisruptionWatch {
  /** All losses so far, in the order of the API server. */
  readonly losses: readonly Loss[];
  /** `namespace/name` of the pods that were seen to go, also of those that had never been Ready. */
  readonly gone: ReadonlySet<string>;
  /** Ends it. Rejects when the watch did not last until now, or could not be read: then nothing is proved. */
  stop(): Promise<void>;
}

/** Begins to watch all pods, of which there has to be one. */
export async function watchDisruptions(cp: ControlPlane): Promise<DisruptionWatch> {
  const losses: Loss[] = [];
  const gone = new Set<string>();
  /** UIDs of the healthy pods by workload. */
  const healthy = new Map<string, Set<string>>();
  const watch = await watchPods(cp, (event) => {
    take(event, healthy, losses);
    if (event.type === 'DELETED' || event.object.metadata.deletionTimestamp !== undefined) {
      gone.add(qualifiedName(event.object));
    }
  });
  await watch.begun;
  return { losses, gone, stop: watch.stop };
}

function take({ type, object }: PodEvent, healthy: Map<string, Set<string>>, losses: Loss[]): void {
  const { uid, namespace, labels, deletionTimestamp } = object.metadata;
  const workload = `${namespace}/${labels?.['app']}`;
  const pods = healthy.get(workload) ?? new Set<string>();
  healthy.set(workload, pods);
  if (type !== 'DELETED' && deletionTimestamp === undefined && hasCondition(object, 'Ready')) {
    pods.add(uid);
  } else if (pods.delete(uid)) {
    losses.push({ uid, pod: qualifiedName(object), workload, left: pods.size });
  }
}
