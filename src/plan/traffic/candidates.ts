import { amountAt, itemAt } from '../indices.ts';
import { communicationAffinity, computeAffinity, shortage } from './affinity.ts';
import type { Application, ComponentIndex, Talk } from './application.ts';
import { NOWHERE } from './hosts.ts';
import { largestBandwidth } from './importance.ts';
import type { HostIndex, LinkLoads, Network } from './network.ts';
import type { PlacementRequest } from './request.ts';
import type { Seats } from './seats.ts';

/** A host for a component. */
export interface Candidate {
  readonly host: HostIndex;
  /** What the component costs there, with its traffic to those that are placed. */
  readonly cost: number;
}

/** Finds hosts for components one after the other. */
export interface Ranking {
  /** The hosts that may take the component now, the best first, at most as many as the limits name. */
  readonly best: (component: ComponentIndex) => Generator<Candidate, void, undefined>;
}

/** Ranks hosts for the components of an application, in view of those that have a seat. */
export function createRanking(request: PlacementRequest, seats: Seats): Ranking {
  const { application, hosts, limits } = request;
  const largest = largestBandwidth(application);
  // Of hosts that are as good the fullest one, so that others keep room for large components; PHARE takes the emptiest.
  const isBetter = (ranks: Ranks, left: HostIndex, right: HostIndex): boolean => {
    const difference =
      amountAt(ranks.perceived, left) - amountAt(ranks.perceived, right) ||
      Number(hosts.isUsed(right)) - Number(hosts.isUsed(left)) ||
      amountAt(ranks.affinity, right) - amountAt(ranks.affinity, left) ||
      (hosts.free(left)[0] ?? 0) - (hosts.free(right)[0] ?? 0);
    return difference < 0;
  };
  /** The best host that is not infinitely dear; -1 for none. Mostly one is asked for, so that sorting them all is not worth it. */
  const bestOf = (ranks: Ranks): HostIndex => {
    let found = NOWHERE;
    for (let host = 0; host < hosts.count; host += 1) {
      if (
        amountAt(ranks.perceived, host) < Number.POSITIVE_INFINITY &&
        (found === NOWHERE || isBetter(ranks, host, found))
      ) {
        found = host;
      }
    }
    return found;
  };
  return {
    *best(component) {
      const needs = needsOf(application, component, seats, largest);
      const ranks = rank(request, seats, component, needs);
      for (let left = limits.candidates; left > 0; ) {
        const host = bestOf(ranks);
        if (host === NOWHERE) {
          return;
        }
        ranks.perceived[host] = Number.POSITIVE_INFINITY;
        if (seats.mayTake(component, host)) {
          left -= 1;
          yield { host, cost: amountAt(ranks.cost, host) };
        }
      }
    },
  };
}

/** Per host what a component costs there, how well it suits, and one divided by the other; infinite where there is no room. */
interface Ranks {
  readonly cost: Float64Array;
  readonly affinity: Float64Array;
  readonly perceived: Float64Array;
}

function rank(
  { application, hosts, network, loads }: PlacementRequest,
  seats: Seats,
  component: ComponentIndex,
  { placed, whole, weighted, said }: Needs,
): Ranks {
  const { count } = hosts;
  const [cost, affinity, perceived] = [new Float64Array(count), new Float64Array(count), new Float64Array(count)];
  const demand = itemAt(application.demands, component);
  for (let host = 0; host < count; host += 1) {
    const free = hosts.free(host);
    if (!hasRoom(free, demand)) {
      perceived[host] = Number.POSITIVE_INFINITY;
      continue;
    }
    const price = seats.cost(component, host);
    let leaving = said;
    for (const { with: other, bandwidth } of placed) {
      leaving -= seats.hostOf(other) === host ? bandwidth : 0;
    }
    const suits = affinityOf(free, whole, weighted, leaving, carriedFrom(network, loads, host));
    cost[host] = price;
    affinity[host] = suits;
    perceived[host] = price / suits;
  }
  return { cost, affinity, perceived };
}

/** Bits per second that still leave a host; Infinity where nothing limits them. */
function carriedFrom({ outward }: Network, loads: LinkLoads, host: HostIndex): number {
  const links = outward(host);
  let carried = links.length === 0 ? Number.POSITIVE_INFINITY : 0;
  for (const link of links) {
    carried += Math.max(0, loads.free(link));
  }
  return carried;
}

/** Compute affinity, of several resources the least, times communication affinity. */
function affinityOf(
  free: Float64Array,
  whole: Float64Array,
  weighted: Float64Array,
  leaving: number,
  carried: number,
): number {
  let [compute, tightest] = [1, 0];
  for (let resource = 0; resource < whole.length; resource += 1) {
    const affinity = computeAffinity(whole[resource] ?? 0, weighted[resource] ?? 0, free[resource] ?? 0);
    if (affinity < compute) {
      compute = affinity;
      tightest = resource;
    }
  }
  return (
    compute *
    communicationAffinity(
      leaving,
      carried,
      shortage(whole[tightest] ?? 0, weighted[tightest] ?? 0, free[tightest] ?? 0),
    )
  );
}

/** What a component needs around it. */
interface Needs {
  /** Its talks with those that have a host. */
  readonly placed: readonly Talk[];
  /** Per resource what it and those without a host that it talks to demand, and the same by how much is said. */
  readonly whole: Float64Array;
  readonly weighted: Float64Array;
  /** Bits per second to all others. */
  readonly said: number;
}

function needsOf({ demands, talks }: Application, component: ComponentIndex, seats: Seats, largest: number): Needs {
  const own = itemAt(demands, component);
  const [placed, whole, weighted] = [[] as Talk[], own.slice(), own.slice()];
  let said = 0;
  for (const talk of itemAt(talks, component)) {
    said += talk.bandwidth;
    if (seats.hostOf(talk.with) !== NOWHERE) {
      placed.push(talk);
      continue;
    }
    for (const [resource, amount] of itemAt(demands, talk.with).entries()) {
      whole[resource] = (whole[resource] ?? 0) + amount;
      weighted[resource] = (weighted[resource] ?? 0) + (amount * talk.bandwidth) / largest;
    }
  }
  return { placed, whole, weighted, said };
}

function hasRoom(free: Float64Array, demand: Float64Array): boolean {
  for (let resource = 0; resource < demand.length; resource += 1) {
    if ((demand[resource] ?? 0) > (free[resource] ?? 0)) {
      return false;
    }
  }
  return true;
}
