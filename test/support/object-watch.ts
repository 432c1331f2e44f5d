import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { PodState } from '../control-plane/cluster-state.ts';
import type { ControlPlane } from '../control-plane/start.ts';

/** One change of an object, in the order of the API server. */
export interface ObjectEvent<Value> {
  readonly type: string;
  readonly object: Value;
}

/** One change of a pod, in the order of the API server. */
export type PodEvent = ObjectEvent<PodState>;

/** A watch that misses nothing until it is stopped. */
export interface ObjectWatch {
  /** Resolves when it has told of the first object: no change from then on is missed. */
  readonly begun: Promise<void>;
  /** Ends it. Rejects when the watch did not last until now, or could not be read: then nothing is proved. */
  stop(): Promise<void>;
}

/** Begins to watch all pods. */
export function watchPods(cp: ControlPlane, take: (event: PodEvent) => void): Promise<ObjectWatch> {
  return watchObjects(cp, '/api/v1/pods', take);
}

/**
 * Begins to watch the objects under a path, for a day at most: a watch without a resourceVersion tells first what there is, then
 * every change in order.
 */
export async function watchObjects<Value>(
  cp: Pick<ControlPlane, 'kubeconfig' | 'bin'>,
  path: string,
  take: (event: ObjectEvent<Value>) => void,
): Promise<ObjectWatch> {
  const args = [`--kubeconfig=${cp.kubeconfig}`, 'get', '--raw', `${path}?watch=true&timeoutSeconds=86400`];
  const child = spawn(cp.bin('kubectl'), args, { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child, 'spawn');
  const begun = Promise.withResolvers<void>();
  const read = async (): Promise<void> => {
    for await (const line of createInterface({ input: child.stdout })) {
      take(parse<Value>(line, path));
      begun.resolve();
    }
  };
  let failure: unknown;
  let isOver = false;
  let isStopping = false;
  const reading = read()
    .catch((error: unknown) => {
      // What is being sent while the watch is stopped is cut off.
      failure = isStopping && error instanceof SyntaxError ? undefined : error;
    })
    .finally(() => {
      isOver = true;
      begun.resolve();
    });
  return {
    begun: begun.promise,
    async stop() {
      const wasOver = isOver;
      isStopping = true;
      child.kill();
      await reading;
      if (failure !== undefined || wasOver) {
        throw new Error(`the watch of ${path} ended early`, { cause: failure });
      }
    },
  };
}

function parse<Value>(line: string, path: string): ObjectEvent<Value> {
  const event = JSON.parse(line) as ObjectEvent<Value>;
  if (!['ADDED', 'MODIFIED', 'DELETED'].includes(event.type)) {
    throw new Error(`the watch of ${path} sent ${event.type}: ${line.slice(0, 500)}`);
  }
  return event;
}
