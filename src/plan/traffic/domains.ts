import { compareText } from '../../model/compare-text.ts';
import type { Cluster } from '../cluster.ts';
import { atOrNone, type DomainIndex, type IndexTable, itemAt, type NodeIndex } from '../indices.ts';
import { createDomainIndex } from '../topology/domains.ts';
import type { HostIndex, Network } from './network.ts';

/** Nodes by what traffic between them costs: those of one domain talk for free. */
export interface TrafficDomains {
  /** Label values, by name. */
  readonly names: readonly string[];
  /** By place of the node; -1 for a node without the label. */
  readonly of: IndexTable<NodeIndex, DomainIndex>;
  /** Nodes of each domain, by place. */
  readonly nodes: readonly (readonly NodeIndex[])[];
}

/** The domains of a node label, such as topology.kubernetes.io/zone, among the nodes that take part. */
export function trafficDomains({ nodes }: Cluster, key: string): TrafficDomains {
  const { of, values } = createDomainIndex(nodes)(key);
  const names = values.toSorted(compareText);
  const rank = Int32Array.from(values, (name) => names.indexOf(name));
  const ranked = Int32Array.from(of, (place) => atOrNone(rank, place));
  return {
    names,
    of: ranked,
    nodes: names.map((_, domain) => [...nodes.keys()].filter((node) => ranked[node] === domain)),
  };
}

/** Every two domains, by place. */
export function domainPairs({ names }: TrafficDomains): readonly (readonly [HostIndex, HostIndex])[] {
  return names.flatMap((_, one) => names.slice(one + 1).map((__, offset) => [one, one + 1 + offset] as const));
}

/** What traffic between two domains costs, and how much passes. */
export interface DomainLink {
  readonly between: readonly [HostIndex, HostIndex];
  /** What a bit per second costs in an hour. */
  readonly price: number;
  /** Bits per second; Infinity without a limit. */
  readonly capacity: number;
}

/** What it costs in an hour to run on the nodes of a domain. */
export interface DomainPrice {
  /** Of a core. */
  readonly cpu: number;
  /** Of a GiB. */
  readonly memory: number;
}

/**
 * A network with one link for each pair of domains; pairs that `links` does not name have the price `otherwise` and no limit. Without
 * `running`, by domain, running costs nothing.
 */
export function domainNetwork(
  domains: number,
  links: readonly DomainLink[],
  otherwise: number,
  running: readonly DomainPrice[] = [],
): Network {
  const size = domains * domains;
  const prices = new Float64Array(size).fill(otherwise);
  const capacities = new Float64Array(size).fill(Number.POSITIVE_INFINITY);
  const linkOf = (from: HostIndex, to: HostIndex): number => Math.min(from, to) * domains + Math.max(from, to);
  for (const { between, price, capacity } of links) {
    const link = linkOf(between[0], between[1]);
    prices[link] = price;
    capacities[link] = capacity;
  }
  const hosts = Array.from({ length: domains }, (_, host) => host);
  const outward = hosts.map((host) => hosts.filter((other) => other !== host).map((other) => linkOf(host, other)));
  return {
    prices,
    capacities,
    route: (from, to) => (from === to ? [] : [linkOf(from, to)]),
    routePrice: (from, to) => (from === to ? 0 : (prices[linkOf(from, to)] ?? 0)),
    hostPrice: ([cpu = 0, memory = 0], host) => {
      const price = running[host];
      return price === undefined ? 0 : (cpu / 1000) * price.cpu + (memory / 2 ** 30) * price.memory;
    },
    outward: (host) => itemAt(outward, host),
  };
}
