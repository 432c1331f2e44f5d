import type { Application } from '../../src/plan/traffic/application.ts';
import type { Hosts } from '../../src/plan/traffic/hosts.ts';
import type { LinkLoads, Network } from '../../src/plan/traffic/network.ts';
import { createLinkLoads } from '../../src/plan/traffic/network.ts';
import { type PlacementRequest, SEARCH_LIMITS } from '../../src/plan/traffic/request.ts';

/** A host as PHARE has them: amounts of each resource, and what a unit of each costs in an hour. */
export interface PlainHost {
  readonly capacity: readonly number[];
  readonly prices: readonly number[];
}

/** Hosts without filters: a component fits where there is room. `of` gives the port for one application. */
export interface PlainHosts {
  readonly of: (application: Application, mayRun?: (component: number, host: number) => boolean) => Hosts;
  /** How many hosts run anything. */
  readonly used: () => number;
}

export function plainHosts(hosts: readonly PlainHost[]): PlainHosts {
  const free = hosts.map(({ capacity }) => Float64Array.from(capacity));
  const components = new Int32Array(hosts.length);
  const freeOf = (host: number): Float64Array => free[host] ?? new Float64Array();
  return {
    used: () => components.filter((count) => count > 0).length,
    of: ({ demands }, mayRun = () => true) => {
      const demandOf = (component: number): Float64Array => demands[component] ?? new Float64Array();
      const change = (component: number, host: number, sign: 1 | -1): void => {
        const [own, demand] = [freeOf(host), demandOf(component)];
        for (let resource = 0; resource < demand.length; resource += 1) {
          own[resource] = (own[resource] ?? 0) - sign * (demand[resource] ?? 0);
        }
        components[host] = (components[host] ?? 0) + sign;
      };
      return {
        count: hosts.length,
        free: freeOf,
        isUsed: (host) => (components[host] ?? 0) > 0,
        takes: (component, host) => {
          const free = freeOf(host);
          return (
            mayRun(component, host) && demandOf(component).every((amount, resource) => amount <= (free[resource] ?? 0))
          );
        },
        price: (component, host) => {
          const [demand, prices] = [demandOf(component), hosts[host]?.prices ?? []];
          let price = 0;
          for (let resource = 0; resource < demand.length; resource += 1) {
            price += (demand[resource] ?? 0) * (prices[resource] ?? 0);
          }
          return price;
        },
        place: (component, host) => change(component, host, 1),
        lift: (component, host) => change(component, host, -1),
      };
    },
  };
}

/** An uplink: what it carries, in bits per second, and what one of them costs in an hour. */
export interface Uplink {
  readonly capacity: number;
  readonly price: number;
}

/** Hosts in a full mesh, each behind an uplink of its own. */
export function meshOf(uplinks: readonly Uplink[]): Network {
  const prices = Float64Array.from(uplinks, ({ price }) => price);
  return {
    prices,
    capacities: Float64Array.from(uplinks, ({ capacity }) => capacity),
    route: (from, to) => (from === to ? [] : [from, to]),
    routePrice: (from, to) => (from === to ? 0 : (prices[from] ?? 0) + (prices[to] ?? 0)),
    hostPrice: () => 0,
    outward: (host) => [host],
  };
}

/** A request for components that run nowhere. */
export function requestFor(
  application: Application,
  hosts: Hosts,
  network: Network,
  loads: LinkLoads = createLinkLoads(network),
  given: Partial<PlacementRequest> = {},
): PlacementRequest {
  return {
    application,
    hosts,
    network,
    loads,
    homes: application.demands.map(() => -1),
    movePrice: 0,
    isPinned: () => false,
    limits: SEARCH_LIMITS,
    ...given,
  };
}
