import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { hasCondition, type PodState, qualifiedName } from '../control-plane/cluster-state.ts';
import type { ControlPlane } from '../control-plane/start.ts';

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

interface PodEvent {
  readonly type: string;
  readonly object: PodState;
}

/** Begins to watch all pods: a watch without a resourceVersion tells first what there is, then every change in order. */
export async function watchDisruptions(cp: ControlPlane): Promise<DisruptionWatch> {
  const args = [`--kubeconfig=${cp.kubeconfig}`, 'get', '--raw', '/api/v1/pods?watch=true&timeoutSeconds=3600'];
  const child = spawn(cp.bin('kubectl'), args, { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child, 'spawn');
  const losses: Loss[] = [];
  const gone = new Set<string>();
  /** UIDs of the healthy pods by workload. */
  const healthy = new Map<string, Set<string>>();
  const read = async (): Promise<void> => {
    for await (const line of createInterface({ input: child.stdout })) {
      const event = JSON.parse(line) as PodEvent;
      take(event, healthy, losses);
      if (event.type === 'DELETED' || event.object.metadata.deletionTimestamp !== undefined) {
        gone.add(qualifiedName(event.object));
      }
    }
  };
  let failure: unknown;
  let isOver = false;
  const reading = read()
    .catch((error: unknown) => {
      failure = error;
    })
    .finally(() => {
      isOver = true;
    });
  return {
    losses,
    gone,
    async stop() {
      const wasOver = isOver;
      child.kill();
      await reading;
      if (failure !== undefined || wasOver) {
        throw new Error('the watch of all pods ended early', { cause: failure });
      }
    },
  };
}

function take({ type, object }: PodEvent, healthy: Map<string, Set<string>>, losses: Loss[]): void {
  if (!['ADDED', 'MODIFIED', 'DELETED'].includes(type)) {
    throw new Error(`the watch of all pods sent ${type}: ${JSON.stringify(object)}`);
  }
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
