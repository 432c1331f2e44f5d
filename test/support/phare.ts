import { type Application, applicationOf, type Edge } from '../../src/plan/traffic/application.ts';
import type { PlainHost, Uplink } from './plain-hosts.ts';
import { createRandom, type Random } from './random.ts';

/** The clusters and applications of PHARE's evaluation (its 4.3), drawn anew: millicores, MiB, bits per second. */
export interface PhareCase {
  readonly hosts: readonly PlainHost[];
  readonly uplinks: readonly Uplink[];
  readonly applications: readonly Application[];
}

/** How a case differs from PHARE's own. */
export interface PhareSettings {
  readonly hosts: number;
  readonly applications: number;
  /** By how much every edge is multiplied. */
  readonly bandwidth: number;
  /** Share of each uplink that may be used. */
  readonly uplinkShare: number;
}

/** Share of the pairs of components that talk. */
const CONNECTIVITY = 0.3;
const COMPONENTS = 10;
const [MEGABIT, GIGABIT] = [1e6, 1e9];

/** Hosts and applications of a seed. */
export function phareCase(seed: number, settings: PhareSettings): PhareCase {
  const random = createRandom(seed);
  const between = (least: number, most: number): number => least + random.next() * (most - least);
  const hosts = Array.from({ length: settings.hosts }, () => ({
    capacity: [Math.round(between(300, 500)) * 1000, Math.round(between(128, 512)) * 1024],
    prices: [between(0.15, 0.4) / 1000, between(0.01, 0.06) / 1024],
  }));
  const uplinks = Array.from({ length: settings.hosts }, () => ({
    capacity: Math.round(between(5, 40) * GIGABIT * settings.uplinkShare),
    price: between(0.01, 0.4) / GIGABIT,
  }));
  const applications = Array.from({ length: settings.applications }, () => anApplication(random, settings.bandwidth));
  return { hosts, uplinks, applications };
}

function anApplication({ next }: Random, factor: number): Application {
  const demands = Array.from({ length: COMPONENTS }, () =>
    Float64Array.of(Math.round((4 + 16 * next()) * 1000), Math.round((1 + next()) * 1024)),
  );
  const edges: Edge[] = [];
  for (let from = 0; from < COMPONENTS; from += 1) {
    for (let to = 0; to < from; to += 1) {
      if (next() < CONNECTIVITY) {
        edges.push({ from, to, bandwidth: Math.round((0.6 + 19.4 * next()) * factor * MEGABIT) });
      }
    }
  }
  return applicationOf(demands, edges);
}
