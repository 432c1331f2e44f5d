import { hasCondition } from '../control-plane/cluster-state.ts';
import type { ControlPlane } from '../control-plane/start.ts';
import { type PodEvent, watchPods } from './object-watch.ts';

/** How long each workload of one pod was served, by every change of its pods that the API server told of. */
export interface AvailabilityWatch {
  /** Names of the workloads (label `app`) that have had a pod. */
  names(): readonly string[];
  /** Share of the time since its first pod in which a pod of the workload was Ready and not on its way out. */
  availability(name: string): number;
  /** Share of the time since its first pod in which a pod of the workload had a node and was not on its way out: Ready or starting. */
  placed(name: string): number;
  /**
   * Longest time in seconds from a pod's beginning to end to the next pod that gets a node, the oldest place first, or to now: how
   * long room stands empty, where more pods wait than there is room for.
   */
  longestVacancy(): number;
  /** Ends it, and what is counted. Rejects when the watch did not last until now. */
  stop(): Promise<void>;
}

/** Time in which at least one pod was in a state. */
interface Tally {
  readonly pods: Set<string>;
  /** Milliseconds, until `since`. */
  total: number;
  /** Milliseconds on the clock of this machine when `pods` last changed. */
  since: number;
}

/** Places that pods have left and none has taken again. */
interface Vacancies {
  /** When each was left, in milliseconds, the oldest first. */
  readonly since: number[];
  /** Milliseconds that the longest of those taken again took. */
  longest: number;
}

interface Service {
  readonly admittedAt: number;
  readonly serving: Tally;
  readonly placed: Tally;
}

/** Begins to count. Times are those at which changes are told of, which is some milliseconds after they were made. */
export async function watchAvailability(cp: ControlPlane): Promise<AvailabilityWatch> {
  const services = new Map<string, Service>();
  const vacancies: Vacancies = { since: [], longest: 0 };
  const watch = await watchPods(cp, (event) => take(event, services, vacancies));
  let stoppedAt: number | undefined;
  const now = (): number => stoppedAt ?? performance.now();
  const shareOf = (name: string, state: 'serving' | 'placed'): number => {
    const service = services.get(name);
    return service === undefined ? Number.NaN : totalUntil(service[state], now()) / (now() - service.admittedAt);
  };
  return {
    names: () => [...services.keys()].sort(),
    availability: (name) => shareOf(name, 'serving'),
    placed: (name) => shareOf(name, 'placed'),
    longestVacancy: () => Math.max(vacancies.longest, now() - (vacancies.since[0] ?? now())) / 1000,
    stop: () => {
      stoppedAt = performance.now();
      return watch.stop();
    },
  };
}

function take({ type, object }: PodEvent, services: Map<string, Service>, vacancies: Vacancies): void {
  const name = object.metadata.labels?.['app'];
  if (name === undefined) {
    return;
  }
  const now = performance.now();
  const service = services.get(name) ?? { admittedAt: now, serving: emptyTally(now), placed: emptyTally(now) };
  services.set(name, service);
  const stays = type !== 'DELETED' && object.metadata.deletionTimestamp === undefined;
  count(service.serving, object.metadata.uid, stays && hasCondition(object, 'Ready'), now);
  const before = service.placed.pods.size;
  count(service.placed, object.metadata.uid, stays && object.spec.nodeName !== undefined, now);
  countVacancies(vacancies, service.placed.pods.size - before, now);
}

/** One was left where `change` is -1, and one taken where it is 1. */
function countVacancies(vacancies: Vacancies, change: number, now: number): void {
  if (change < 0) {
    vacancies.since.push(now);
  } else if (change > 0) {
    vacancies.longest = Math.max(vacancies.longest, now - (vacancies.since.shift() ?? now));
  }
}

function emptyTally(since: number): Tally {
  return { pods: new Set(), total: 0, since };
}

function count(tally: Tally, uid: string, belongs: boolean, now: number): void {
  tally.total = totalUntil(tally, now);
  tally.since = now;
  if (belongs) {
    tally.pods.add(uid);
  } else {
    tally.pods.delete(uid);
  }
}

function totalUntil({ total, pods, since }: Tally, now: number): number {
  return total + (pods.size > 0 ? now - since : 0);
}
