import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { PodState } from '../control-plane/cluster-state.ts';
import type { ControlPlane } from '../control-plane/start.ts';

/** One change of a pod, in the order of the API server. */
export interface PodEvent {
  readonly type: string;
  readonly object: PodState;
}

/** A watch that misses nothing until it is stopped. */
export interface PodWatch {
  /** Resolves when it has told of the first pod: no change from then on is missed. */
  readonly begun: Promise<void>;
  /** Ends it. Rejects when the watch did not last until now, or could not be read: then nothing is proved. */
  stop(): Promise<void>;
}

/** Begins to watch all pods: a watch without a resourceVersion tells first what there is, then every change in order. */
export async function watchPods(cp: ControlPlane, take: (event: PodEvent) => void): Promise<PodWatch> {
  const args = [`--kubeconfig=${cp.kubeconfig}`, 'get', '--raw', '/api/v1/pods?watch=true&timeoutSeconds=7200'];
  const child = spawn(cp.bin('kubectl'), args, { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child, 'spawn');
  const begun = Promise.withResolvers<void>();
  const read = async (): Promise<void> => {
    for await (const line of createInterface({ input: child.stdout })) {
      take(parse(line));
      begun.resolve();
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
      begun.resolve();
    });
  return {
    begun: begun.promise,
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

function parse(line: string): PodEvent {
  const event = JSON.parse(line) as PodEvent;
  if (!['ADDED', 'MODIFIED', 'DELETED'].includes(event.type)) {
    throw new Error(`the watch of all pods sent ${event.type}: ${line.slice(0, 500)}`);
  }
  return event;
}
