import type { LedgerMode } from '../../../src/model/service-level.ts';
import { epochSeconds } from '../../../src/model/units.ts';
import type { PodSighting } from '../../../src/qos/ledger-history.ts';
import type { RequestRecord } from '../../../src/qos/ledger-record.ts';

/** Milliseconds since the beginning. */
type Millis = number;

/** When worlds begin, in seconds since 1970. */
export const EPOCH = 1_800_000_000;

/** A pod as it really is. */
interface RealPod {
  readonly uid: string;
  readonly createdAt: Millis;
  ready: boolean;
  readySince: Millis;
  startedAt: Millis | undefined;
  stoppedAt: Millis | undefined;
  /** When it was asked to go, or finished. */
  askedAt: Millis | undefined;
  succeeded: boolean;
  /** Its object is gone from the API server. */
  isGone: boolean;
  /** Useful run time so far. */
  run: Millis;
}

/** Seconds of service as they really were. */
export interface Truth {
  useful: number;
  discarded: number;
  pending: number;
}

/** A workload whose every millisecond is known, and what an API server, which writes whole seconds, would record of it. */
export interface World {
  readonly now: Millis;
  readonly truth: Truth;
  /** Changes of what runs or is wanted, each of which the record shows to the second. */
  readonly changes: number;
  readonly desired: number;
  at(when: Millis, action: () => void): void;
  runUntil(until: Millis): void;
  scale(replicas: number): void;
  /** Asks a pod to go; its object stays for `grace`. The controller replaces it at once. */
  remove(place: number, grace: Millis): void;
  /** Restarts the container of a pod. */
  restart(place: number, span: Millis): void;
  /** The node of a pod is lost for `span`; its Ready condition says so. */
  isolate(place: number, span: Millis): void;
  /** A pod does its work and ends, and with it its instance; in mode Task. */
  complete(place: number): void;
  /** Replaces all pods, one by one, with one more than wanted. */
  rollOut(): void;
  /** UIDs of pods that the server has. */
  uids(): readonly string[];
  sighting(uid: string): PodSighting | undefined;
  request(): Omit<RequestRecord, 'pods'>;
  /** Hears each new version of a pod, and `undefined` when it is gone. */
  onVersion: (uid: string) => void;
}

/** A world of `mode` whose pods take `startup` to be Ready; `startup` is asked for each. */
export function createWorld(mode: LedgerMode, replicas: number, startup: () => Millis): World {
  const pods = new Map<string, RealPod>();
  const queue: { readonly when: Millis; readonly sequence: number; readonly action: () => void }[] = [];
  const truth: Truth = { useful: 0, discarded: 0, pending: 0 };
  let [now, desired, serial, sequence, changes] = [0, 0, 0, 0, 0];

  const living = (): RealPod[] => [...pods.values()].filter(({ askedAt, isGone }) => askedAt === undefined && !isGone);
  const pick = (place: number): RealPod | undefined => living()[place % Math.max(1, living().length)];

  function account(span: Millis): void {
    const running = living()
      .filter(({ ready }) => ready)
      .slice(0, desired);
    const counts = mode !== 'Concurrent' || running.length === desired;
    for (const pod of counts ? running : []) {
      pod.run += span;
    }
    truth.useful += ((counts ? running.length : 0) * span) / 1000;
    truth.pending += ((counts ? desired - running.length : desired) * span) / 1000;
  }

  function tell(pod: RealPod): void {
    changes += 1;
    world.onVersion(pod.uid);
  }

  function schedule(when: Millis, action: () => void): void {
    queue.push({ when: Math.max(when, now), sequence, action });
    sequence += 1;
    queue.sort((left, right) => left.when - right.when || left.sequence - right.sequence);
  }

  function create(): RealPod {
    serial += 1;
    const uid = `p${String(serial).padStart(5, '0')}`;
    const fresh = { createdAt: now, readySince: now, startedAt: undefined, stoppedAt: undefined, askedAt: undefined };
    const pod: RealPod = { uid, ...fresh, ready: false, succeeded: false, isGone: false, run: 0 };
    pods.set(uid, pod);
    tell(pod);
    schedule(now + startup(), () => {
      if (pod.askedAt === undefined && !pod.isGone) {
        pod.startedAt = now;
        turn(pod, true);
      }
    });
    return pod;
  }

  function turn(pod: RealPod, ready: boolean): void {
    if (pod.ready !== ready && pod.askedAt === undefined && !pod.isGone) {
      pod.ready = ready;
      pod.readySince = now;
      tell(pod);
    }
  }

  function lose(pod: RealPod): void {
    if (mode === 'Task') {
      truth.useful -= pod.run / 1000;
      truth.discarded += pod.run / 1000;
    }
  }

  function ask(pod: RealPod, grace: Millis): void {
    pod.askedAt = now;
    lose(pod);
    if (grace > 0) {
      tell(pod);
    }
    schedule(now + grace, () => {
      pod.isGone = true;
      world.onVersion(pod.uid);
    });
    if (grace === 0) {
      pod.isGone = true;
      tell(pod);
    }
  }

  /** What a controller does: makes as many pods as are wanted. */
  function reconcile(): void {
    while (living().length < desired) {
      create();
    }
  }

  const world: World = {
    get now() {
      return now;
    },
    truth,
    get changes() {
      return changes;
    },
    get desired() {
      return desired;
    },
    onVersion: () => undefined,
    at: schedule,
    runUntil(until) {
      while ((queue[0]?.when ?? Number.POSITIVE_INFINITY) <= until) {
        const next = queue.shift();
        account((next?.when ?? now) - now);
        now = next?.when ?? now;
        next?.action();
      }
      account(until - now);
      now = until;
    },
    scale(wanted) {
      desired = wanted;
      changes += 1;
      // Those that run not go first, as ReplicaSets choose.
      for (const pod of living()
        .sort((left, right) => Number(right.ready) - Number(left.ready))
        .slice(wanted)) {
        ask(pod, 30_000);
      }
      reconcile();
    },
    remove(place, grace) {
      const pod = pick(place);
      if (pod !== undefined) {
        ask(pod, grace);
        reconcile();
      }
    },
    restart(place, span) {
      const pod = pick(place);
      if (pod?.ready === true) {
        pod.stoppedAt = now;
        turn(pod, false);
        schedule(now + span, () => {
          pod.startedAt = now;
          turn(pod, true);
        });
      }
    },
    isolate(place, span) {
      const pod = pick(place);
      if (pod?.ready === true) {
        turn(pod, false);
        schedule(now + span, () => turn(pod, true));
      }
    },
    complete(place) {
      const pod = pick(place);
      if (pod?.ready === true && desired > 0) {
        desired -= 1;
        pod.askedAt = now;
        pod.succeeded = true;
        tell(pod);
      }
    },
    rollOut() {
      const old = living();
      const next = (): void => {
        const leaving = old.find(({ askedAt, isGone }) => askedAt === undefined && !isGone);
        if (leaving === undefined || desired === 0) {
          return;
        }
        const fresh = create();
        const wait = (): void => {
          if (fresh.askedAt !== undefined || fresh.isGone) {
            return;
          }
          if (!fresh.ready) {
            schedule(now + 1000, wait);
            return;
          }
          if (leaving.askedAt === undefined && !leaving.isGone && living().length > desired) {
            ask(leaving, 30_000);
          }
          reconcile();
          next();
        };
        schedule(now + 1000, wait);
      };
      next();
    },
    uids: () => [...pods.values()].filter(({ isGone }) => !isGone).map(({ uid }) => uid),
    sighting(uid) {
      const pod = pods.get(uid);
      return pod === undefined || pod.isGone ? undefined : sightingOf(pod);
    },
    request: () => ({
      namespace: 'shop',
      owner: { kind: mode === 'Task' ? 'Job' : 'Deployment', name: 'web', uid: 'uid-web' },
      createdAt: epochSeconds(EPOCH),
      desired,
      completedAt: undefined,
    }),
  };
  schedule(0, () => world.scale(replicas));
  return world;
}

function sightingOf(pod: RealPod): PodSighting {
  const how = pod.succeeded ? 'Succeeded' : 'Deleted';
  return {
    uid: pod.uid,
    createdAt: recorded(pod.createdAt),
    scheduledAt: recorded(pod.createdAt),
    mark: {
      ready: pod.ready,
      since: recorded(pod.readySince),
      startedAt: pod.startedAt === undefined ? undefined : recorded(pod.startedAt),
      stoppedAt: pod.stoppedAt === undefined ? undefined : recorded(pod.stoppedAt),
    },
    end: pod.askedAt === undefined ? undefined : { at: recorded(pod.askedAt), how },
    hot: false,
  };
}

/** As metav1.Time writes it: cut to the second. */
function recorded(instant: Millis) {
  return epochSeconds(EPOCH + Math.floor(instant / 1000));
}
