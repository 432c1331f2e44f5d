import { isObject, MalformedField } from '../../model/json.ts';
import type { Labels } from '../../model/selector.ts';
import { type EpochSeconds, epochSeconds, type Seconds, seconds } from '../../model/units.ts';
import { assembleByPriorityClass } from '../../observe/assemble-service-levels.ts';
import { createInterner } from '../../observe/interner.ts';
import { nameForPeople } from '../../observe/project/metadata.ts';
import { projectNamespace } from '../../observe/project/namespace.ts';
import { projectNode } from '../../observe/project/node.ts';
import { projectPodSighting } from '../../observe/project/pod-sighting.ts';
import { type ProjectedRequest, projectRequest } from '../../observe/project/request.ts';
import { type ProjectedServiceClass, projectServiceClass } from '../../observe/project/service-class.ts';
import { WORKLOAD_KINDS } from '../../observe/project/workload.ts';
import { gatherRequests, type OwnedRecord } from '../../observe/service-requests.ts';
import type { ServiceRecords, ServiceView } from '../../ports.ts';
import { withoutTrace, withSighting } from '../../qos/ledger-history.ts';
import type { ApiClient } from './client.ts';
import { StaleCacheError } from './freshness.ts';
import { Reflector } from './reflector.ts';
import { RESOURCES, type ResourceRef } from './resource.ts';
import { areOursMissing } from './snapshot-sources.ts';

/** Nothing is counted by what has been cut off for longer. */
const MAX_AGE: Seconds = seconds(60);

/** What the watches tell, besides to `view`. */
export interface RecordsListener {
  /** A list or a watch failed; it is tried again. */
  failed(resource: string, error: unknown): void;
  /** An object cannot be read: its workload has no ledger. */
  unreadable(problem: string): void;
}

/**
 * Watches of its own: the caches of plans hold no finished pods, and forget what is gone. Each version of a pod is taken in as
 * it comes, so that what happens between two looks is not lost. Without a ServiceClass nothing but those is watched.
 */
export function createServiceRecords(client: ApiClient, listener: RecordsListener): ServiceRecords {
  const interner = createInterner();
  const history = new Map<string, OwnedRecord>();
  const counted = new Set<string>();
  const now = (): EpochSeconds => epochSeconds(Math.floor(client.options.clock.now()));
  let ring = (): void => undefined;
  let isMissing = false;

  function reflect<Value>(
    target: ResourceRef,
    project: (object: Readonly<Record<string, unknown>>) => Value,
    removed: (object: unknown) => void = () => undefined,
  ): Reflector<Value | undefined> {
    const read = (object: unknown): Value | undefined => {
      try {
        return project(isObject(object) ? object : {});
      } catch (error) {
        if (error instanceof MalformedField) {
          listener.unreadable(`${target.resource} ${nameForPeople(object)}: ${error.message}`);
        } else {
          // A bug of ours must not end the watch of all other objects.
          listener.failed(target.resource, error);
        }
        return undefined;
      }
    };
    const heard = {
      changed: () => ring(),
      failed(error: unknown) {
        isMissing ||= target === RESOURCES.ServiceClass && areOursMissing(error);
        if (target !== RESOURCES.ServiceClass || !areOursMissing(error)) {
          listener.failed(target.resource, error);
        }
      },
      drifted: () => undefined,
    };
    const gone = (object: unknown): void => {
      // Its last state may be one of which no other event has told.
      read(object);
      removed(object);
    };
    return new Reflector(client, { target, query: {}, metadataOnly: false, read, removed: gone }, heard);
  }

  function take(object: unknown): string | undefined {
    const owned = projectPodSighting(isObject(object) ? object : {}, (node) => nodes.entries.get(node)?.value);
    if (owned === undefined) {
      return undefined;
    }
    const { seen, owner, priorityClassName } = owned;
    if (!counted.has(seen.uid)) {
      history.set(seen.uid, { pod: withSighting(history.get(seen.uid)?.pod, seen), owner, priorityClassName });
    }
    return seen.uid;
  }

  function miss(uid: string, at: EpochSeconds | undefined): void {
    const known = history.get(uid);
    if (known !== undefined) {
      history.set(uid, { ...known, pod: withoutTrace(known.pod, at) });
    }
  }

  const classes = reflect(RESOURCES.ServiceClass, projectServiceClass);
  const nodes = reflect(RESOURCES.Node, (object) => new Set(projectNode(object, interner).images.keys()));
  const namespaces = reflect(RESOURCES.Namespace, (object) => projectNamespace(object, interner));
  const pods = reflect(RESOURCES.Pod, take, (object) => {
    const uid = isObject(object) && isObject(object['metadata']) ? object['metadata']['uid'] : undefined;
    if (typeof uid === 'string') {
      miss(uid, now());
    }
  });
  const workloads = WORKLOAD_KINDS.map((kind) => reflect(RESOURCES[kind], (object) => projectRequest(object, kind)));
  const watched = [nodes, namespaces, pods, ...workloads];

  function requireFresh(needed: readonly Pick<Reflector<unknown>, 'age' | 'name' | 'trouble'>[]): void {
    const stale = needed.filter(({ age }) => age === undefined || age > MAX_AGE);
    if (stale.length > 0) {
      const names = stale.map(({ name, trouble }) => (trouble === undefined ? name : `${name} (${trouble})`));
      throw new StaleCacheError(`workloads are not known well enough: ${names.join('; ')}`);
    }
  }

  function neededNow(): readonly Pick<Reflector<unknown>, 'age' | 'name' | 'trouble'>[] {
    return classes.entries.size === 0 ? [classes] : [classes, ...watched];
  }

  /** Of pods that are gone only those are remembered that a ledger is yet to count. */
  function forgetGone({ requests }: ServiceView): void {
    const awaited = new Set(requests.flatMap(({ record }) => record.pods.map(({ uid }) => uid)));
    for (const [uid, { pod }] of history) {
      if (pod.end !== undefined && !awaited.has(uid)) {
        history.delete(uid);
      }
    }
  }

  /** Forgets pods that are gone and were counted; marks those that a new list no longer has. */
  function settleHistory(): void {
    const there = new Set([...pods.entries.values()].flatMap(({ value }) => value ?? []));
    for (const uid of history.keys()) {
      if (!there.has(uid)) {
        miss(uid, undefined);
      }
    }
    for (const uid of counted) {
      if (!there.has(uid)) {
        counted.delete(uid);
      }
    }
  }

  return {
    async run(changed, signal) {
      const needed = Promise.withResolvers<void>();
      ring = () => {
        if (classes.entries.size > 0) {
          needed.resolve();
        }
        if (neededNow().every(({ age }) => age !== undefined)) {
          changed();
        }
      };
      const stopped = () => needed.resolve();
      signal.addEventListener('abort', stopped, { once: true });
      if (signal.aborted) {
        stopped();
      }
      const rest = needed.promise.then(() => Promise.all(watched.map((each) => each.run(signal))));
      await Promise.all([classes.run(signal), rest]);
      signal.removeEventListener('abort', stopped);
    },
    view() {
      if (classes.age === undefined && isMissing) {
        return undefined;
      }
      requireFresh(neededNow());
      settleHistory();
      const view = viewOf(
        valuesOf(classes),
        new Map(workloads.flatMap(valuesOf).map((workload) => [workload.self.uid, workload])),
        new Map(valuesOf(namespaces).map(({ name, labels }) => [name, labels])),
        history.values(),
      );
      forgetGone(view);
      return view;
    },
    counted({ pods: records }) {
      for (const { uid } of records.filter(({ end }) => end !== undefined)) {
        history.delete(uid);
        counted.add(uid);
      }
    },
  };
}

function valuesOf<Value>({ entries }: Reflector<Value | undefined>): readonly Value[] {
  return [...entries.values()].flatMap(({ value }) => (value === undefined ? [] : [value]));
}

function viewOf(
  classes: readonly ProjectedServiceClass[],
  workloads: ReadonlyMap<string, ProjectedRequest>,
  namespaces: ReadonlyMap<string, Labels>,
  pods: Iterable<OwnedRecord>,
): ServiceView {
  const problems = new Set<string>();
  const byPriorityClass = assembleByPriorityClass(classes, problems);
  const { classed, recordOf } = gatherRequests({ workloads, pods, namespaces, byPriorityClass });
  return {
    classes: new Map(classes.map((each) => [each.terms.name, each])),
    requests: classed,
    recordOf: ({ namespace, owner }) =>
      recordOf(owner.uid) ?? {
        namespace,
        owner,
        createdAt: epochSeconds(0),
        desired: 0,
        completedAt: undefined,
        pods: [],
      },
    problems: [...problems],
  };
}
