import { hasCondition, type PodState } from '../control-plane/cluster-state.ts';
import type { ControlPlane } from '../control-plane/start.ts';
import { type PodEvent, watchPods } from './object-watch.ts';

/** How long each workload of one pod was served, by every change of its pods that the API server told of. */
export interface AvailabilityWatch {
  /** Names of the workloads (label `app`) that have had a pod. */
  names(): readonly string[];
  /** Share of the time since its first pod in which a pod of the workload was Ready and not on its way out. */
  availability(name: string): number;
  /** Ends it, and what is counted. Rejects when the watch did not last until now. */
  stop(): Promise<void>;
}

interface Service {
  readonly admittedAt: number;
  readonly healthy: Set<string>;
  useful: number;
  /** Milliseconds on the clock of this machine when `healthy` last changed. */
  since: number;
}

/** Begins to count. Times are those at which changes are told of, which is some milliseconds after they were made. */
export async function watchAvailability(cp: ControlPlane): Promise<AvailabilityWatch> {
  const services = new Map<string, Service>();
  const watch = await watchPods(cp, (event) => take(event, services));
  let stoppedAt: number | undefined;
  return {
    names: () => [...services.keys()].sort(),
    availability: (name) => {
      const service = services.get(name);
      const now = stoppedAt ?? performance.now();
      return service === undefined ? Number.NaN : usefulUntil(service, now) / (now - service.admittedAt);
    },
    stop: () => {
      stoppedAt = performance.now();
      return watch.stop();
    },
  };
}

function take({ type, object }: PodEvent, services: Map<string, Service>): void {
  const name = object.metadata.labels?.['app'];
  if (name === undefined) {
    return;
  }
  const now = performance.now();
  const service = services.get(name) ?? { admittedAt: now, healthy: new Set(), useful: 0, since: now };
  services.set(name, service);
  service.useful = usefulUntil(service, now);
  service.since = now;
  if (type !== 'DELETED' && isServing(object)) {
    service.healthy.add(object.metadata.uid);
  } else {
    service.healthy.delete(object.metadata.uid);
  }
}

function isServing(pod: PodState): boolean {
  return pod.metadata.deletionTimestamp === undefined && hasCondition(pod, 'Ready');
}

function usefulUntil({ useful, healthy, since }: Service, now: number): number {
  return useful + (healthy.size > 0 ? now - since : 0);
}
