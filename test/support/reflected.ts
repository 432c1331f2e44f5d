import type { Diff } from '../../src/adapters/kubernetes/object-table.ts';
import { type Reflection, Reflector } from '../../src/adapters/kubernetes/reflector.ts';
import { nameForPeople } from '../../src/observe/project/metadata.ts';
import { type FakeWatchServer, fakeWatchServer } from './fake-watch-server.ts';
import { type TestClock, testClock } from './test-clock.ts';

/** A reflector of a fake server, and what it said. */
export interface ReflectedServer {
  readonly clock: TestClock;
  readonly server: FakeWatchServer;
  readonly shared: Reflector;
  /** What it keeps for its first handler. */
  readonly reflector: Reflection<unknown>;
  readonly failures: unknown[];
  readonly drifts: Diff[];
  /** Names of the objects that it said were deleted. */
  readonly removals: string[];
  /** How often it said that something changed. */
  changes(): number;
  /** What the reflector holds, as `name uid resourceVersion`. */
  held(): readonly string[];
  /** What the server holds. */
  stored(): readonly string[];
  /** One more handler joins; what the late handlers hold, each as `held` says it. */
  join(): void;
  heldByLate(): readonly (readonly string[])[];
  stop(): Promise<void>;
}

/** Starts a reflector of a server with these objects; nothing runs until the clock moves. */
export function reflect(names: readonly string[] = ['a', 'b', 'c', 'd'], random = () => 0.5): ReflectedServer {
  const clock = testClock();
  const server = fakeWatchServer(clock, random);
  names.forEach((name) => {
    server.put(name);
  });
  const failures: unknown[] = [];
  const drifts: Diff[] = [];
  const removals: string[] = [];
  let changes = 0;
  const target = { group: '', version: 'v1', resource: 'things' };
  const shared = new Reflector(server.client, { target, metadataOnly: false });
  const quiet = { read: (object: unknown) => object, changed: () => undefined, failed: () => undefined };
  const late: Reflection<unknown>[] = [];
  const reflector = shared.handle<unknown>({
    read: (object) => object,
    removed: (object) => removals.push(nameForPeople(object)),
    changed: () => {
      changes += 1;
    },
    failed: (error) => failures.push(error),
    drifted: (diff) => drifts.push(diff),
  });
  const controller = new AbortController();
  const running = [reflector.run(controller.signal)];
  return {
    clock,
    server,
    shared,
    reflector,
    failures,
    drifts,
    removals,
    changes: () => changes,
    held: () => contentOf(reflector),
    join() {
      const reflection = shared.handle<unknown>({ ...quiet, drifted: () => undefined });
      late.push(reflection);
      running.push(reflection.run(controller.signal));
    },
    heldByLate: () => late.map(contentOf),
    stored: () =>
      [...server.objects].map(([name, { metadata }]) => `${name} ${metadata.uid} ${metadata.resourceVersion}`).sort(),
    async stop() {
      controller.abort();
      await Promise.all(running);
    },
  };
}

function contentOf({ entries }: Reflection<unknown>): readonly string[] {
  return [...entries].map(([name, { uid, resourceVersion }]) => `${name} ${uid} ${resourceVersion}`).sort();
}
