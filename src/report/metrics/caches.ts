import { Counter, Gauge, type Registry } from 'prom-client';

/** What is shown of one cache. */
export interface CacheFigures {
  /** `pods`, or `poddisruptionbudgets.policy`. */
  readonly resource: string;
  readonly objects: number;
  /** Seconds since it was last known to be current; undefined before it is filled. */
  readonly age: number | undefined;
}

/** Feeds what is told of caches. */
export interface CacheMetrics {
  /** Shows the caches as `states` tells of them whenever metrics are read. */
  showCaches(states: () => readonly CacheFigures[]): void;
  /** An audit put `objects` of a cache right. */
  cacheDrifted(resource: string, objects: number): void;
}

/** Registers the metrics of caches. */
export function cacheMetrics(registers: Registry[]): CacheMetrics {
  let states: () => readonly CacheFigures[] = () => [];
  const labelNames = ['resource'];
  new Gauge({
    name: 'evenkeel_cache_objects',
    help: 'Objects in a cache of the API server.',
    labelNames,
    registers,
    collect() {
      for (const { resource, objects } of states()) {
        this.set({ resource }, objects);
      }
    },
  });
  new Gauge({
    name: 'evenkeel_cache_age_seconds',
    help: 'Time since a cache was last known to be current; 0 while its watch is open. No value before the first list.',
    labelNames,
    registers,
    collect() {
      for (const { resource, age } of states()) {
        if (age !== undefined) {
          this.set({ resource }, age);
        }
      }
    },
  });
  const drift = new Counter({
    name: 'evenkeel_cache_drift_total',
    help: 'Objects that an audit found wrong in a cache and put right.',
    labelNames,
    registers,
  });
  return {
    showCaches(source) {
      states = source;
    },
    cacheDrifted: (resource, objects) => drift.inc({ resource }, objects),
  };
}
