import { itemAt, numberAt } from '../indices.ts';
import type { ComponentIndex } from './application.ts';
import { NOWHERE } from './hosts.ts';
import type { HostIndex, LinkIndex } from './network.ts';
import type { PlacementRequest } from './request.ts';

/** Who of an application sits where, while components come and go on hosts and links. */
export interface Seats {
  /** -1 for a component without a host. */
  readonly hostOf: (component: ComponentIndex) => HostIndex;
  /** What a component costs on a host, with its traffic to those that have one. */
  readonly cost: (component: ComponentIndex, host: HostIndex) => number;
  /** Whether a host may take a component now, and the links carry what it says to those that have a host. */
  readonly mayTake: (component: ComponentIndex, host: HostIndex) => boolean;
  readonly take: (component: ComponentIndex, host: HostIndex) => void;
  readonly leave: (component: ComponentIndex) => void;
}

/** Seats of an application whose components are where `placed` says, each put there now; nowhere without it. */
export function createSeats(request: PlacementRequest, placed: readonly HostIndex[] = []): Seats {
  const { application, hosts, network, loads, homes, movePrice } = request;
  const hostOf: HostIndex[] = application.demands.map(() => NOWHERE);
  const say = (component: ComponentIndex, host: HostIndex, sign: 1 | -1): void => {
    for (const { with: other, bandwidth } of itemAt(application.talks, component)) {
      const there = numberAt(hostOf, other);
      if (there !== NOWHERE) {
        loads.add(host, there, sign * bandwidth);
      }
    }
  };
  const take = (component: ComponentIndex, host: HostIndex): void => {
    hosts.place(component, host);
    say(component, host, 1);
    hostOf[component] = host;
  };
  for (const [component, host] of placed.entries()) {
    take(component, host);
  }
  return {
    hostOf: (component) => numberAt(hostOf, component),
    cost: (component, host) => {
      const home = numberAt(homes, component);
      let cost = hosts.price(component, host) + (home === NOWHERE || home === host ? 0 : movePrice);
      for (const { with: other, bandwidth } of itemAt(application.talks, component)) {
        const there = numberAt(hostOf, other);
        cost += there === NOWHERE ? 0 : bandwidth * network.routePrice(host, there);
      }
      return cost;
    },
    mayTake: (component, host) => {
      if (!hosts.takes(component, host)) {
        return false;
      }
      // All new traffic that shares a link is summed before it is compared with what the link still carries.
      const added = new Map<LinkIndex, number>();
      for (const { with: other, bandwidth } of itemAt(application.talks, component)) {
        const there = numberAt(hostOf, other);
        for (const link of there === NOWHERE ? [] : network.route(host, there)) {
          added.set(link, (added.get(link) ?? 0) + bandwidth);
        }
      }
      return [...added].every(([link, bandwidth]) => bandwidth <= loads.free(link));
    },
    take,
    leave: (component) => {
      const host = numberAt(hostOf, component);
      hosts.lift(component, host);
      hostOf[component] = NOWHERE;
      say(component, host, -1);
    },
  };
}
