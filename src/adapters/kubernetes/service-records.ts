import { isObject, type JsonObject, MalformedField } from '../../model/json.ts';
import type { Labels } from '../../model/selector.ts';
import { epochSeconds, type Seconds, seconds } from '../../model/units.ts';
import { createInterner } from '../../observe/interner.ts';
import { KINDS, type SnapshotKind } from '../../observe/kind-table.ts';
import { createPodHistory, type PodHistory } from '../../observe/pod-history.ts';
import { nameForPeople } from '../../observe/project/metadata.ts';
import { projectNamespace } from '../../observe/project/namespace.ts';
import { projectNode } from '../../observe/project/node.ts';
import { projectPodSighting } from '../../observe/project/pod-sighting.ts';
import { type ProjectedRequest, projectRequest } from '../../observe/project/request.ts';
import { type ProjectedServiceClass, projectServiceClass } from '../../observe/project/service-class.ts';
import { WORKLOAD_KINDS } from '../../observe/project/workload.ts';
import { assembleServiceView } from '../../observe/service-requests.ts';
import { type Clock, type ServiceRecords, StaleCacheError } from '../../ports.ts';
import type { Reflection } from './reflector.ts';
import type { SharedReflectors } from './shared-reflectors.ts';
import { areOursMissing } from './snapshot-sources.ts';

/** Nothing is counted by what has been cut off for longer. */
const MAX_AGE: Seconds = seconds(60);
/**
 * How long a replica that waits to lead remembers pods that have gone: longer than a leader takes to count them, and another one to take
 * over from it.
 */
const MEMORY: Seconds = seconds(900);
/** How often it forgets the older ones. */
const FORGET_INTERVAL: Seconds = seconds(60);

/** What the watches tell, besides to `view`. */
export interface RecordsListener {
  /** ServiceClasses could not be listed or watched, which is tried again; or an object not be read, which is a bug. */
  failed(resource: string, error: unknown): void;
  /** An object cannot be read: its workload has no ledger. */
  unreadable(problem: string): void;
}

/** What is kept of one kind; undefined of an object that cannot be read. */
type Kept<Value> = Reflection<Value | undefined>;

/** What is kept of each kind. */
interface Watches {
  readonly classes: Kept<ProjectedServiceClass>;
  readonly namespaces: Kept<{ readonly name: string; readonly labels: Labels }>;
  readonly workloads: readonly Kept<ProjectedRequest>[];
  /** What is needed besides classes as soon as there is one. */
  readonly others: readonly Reflection<unknown>[];
}

/** What handlers tell. */
interface Told extends RecordsListener {
  changed(): void;
  /** ServiceClasses are not served, or may not be read. */
  missing(): void;
}

/**
 * Shares the watches of the planner's caches, which keep no finished pods and forget what is gone: here each version of a pod is
 * taken in as it comes, so that what happens between two looks is not lost. Without a ServiceClass nothing but those is watched
 * for ledgers, and finished pods are not even asked for. The failures of shared watches are for the caches to report.
 */
export function createServiceRecords(
  reflectors: SharedReflectors,
  clock: Clock,
  listener: RecordsListener,
): ServiceRecords {
  const history = createPodHistory();
  let follower: (() => void) | undefined;
  let isMissing = false;
  let forgotAt = clock.now();
  const needed = Promise.withResolvers<void>();
  const ring = (): void => {
    if (classes.entries.size > 0) {
      needed.resolve();
    }
    if (follower === undefined) {
      forget();
    } else if (neededNow().every(({ age }) => age !== undefined)) {
      follower();
    }
  };
  const forget = (): void => {
    const now = clock.now();
    if (now >= forgotAt + FORGET_INTERVAL) {
      forgotAt = now;
      history.forgetGone(epochSeconds(Math.floor(now - MEMORY)));
    }
  };
  const told: Told = {
    ...listener,
    changed: ring,
    missing: () => {
      isMissing = true;
    },
  };
  const watches = watchesFor(reflectors, history, clock, told);
  const { classes, others } = watches;
  const neededNow = () => (classes.entries.size === 0 ? [classes] : [classes, ...others]);
  return {
    async watch(signal) {
      const stopped = () => needed.resolve();
      signal.addEventListener('abort', stopped, { once: true });
      if (signal.aborted) {
        stopped();
      }
      const rest = needed.promise.then(() => Promise.all(others.map((each) => each.run(signal))));
      await Promise.all([classes.run(signal), rest]);
    },
    follow(changed, signal) {
      follower = changed;
      signal.addEventListener('abort', () => {
        follower = follower === changed ? undefined : follower;
      });
      ring();
    },
    view() {
      if (classes.age === undefined && isMissing) {
        return undefined;
      }
      requireFresh(neededNow());
      return viewOf(watches, history);
    },
    counted: history.counted,
  };
}

function watchesFor(reflectors: SharedReflectors, history: PodHistory, clock: Clock, told: Told): Watches {
  const interner = createInterner();
  const keep = <Value>(kind: SnapshotKind, project: (object: JsonObject) => Value): Kept<Value> =>
    reflectors.of(kind).handle({ ...quiet(told), read: readerOf(kind, project, told) });

  const nodes = keep('Node', (object) => new Set(projectNode(object, interner).images.keys()));
  const namespaces = keep('Namespace', (object) => projectNamespace(object, interner));
  const workloads = WORKLOAD_KINDS.map((kind) => keep(kind, (object) => projectRequest(object, kind)));
  const readPod = readerOf('Pod', (object) => see(object, nodes, history), told);
  const gone = (object: unknown): void => {
    const uid = uidOf(object);
    if (uid !== undefined) {
      history.deleted(uid, epochSeconds(Math.floor(clock.now())));
    }
  };
  /** UIDs of pods that have a controller. */
  const pods: Kept<string> = reflectors.of('Pod').handle({
    ...quiet(told),
    read(object) {
      const uid = readPod(object);
      if (uid === undefined) {
        // Its controller has let it go, or it cannot be read.
        gone(object);
      }
      return uid;
    },
    removed(object) {
      // Its last state may be one of which no other event has told.
      readPod(object);
      gone(object);
    },
    replaced: () => history.existing(new Set(valuesOf(pods))),
  });
  const classes = reflectors.of('ServiceClass').handle({
    ...quiet(told),
    read: readerOf('ServiceClass', projectServiceClass, told),
    failed(error) {
      if (areOursMissing(error)) {
        told.missing();
      } else {
        told.failed(KINDS.ServiceClass.resource, error);
      }
    },
  });
  return { classes, namespaces, workloads, others: [nodes, namespaces, pods, ...workloads] };
}

function quiet({ changed }: Told) {
  return { changed, failed: () => undefined, drifted: () => undefined };
}

/** Undefined for an object that cannot be read. */
function readerOf<Value>(
  kind: SnapshotKind,
  project: (object: JsonObject) => Value,
  told: Told,
): (object: unknown) => Value | undefined {
  return (object) => {
    try {
      return project(isObject(object) ? object : {});
    } catch (error) {
      const { resource } = KINDS[kind];
      if (error instanceof MalformedField) {
        told.unreadable(`${resource} ${nameForPeople(object)}: ${error.message}`);
      } else {
        // A bug of ours must not end the watch of all other objects.
        told.failed(resource, error);
      }
      return undefined;
    }
  };
}

/** Takes in a version of a pod. The UID of a pod that has a controller. */
function see(object: JsonObject, nodes: Kept<ReadonlySet<string>>, history: PodHistory): string | undefined {
  const owned = projectPodSighting(object, (node) => nodes.entries.get(node)?.value);
  if (owned !== undefined) {
    history.saw(owned);
  }
  return owned?.seen.uid;
}

function uidOf(object: unknown): string | undefined {
  const uid = isObject(object) && isObject(object['metadata']) ? object['metadata']['uid'] : undefined;
  return typeof uid === 'string' ? uid : undefined;
}

function viewOf({ classes, namespaces, workloads }: Watches, history: PodHistory) {
  const view = assembleServiceView({
    classes: valuesOf(classes),
    workloads: workloads.flatMap(valuesOf),
    namespaces: valuesOf(namespaces),
    pods: history.records(),
  });
  history.keepEnded(new Set(view.requests.flatMap(({ record }) => record.pods.map(({ uid }) => uid))));
  return view;
}

function valuesOf<Value>({ entries }: Kept<Value>): readonly Value[] {
  return [...entries.values()].flatMap(({ value }) => (value === undefined ? [] : [value]));
}

/** Throws StaleCacheError that names what cannot be trusted, and why. */
function requireFresh(needed: readonly Reflection<unknown>[]): void {
  const stale = needed.filter(({ age }) => age === undefined || age > MAX_AGE);
  if (stale.length > 0) {
    const names = stale.map(({ name, trouble }) => (trouble === undefined ? name : `${name} (${trouble})`));
    throw new StaleCacheError(`workloads are not known well enough: ${names.join('; ')}`);
  }
}
