/** Place of a link among those of a network. */
export type LinkIndex = number;

/** Place of a node or domain that components run on. */
export type HostIndex = number;

/** What joins the hosts, and what it costs to run on them. */
export interface Network {
  /** Per link what a bit per second costs in an hour. */
  readonly prices: Float64Array;
  /** Per link how many bits per second it carries; Infinity without a limit. */
  readonly capacities: Float64Array;
  /** The links that traffic between two hosts passes; none where it is free and without a limit, such as within a host. */
  readonly route: (from: HostIndex, to: HostIndex) => readonly LinkIndex[];
  /** What a bit per second between two hosts costs in an hour: the prices of the route. */
  readonly routePrice: (from: HostIndex, to: HostIndex) => number;
  /** What it costs in an hour to run on a host, for what a component demands (see running.ts). */
  readonly hostPrice: (demand: Float64Array, host: HostIndex) => number;
  /** The links over which traffic leaves a host. */
  readonly outward: (host: HostIndex) => readonly LinkIndex[];
}

/** How much traffic each link carries, while components come and go. */
export interface LinkLoads {
  /** Bits per second that a link still carries; Infinity without a limit, below 0 when it is over its limit. */
  readonly free: (link: LinkIndex) => number;
  /** Bits per second on a link. */
  readonly load: (link: LinkIndex) => number;
  /** Adds traffic between two hosts, or takes it away with a bandwidth below 0. */
  readonly add: (from: HostIndex, to: HostIndex, bandwidth: number) => void;
}

/** Links without traffic. */
export function createLinkLoads({ capacities, route }: Network): LinkLoads {
  const loads = new Float64Array(capacities.length);
  const load = (link: LinkIndex): number => loads[link] ?? 0;
  return {
    load,
    free: (link) => (capacities[link] ?? 0) - load(link),
    add: (from, to, bandwidth) => {
      for (const link of route(from, to)) {
        loads[link] = load(link) + bandwidth;
      }
    },
  };
}
