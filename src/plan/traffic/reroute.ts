import { at, itemAt, type NodeIndex, numberAt, type PodIndex } from '../indices.ts';
import { type AcceptedMove, carryOut as carryOutMove } from '../judge.ts';
import type { State } from '../state.ts';
import { pairsOf } from './application.ts';
import { domainHosts, leastLoaded, type Targets } from './domain-hosts.ts';
import type { TrafficDomains } from './domains.ts';
import { cheaperPlacements } from './enumerate.ts';
import { NOWHERE } from './hosts.ts';
import { improve } from './improve.ts';
import { createLinkLoads, type HostIndex, type LinkLoads, type Network } from './network.ts';
import { costOf, placeApplication } from './place.ts';
import { type PlacementRequest, SEARCH_LIMITS, type SearchLimits } from './request.ts';
import type { RunningApplication } from './running.ts';

/** What rerouting applications is made with. */
export interface RerouteContext {
  /** Changed by every application that is moved. */
  readonly state: State;
  readonly domains: TrafficDomains;
  readonly network: Network;
  /** The traffic of all applications as they run; changed with them. */
  readonly loads: LinkLoads;
  /** What a move counts, in the prices of an hour. */
  readonly movePrice: number;
  /** What moving an application must save at least, in the prices of an hour, without what its moves count. */
  readonly minSaving: number;
  readonly mayMove: (pod: PodIndex) => boolean;
  /** Spends what a move takes of the budgets; false, and then nothing is spent, when they refuse it. */
  readonly spend: (move: DomainMove) => boolean;
  /** Takes back what was spent for the move. */
  readonly refund: (move: DomainMove) => void;
  /** No pod goes to a node that would be loaded more than this (see load.ts). */
  readonly upTo: number;
}

/** An application that a plan moves. */
export interface Rerouted {
  readonly application: RunningApplication;
  /** In an order in which each is feasible; of domain to domain. */
  readonly moves: readonly DomainMove[];
  /** What its traffic and its nodes cost in an hour before and after. */
  readonly before: number;
  readonly after: number;
}

/**
 * Reroutes applications in turn, those that found no room again once others have left; each at most once.
 */
export function rerouteAll(context: RerouteContext, applications: readonly RunningApplication[]): readonly Rerouted[] {
  const done: Rerouted[] = [];
  let waiting = applications;
  for (let before = -1; before !== waiting.length; ) {
    before = waiting.length;
    waiting = waiting.filter((running) => {
      const rerouted = reroute(context, running);
      if (rerouted !== undefined) {
        done.push(rerouted);
      }
      return rerouted === undefined;
    });
  }
  return done;
}

/**
 * Moves an application that runs to where its traffic costs less, all of what that takes or nothing: the cheapest of all placements
 * where these are few, else what PHARE 3.3 finds for it anew or what improving its placement leads to, whichever costs less with what
 * its moves count. `undefined`: nothing saves
 * enough, or no order of the moves is feasible.
 */
function reroute(context: RerouteContext, running: RunningApplication): Rerouted | undefined {
  const { domains, loads } = context;
  const homes = running.pods.map((pod) => at(domains.of, context.state.nodeOf(pod)));
  if (homes.length === 0 || homes.includes(NOWHERE)) {
    return undefined;
  }
  talk(running, loads, homes, -1);
  const found = tryCheapest(context, running, homes) ?? tryAll(context, running, homes);
  talk(running, loads, found?.wanted ?? homes, 1);
  return found && { application: running, moves: found.moves, ...found.costs };
}

interface Found {
  readonly wanted: readonly HostIndex[];
  readonly moves: readonly DomainMove[];
  readonly costs: { readonly before: number; readonly after: number };
}

/** A move from one domain to another. */
export type DomainMove = Omit<AcceptedMove, 'partner'>;

/** Placements that are tried, of those that cost the least. */
const MOST_TRIED = 1000;

/** Of an application that has few placements, the cheapest that it can be moved to. */
function tryCheapest(
  context: RerouteContext,
  running: RunningApplication,
  homes: readonly HostIndex[],
): Found | undefined {
  const { network, movePrice, domains } = context;
  const mayLeave = (component: number): boolean => context.mayMove(numberAt(running.pods, component));
  const standing = { homes, hosts: domains.nodes.length, network, movePrice, mayLeave };
  for (const wanted of cheaperPlacements(running, standing)?.slice(0, MOST_TRIED) ?? []) {
    const found = carryOutIfWorthIt(context, running, homes, wanted);
    if (found !== undefined) {
      return found;
    }
  }
  return undefined;
}

/** Pods that found no node one by one, before no pod may go to the domain where another one finds none. */
const MOST_BARRED = 8;

/** Looks again without what stood in the way: pods that found no node in their domain, in the end full domains, and budgets. */
function tryAll(context: RerouteContext, running: RunningApplication, homes: readonly HostIndex[]): Found | undefined {
  const { network, minSaving, domains } = context;
  const barred = new Map<number, ReadonlySet<HostIndex>>();
  const closed = new Set<HostIndex>();
  const held = new Set<PodIndex>();
  const limits: SearchTargets = {
    mayLeave: (pod) => !held.has(pod) && context.mayMove(pod),
    isClosed: (component, host) => closed.has(host) || barred.get(component)?.has(host) === true,
    mayStartAnew: () => held.size === 0,
  };
  while (closed.size < domains.nodes.length) {
    const wanted = searchFor(context, running, homes, limits);
    const costs = costsOf(network, running, homes, wanted);
    if (costs.before - costs.after < minSaving || costs.before <= costs.after) {
      return undefined;
    }
    const { moves, stuck } = settle(context, running, homes, wanted);
    if (stuck !== undefined) {
      const host = numberAt(wanted, stuck);
      const known = barred.get(stuck) ?? new Set();
      if (barred.size < MOST_BARRED && !known.has(host)) {
        barred.set(stuck, new Set([...known, host]));
      } else {
        closed.add(host);
      }
      continue;
    }
    const refused = refusedOf(context, moves);
    if (refused.size === 0) {
      return { wanted, moves, costs };
    }
    takeBack(context, moves);
    const rest = wanted.map((host, component) =>
      refused.has(numberAt(running.pods, component)) ? numberAt(homes, component) : host,
    );
    const within = carryOutIfWorthIt(context, running, homes, rest);
    if (within !== undefined) {
      return within;
    }
    for (const pod of refused) {
      held.add(pod);
    }
  }
  return undefined;
}

/** Spends the budgets for the moves; else, and then nothing is spent, the pods that they refuse when the others are moved. */
function refusedOf({ spend, refund }: RerouteContext, moves: readonly DomainMove[]): ReadonlySet<PodIndex> {
  const spent = moves.filter((move) => spend(move));
  if (spent.length === moves.length) {
    return new Set();
  }
  for (const move of spent) {
    refund(move);
  }
  const affordable = new Set(spent);
  return new Set(moves.filter((move) => !affordable.has(move)).map(({ pod }) => pod));
}

/** Moves an application to a placement; `undefined` when that is not worth its moves, overloads a link, is not feasible, or over budget. */
function carryOutIfWorthIt(
  context: RerouteContext,
  running: RunningApplication,
  homes: readonly HostIndex[],
  wanted: readonly HostIndex[],
): Found | undefined {
  const { network, minSaving, movePrice } = context;
  const costs = costsOf(network, running, homes, wanted);
  const number = homes.filter((home, component) => home !== wanted[component]).length;
  const isWorthIt = number > 0 && costs.before - costs.after >= Math.max(minSaving, number * movePrice);
  if (!isWorthIt || overloadsLinks(context, running, homes, wanted)) {
    return undefined;
  }
  const { moves, stuck } = settle(context, running, homes, wanted);
  if (stuck !== undefined) {
    return undefined;
  }
  if (refusedOf(context, moves).size > 0) {
    takeBack(context, moves);
    return undefined;
  }
  return { wanted, moves, costs };
}

function costsOf(
  network: Network,
  running: RunningApplication,
  homes: readonly HostIndex[],
  wanted: readonly HostIndex[],
): Found['costs'] {
  return { before: placementCost(running, network, homes), after: placementCost(running, network, wanted) };
}

/** Whether a link would carry more of an application than it does now, and more than it has capacity for. */
function overloadsLinks(
  { network, loads }: RerouteContext,
  running: RunningApplication,
  homes: readonly HostIndex[],
  wanted: readonly HostIndex[],
): boolean {
  const before = loadsOf([{ running, homes }], network);
  const after = loadsOf([{ running, homes: wanted }], network);
  return network.capacities.some((_, link) => {
    const carried = after.load(link);
    return carried > loads.free(link) && carried > before.load(link);
  });
}

/** What a search may do with the pods of an application. */
interface SearchTargets extends Pick<Targets, 'isClosed'> {
  readonly mayLeave: (pod: PodIndex) => boolean;
  /** Otherwise the placement as it runs is improved: where budgets have refused moves, the fewer the better. */
  readonly mayStartAnew: () => boolean;
}

/** Adds the traffic of an application to the links, or takes it away. */
export function talk(
  { application }: RunningApplication,
  loads: LinkLoads,
  hosts: readonly HostIndex[],
  sign: 1 | -1,
): void {
  for (const { one, other, bandwidth } of pairsOf(application)) {
    loads.add(numberAt(hosts, one), numberAt(hosts, other), sign * bandwidth);
  }
}

/** An application with the hosts of its pods. */
interface Seated {
  readonly running: RunningApplication;
  readonly homes: readonly HostIndex[];
}

/** The links with the traffic of these applications alone. */
export function loadsOf(applications: readonly Seated[], network: Network): LinkLoads {
  const loads = createLinkLoads(network);
  for (const { running, homes } of applications) {
    talk(running, loads, homes, 1);
  }
  return loads;
}

/** What the traffic of an application costs in an hour. */
export function trafficCost(
  { application }: RunningApplication,
  network: Network,
  hosts: readonly HostIndex[],
): number {
  let cost = 0;
  for (const { one, other, bandwidth } of pairsOf(application)) {
    cost += bandwidth * network.routePrice(numberAt(hosts, one), numberAt(hosts, other));
  }
  return cost;
}

/** What an application costs in an hour: its traffic, and its pods on their hosts. */
export function placementCost(running: RunningApplication, network: Network, hosts: readonly HostIndex[]): number {
  return running.application.demands.reduce(
    (sum, demand, component) => sum + network.hostPrice(demand, numberAt(hosts, component)),
    trafficCost(running, network, hosts),
  );
}

/** Whether a domain takes a pod depends on its nodes: each step takes longer than where hosts are nodes. */
const REROUTE_LIMITS: SearchLimits = { ...SEARCH_LIMITS, steps: 200, ways: 500 };

/** A domain for each pod, judged on a copy of the state. */
function searchFor(
  { state, domains, network, loads, movePrice, upTo }: RerouteContext,
  running: RunningApplication,
  homes: readonly HostIndex[],
  limits: SearchTargets,
): readonly HostIndex[] {
  const mayLeave = (component: number): boolean => limits.mayLeave(numberAt(running.pods, component));
  const targets: Targets = { mayLeave, isClosed: limits.isClosed, upTo, price: network.hostPrice };
  const request: PlacementRequest = {
    application: running.application,
    hosts: domainHosts(state.fork(), domains, running, targets),
    network,
    loads,
    homes,
    movePrice,
    isPinned: (component) => !mayLeave(component),
    limits: REROUTE_LIMITS,
  };
  const improved = improve(request, homes, [...domains.nodes.keys()]);
  if (!limits.mayStartAnew()) {
    return improved;
  }
  const anew = placeApplication(request);
  return anew.kind === 'Placed' && anew.cost < costOf(request, improved) ? anew.hosts : improved;
}

/** Moves those that change their domain, each to the least loaded node there; none where one finds none: then with that component. */
function settle(
  context: RerouteContext,
  { pods }: RunningApplication,
  homes: readonly HostIndex[],
  wanted: readonly HostIndex[],
): { readonly moves: readonly DomainMove[]; readonly stuck?: number } {
  const { state, domains, upTo } = context;
  const done: DomainMove[] = [];
  let waiting = [...pods.keys()].filter((component) => homes[component] !== wanted[component]);
  // One may be feasible only behind another: it takes the room of one that leaves.
  for (let before = -1; before !== waiting.length; ) {
    before = waiting.length;
    waiting = waiting.filter((component) => {
      const pod = numberAt(pods, component);
      const to: NodeIndex = leastLoaded(state, itemAt(domains.nodes, numberAt(wanted, component)), pod, upTo);
      if (to >= 0) {
        done.push(carryOutMove(state, { pod, to }, state.gain(pod, to)));
      }
      return to < 0;
    });
  }
  const [stuck] = waiting;
  if (stuck === undefined) {
    return { moves: done };
  }
  takeBack(context, done);
  return { moves: [], stuck };
}

function takeBack({ state }: RerouteContext, moves: readonly DomainMove[]): void {
  for (const { pod, from } of moves.toReversed()) {
    state.move(pod, from);
  }
}
