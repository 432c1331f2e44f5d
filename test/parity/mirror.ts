import { readLines } from '../../src/adapters/kubernetes/body.ts';
import type { ApiClient } from '../../src/adapters/kubernetes/client.ts';
import { listAll } from '../../src/adapters/kubernetes/list.ts';
import { seconds } from '../../src/model/units.ts';
import { resourceOf } from './kube-api.ts';
import { type KubeObject, keyOf } from './kube-object.ts';

/** All objects of one kind as they are now, kept up to date by a watch. */
export interface Mirror {
  /** By `namespace/name`, or by the name of what has no namespace. */
  get(key: string): KubeObject | undefined;
  all(): readonly KubeObject[];
  /**
   * The first answer of `check` that is not undefined; it is asked now and after each change of any kind. Rejects after the
   * deadline with `goal` and what `state` says then in its message, or when the watch has failed.
   */
  until<Value>(goal: string, check: () => Value | undefined, state?: () => unknown): Promise<Value>;
}

/** How long anything may take that the control plane does by itself: twice the resync of the volume controller. */
const DEADLINE_MILLISECONDS = 30_000;
/** Longer than any campaign. */
const WATCH_SECONDS = 7_200;

/** Somebody who waits for objects to change. */
export interface Waiter {
  readonly ask: () => void;
  readonly fail: (error: Error) => void;
}

/** Lists a kind and follows it until aborted. Mirrors that belong together share those who wait. */
export async function mirror(
  client: ApiClient,
  kind: string,
  waiters: Set<Waiter>,
  signal: AbortSignal,
): Promise<Mirror> {
  const objects = new Map<string, KubeObject>();
  let failure: Error | undefined;
  const from = await fill(client, kind, objects, signal);
  const changed = (): void => {
    for (const waiter of [...waiters]) {
      waiter.ask();
    }
  };
  follow(client, kind, from, objects, changed, signal).catch((error: unknown) => {
    failure = new Error(`the watch of ${kind} has ended`, { cause: error });
    for (const waiter of [...waiters]) {
      waiter.fail(failure);
    }
  });
  return {
    get: (key) => objects.get(key),
    all: () => [...objects.values()],
    until: (goal, check, state) =>
      failure === undefined ? waitFor(waiters, goal, check, state) : Promise.reject(failure),
  };
}

async function fill(
  client: ApiClient,
  kind: string,
  objects: Map<string, KubeObject>,
  signal: AbortSignal,
): Promise<string> {
  const listener = {
    item: (object: unknown) => {
      const known = object as KubeObject; // the API server has checked it
      objects.set(keyOf(known), { ...known, kind });
    },
    restart: () => objects.clear(),
  };
  return (await listAll(client, resourceOf(kind), {}, listener, signal)).resourceVersion;
}

async function follow(
  client: ApiClient,
  kind: string,
  resourceVersion: string,
  objects: Map<string, KubeObject>,
  changed: () => void,
  signal: AbortSignal,
): Promise<never> {
  const query = { watch: 'true', resourceVersion, timeoutSeconds: String(WATCH_SECONDS) };
  const request = { verb: 'watch', target: resourceOf(kind), query, deadline: seconds(WATCH_SECONDS) } as const;
  return await client.open(request, signal, async ({ chunks }) => {
    for await (const line of readLines(chunks)) {
      const { type, object } = JSON.parse(line) as { readonly type: string; readonly object: KubeObject };
      if (type === 'ERROR') {
        throw new Error(JSON.stringify(object));
      }
      if (type === 'DELETED') {
        objects.delete(keyOf(object));
      } else {
        objects.set(keyOf(object), object);
      }
      changed();
    }
    throw new Error('the API server has ended it');
  });
}

function waitFor<Value>(
  waiters: Set<Waiter>,
  goal: string,
  check: () => Value | undefined,
  state: () => unknown = () => '',
): Promise<Value> {
  return new Promise<Value>((resolve, reject) => {
    const fail = (error: Error): void => {
      waiters.delete(waiter);
      clearTimeout(timer);
      reject(error);
    };
    const ask = (): void => {
      try {
        const answer = check();
        if (answer !== undefined) {
          waiters.delete(waiter);
          clearTimeout(timer);
          resolve(answer);
        }
      } catch (error) {
        fail(error instanceof Error ? error : new Error(String(error)));
      }
    };
    const waiter: Waiter = { ask, fail };
    const timer = setTimeout(() => {
      fail(new Error(`${goal}: not within ${DEADLINE_MILLISECONDS / 1000} s: ${JSON.stringify(state())}`));
    }, DEADLINE_MILLISECONDS);
    waiters.add(waiter);
    ask();
  });
}
