import { numberAt } from '../indices.ts';
import { type ComponentIndex, pairsOf } from './application.ts';
import type { HostIndex } from './network.ts';
import { type PlacementRequest, SAME } from './request.ts';
import { createSeats, type Seats } from './seats.ts';

/**
 * Makes a placement cheaper, one component, two that talk or two that change hosts at a time, always the change that saves
 * most of each, until none saves anything. Only `likely` hosts and those in use by the application are tried. Hosts and loads are as before
 * when it returns.
 */
export function improve(
  request: PlacementRequest,
  placed: readonly HostIndex[],
  likely: readonly HostIndex[],
): readonly HostIndex[] {
  const { application } = request;
  const targets = [...new Set([...placed, ...likely])].sort((left, right) => left - right);
  const seats = createSeats(request, placed);
  const components = [...application.demands.keys()];
  const pairs = [...pairsOf(application)].map(({ one, other }) => [one, other]);
  for (let changed = true; changed; ) {
    changed = false;
    for (const component of components) {
      changed = moveTogether(targets, seats, [component]) || changed;
    }
    for (const pair of pairs) {
      changed = moveTogether(targets, seats, pair) || changed;
    }
    for (const one of components) {
      for (const other of components.slice(one + 1)) {
        changed = exchange(seats, one, other) || changed;
      }
    }
  }
  const found = components.map((component) => seats.hostOf(component));
  for (const component of components) {
    seats.leave(component);
  }
  return found;
}

/** Moves components to the one host where they cost least together, if that is less than now. */
function moveTogether(targets: readonly HostIndex[], seats: Seats, group: readonly ComponentIndex[]): boolean {
  const before = group.map((component) => seats.hostOf(component));
  let [least, target] = [leaveAll(seats, group), -1];
  least -= SAME * Math.abs(least);
  for (const host of targets) {
    const cost = takeAll(seats, group, host, least);
    if (cost < least) {
      [least, target] = [cost, host];
    }
  }
  for (const [place, component] of group.entries()) {
    seats.take(component, target < 0 ? numberAt(before, place) : target);
  }
  return target >= 0;
}

/** What components cost where they are; takes them from there. */
function leaveAll(seats: Seats, group: readonly ComponentIndex[]): number {
  return group.reduce((sum, component) => {
    const host = seats.hostOf(component);
    seats.leave(component);
    return sum + seats.cost(component, host);
  }, 0);
}

/** What components cost together on a host; Infinity where they cannot run there, or cost more than `limit`. Leaves them nowhere. */
function takeAll(seats: Seats, group: readonly ComponentIndex[], host: HostIndex, limit: number): number {
  let [cost, seated] = [0, 0];
  for (const component of group) {
    cost += seats.cost(component, host);
    if (cost >= limit || !seats.mayTake(component, host)) {
      cost = Number.POSITIVE_INFINITY;
      break;
    }
    seats.take(component, host);
    seated += 1;
  }
  for (const component of group.slice(0, seated)) {
    seats.leave(component);
  }
  return cost;
}

/** Lets two components change hosts, if that costs less. */
function exchange(seats: Seats, one: ComponentIndex, other: ComponentIndex): boolean {
  const [here, there] = [seats.hostOf(one), seats.hostOf(other)];
  if (here === there) {
    return false;
  }
  const now = leaveAll(seats, [one, other]);
  let cost = seats.cost(one, there);
  if (seats.mayTake(one, there)) {
    seats.take(one, there);
    cost += seats.cost(other, here);
    if (cost < now - SAME * Math.abs(now) && seats.mayTake(other, here)) {
      seats.take(other, here);
      return true;
    }
    seats.leave(one);
  }
  seats.take(one, here);
  seats.take(other, there);
  return false;
}
