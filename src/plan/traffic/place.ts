import { numberAt } from '../indices.ts';
import type { ComponentIndex } from './application.ts';
import { createRanking } from './candidates.ts';
import { NOWHERE } from './hosts.ts';
import { orderOf } from './importance.ts';
import { improve } from './improve.ts';
import { type Missing, missingBeforehand } from './missing.ts';
import type { HostIndex } from './network.ts';
import { type PlacementRequest, SAME } from './request.ts';
import { createSeats } from './seats.ts';

/** What came of a search. */
export type Placement = Placed | Unplaced;

/** A host for every component. */
export interface Placed {
  readonly kind: 'Placed';
  readonly hosts: readonly HostIndex[];
  /** What the components and their traffic cost in an hour, with `movePrice` for each that has left its home. */
  readonly cost: number;
}

/** No component is placed. */
export interface Unplaced {
  readonly kind: 'Unplaced';
  readonly missing: Missing;
}

/**
 * Finds a host for every component of an application, or for none: PHARE 3.3. Components in the order of their importance, each
 * on the host that seems cheapest in view of those it talks to; where one finds none, the one before it is placed
 * elsewhere. Then improves what was found, and looks for cheaper placements as far as the limits go (branch and bound). Hosts and loads are as before when
 * it returns: `carryOut` places what was found.
 */
export function placeApplication(request: PlacementRequest): Placement {
  const missing = missingBeforehand(request.application, request.hosts);
  if (missing !== undefined) {
    return { kind: 'Unplaced', missing };
  }
  const { limits, hosts } = request;
  const order = orderOf(request.application, request.isPinned);
  const isSmall = hosts.count ** order.length <= limits.ways;
  const first = isSmall ? lookThrough(request, order, undefined, EVERYWHERE) : findFirst(request, order);
  if (first.found === undefined) {
    const component = numberAt(order, first.deepest);
    return {
      kind: 'Unplaced',
      missing: first.isComplete ? { kind: 'Combination', component } : { kind: 'Steps', steps: first.steps, component },
    };
  }
  const likely = likelyHosts(request, order);
  const good = improved(request, first.found, likely);
  const best = isSmall ? lookThrough(request, order, good, EVERYWHERE).found : undefined;
  return { kind: 'Placed', ...(best ?? good) };
}

/** Places the components on the hosts, with their traffic. */
export function carryOut(request: PlacementRequest, placed: readonly HostIndex[]): void {
  createSeats(request, placed);
}

interface Found {
  readonly hosts: readonly HostIndex[];
  readonly cost: number;
}

/** What came of looking through placements: a cheaper one than the given one, and how far it got. */
interface Looked {
  readonly found: Found | undefined;
  readonly steps: number;
  /** How many components had a host at most. */
  readonly deepest: number;
  /** Nothing was left out that the candidates allow. */
  readonly isComplete: boolean;
}

/** How far to look. */
interface Reach {
  readonly limit: number;
  /** How often a placement may prefer a worse host, the second best counting 1, the third 2. */
  readonly detours: number;
}

const EVERYWHERE: Reach = { limit: Number.POSITIVE_INFINITY, detours: Number.POSITIVE_INFINITY };

/**
 * Allows more and more detours (limited discrepancy search): where the first hosts were ill chosen, trying all that can
 * follow on them takes for ever.
 */
function findFirst(request: PlacementRequest, order: readonly ComponentIndex[]): Looked {
  const { candidates, steps: limit } = request.limits;
  let [steps, deepest] = [0, 0];
  for (let detours = 0; ; detours = Math.max(1, 2 * detours)) {
    const looked = lookThrough(request, order, undefined, { limit: limit - steps, detours });
    steps += looked.steps;
    deepest = Math.max(deepest, looked.deepest);
    if (looked.found !== undefined || looked.isComplete || steps >= limit || detours > candidates * order.length) {
      return { ...looked, steps, deepest };
    }
  }
}

/** Looks until the first placement without `known`, and for ever cheaper ones with it, within the reach. */
function lookThrough(
  request: PlacementRequest,
  order: readonly ComponentIndex[],
  known: Found | undefined,
  { limit, detours }: Reach,
): Looked {
  const seats = createSeats(request);
  const ranking = createRanking(request, seats);
  const bounds = known === undefined ? [] : boundsOf(request, order);
  let found: Found | undefined;
  let [steps, deepest, isComplete] = [0, 0, true];
  const isOver = (): boolean => steps >= limit || (known === undefined && found !== undefined);
  const isDear = (cost: number, depth: number): boolean => {
    const best = found ?? known;
    return best !== undefined && cost + numberAt(bounds, depth) >= best.cost * (1 - SAME);
  };
  const descend = (depth: number, cost: number, left: number): void => {
    deepest = Math.max(deepest, depth);
    if (depth === order.length) {
      found = { hosts: order.map((_, component) => seats.hostOf(component)), cost };
      return;
    }
    steps += 1;
    const component = numberAt(order, depth);
    let rest = left;
    for (const candidate of ranking.best(component)) {
      const total = cost + candidate.cost;
      if (isOver() || rest < 0) {
        isComplete = false;
        return;
      }
      if (!isDear(total, depth + 1)) {
        seats.take(component, candidate.host);
        descend(depth + 1, total, rest);
        seats.leave(component);
      }
      rest -= 1;
    }
  };
  descend(0, 0, detours);
  return { found, steps, deepest, isComplete };
}

/** The homes of the components, and the hosts that are best for the first of them. */
function likelyHosts(request: PlacementRequest, order: readonly ComponentIndex[]): readonly HostIndex[] {
  const best = createRanking(request, createSeats(request)).best(numberAt(order, 0));
  return [...[...best].map(({ host }) => host), ...request.homes.filter((host) => host !== NOWHERE)];
}

function improved(request: PlacementRequest, { hosts }: Found, likely: readonly HostIndex[]): Found {
  const better = improve(request, hosts, likely);
  return { hosts: better, cost: costOf(request, better) };
}

/** What the components cost there, as PlacementRequest counts it; hosts and loads are as before when it returns. */
export function costOf(request: PlacementRequest, placed: readonly HostIndex[]): number {
  const seats = createSeats(request);
  const cost = placed.reduce((sum, host, component) => {
    const own = seats.cost(component, host);
    seats.take(component, host);
    return sum + own;
  }, 0);
  for (const component of placed.keys()) {
    seats.leave(component);
  }
  return cost;
}

/** Per depth what those from there on cost at least. */
function boundsOf({ hosts, homes, movePrice }: PlacementRequest, order: readonly ComponentIndex[]): readonly number[] {
  const bounds = [0];
  for (const component of order.toReversed()) {
    let least = Number.POSITIVE_INFINITY;
    for (let host = 0; host < hosts.count; host += 1) {
      const home = numberAt(homes, component);
      const move = home === NOWHERE || home === host ? 0 : movePrice;
      least = Math.min(least, hosts.price(component, host) + move);
    }
    bounds.unshift(numberAt(bounds, 0) + least);
  }
  return bounds;
}
