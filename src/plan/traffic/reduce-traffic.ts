import { compareText } from '../../model/compare-text.ts';
import type { Budgets } from '../budgets/index.ts';
import type { Cluster } from '../cluster.ts';
import { at, atOrNone, itemAt, type NodeIndex, numberAt, type PodIndex } from '../indices.ts';
import { toLoad } from '../load.ts';
import type { PolicyOptions, TrafficOptions } from '../options.ts';
import type { DescribedMove } from '../outcome.ts';
import type { DomainTraffic, Reason, TrafficAmount } from '../plan.ts';
import { isFree, type PlanningInput } from '../planning-input.ts';
import { withNeeds } from '../sequence.ts';
import { initialState, type State, type StateView } from '../state.ts';
import type { PlacedGraph } from './applications.ts';
import { domainNetwork, domainPairs, type TrafficDomains, trafficDomains } from './domains.ts';
import { NOWHERE } from './hosts.ts';
import type { HostIndex, LinkLoads, Network } from './network.ts';
import { domainPrices } from './node-prices.ts';
import { loadsOf, placementCost, type RerouteContext, type Rerouted, rerouteAll, trafficCost } from './reroute.ts';
import { type RunningApplication, runningApplication } from './running.ts';

/** What became of an application. */
export interface Treated {
  readonly graph: PlacedGraph;
  readonly running: RunningApplication;
  readonly moves: number;
  /** Traffic between domains. */
  readonly before: TrafficAmount;
  readonly planned: TrafficAmount;
  /** Why it is left alone, without a look at its placement. */
  readonly left: Reason | undefined;
}

/** What came of reducing traffic. */
export interface TrafficPlan {
  readonly moves: readonly DescribedMove[];
  /** Nodes of the same domain that would be good ones, too, for each move. */
  readonly fallbacks: readonly (readonly NodeIndex[])[];
  /** Before and after the moves. */
  readonly start: State;
  readonly end: State;
  /** By traffic between domains before, the most first. */
  readonly treated: readonly Treated[];
  /** Pairs of domains with traffic between them, the most first. */
  readonly between: readonly DomainTraffic[];
  /** What budgets said against pods that were to be moved. */
  readonly refused: ReadonlyMap<PodIndex, Reason>;
}

/**
 * Brings applications together that run spread over domains (docs/design/applications.md, applications that run): all moves that
 * an application takes, or none. `budgets` are spent.
 */
export function reduceTraffic(
  input: PlanningInput,
  graphs: readonly PlacedGraph[],
  cluster: Cluster,
  budgets: Budgets,
  strategy: TrafficOptions,
  { thresholds }: PolicyOptions,
): TrafficPlan {
  const start = initialState(cluster);
  const end = start.fork();
  const domains = trafficDomains(cluster, strategy.domain);
  const networks = networksOf(cluster, domains, strategy);
  const { priced, plain } = networks;
  const amountOf = trafficAmounts(networks, strategy);
  const placed = graphs
    .map((graph) => ({ graph, running: runningOf(start, graph) }))
    .map((each) => ({ ...each, homes: domainsOf(each.running, start, domains) }));
  const complete = placed.filter(({ graph, homes }) => graph.left === undefined && !homes.includes(NOWHERE));
  const byTraffic = complete
    .map((each) => ({ ...each, before: amountOf(each.running, each.homes) }))
    .sort((left, right) => right.before.bandwidth - left.before.bandwidth || compareGraphs(left.graph, right.graph));
  const refused = new Map<PodIndex, Reason>();
  const context: RerouteContext = {
    state: end,
    domains,
    network: priced,
    loads: loadsOf(complete, priced),
    movePrice: strategy.minSaving * highestPrice(priced),
    minSaving: 0,
    mayMove: (pod) => isFree(input.holds, pod) && budgets.check(pod) === undefined,
    spend: ({ pod, to }) => {
      const refusal = budgets.check(pod, to);
      if (refusal === undefined) {
        budgets.spend(pod);
        return true;
      }
      refused.set(pod, refusal);
      return false;
    },
    refund: ({ pod }) => budgets.refund(pod),
    upTo: fullestOf(start, thresholds.trigger),
  };
  const rerouted = rerouteAll(
    context,
    byTraffic.map(({ running }) => running),
  );
  const movesOf = new Map(rerouted.map(({ application, moves }) => [application, moves.length]));
  const ended = byTraffic.map((each) => ({ ...each, homes: domainsOf(each.running, end, domains) }));
  const treated = ended.map(({ graph, running, homes, before }): Treated => {
    const planned = amountOf(running, homes);
    return { graph, running, moves: movesOf.get(running) ?? 0, before, planned, left: undefined };
  });
  return {
    ...describedMoves(start, rerouted, domains, context.upTo),
    start,
    end,
    treated: [...treated, ...placed.flatMap((each) => leftAlone(each, start, domains, strategy.domain))],
    between: trafficBetween(domains, plain, loadsOf(byTraffic, plain), loadsOf(ended, plain)),
    refused,
  };
}

/** The application of an AppGraph: those pods of its members that run on nodes that take part. */
export function runningOf(state: StateView, { graph, members, edges }: PlacedGraph): RunningApplication {
  const present = members.map((member) => ({ ...member, pods: member.pods.filter((pod) => state.nodeOf(pod) >= 0) }));
  return runningApplication(state, `${graph.namespace}/${graph.name}`, present, edges);
}

/** The domain of each pod of an application; -1 for a node without the label. */
export function domainsOf({ pods }: RunningApplication, state: StateView, domains: TrafficDomains): readonly number[] {
  return pods.map((pod) => atOrNone(domains.of, state.nodeOf(pod)));
}

function compareGraphs({ graph: left }: PlacedGraph, { graph: right }: PlacedGraph): number {
  return compareText(left.namespace, right.namespace) || compareText(left.name, right.name);
}

/** What a bit per second costs in an hour at this price of a GiB. */
function hourlyPrice(perGiB: number): number {
  return (perGiB * 3600) / 8 / 2 ** 30;
}

/** The links between domains by price, and by traffic alone. */
export interface TrafficNetworks {
  readonly priced: Network;
  readonly plain: Network;
}

/** The links between the domains of a policy. */
export function networksOf(
  cluster: Cluster,
  domains: TrafficDomains,
  { links, perGiB, nodes }: TrafficOptions,
): TrafficNetworks {
  const { names } = domains;
  const placeOf = new Map(names.map((name, place) => [name, place]));
  const otherwise = perGiB === undefined ? 1 : hourlyPrice(perGiB);
  const known = links.flatMap(({ between: [one, other], perGiB: own, capacity }) => {
    const [from, to] = [placeOf.get(one), placeOf.get(other)];
    const price = own === undefined ? otherwise : hourlyPrice(own);
    return from === undefined || to === undefined ? [] : [{ between: [from, to] as const, price, capacity }];
  });
  const hosts = domainPrices(cluster, domains, nodes);
  return { priced: domainNetwork(names.length, known, otherwise, hosts), plain: domainNetwork(names.length, [], 1) };
}

/** What passes between the domains where an application runs, and what that and its nodes cost; pods without a domain count for nothing. */
export function trafficAmounts(
  { priced, plain }: TrafficNetworks,
  { perGiB }: TrafficOptions,
): (running: RunningApplication, homes: readonly HostIndex[]) => TrafficAmount {
  return (running, homes) => ({
    bandwidth: trafficCost(running, plain, homes),
    cost: perGiB === undefined ? undefined : placementCost(running, priced, homes),
  });
}

/** Pairs of domains with traffic between them, by what their links carry before and after. */
function trafficBetween(
  domains: TrafficDomains,
  { route }: Network,
  before: LinkLoads,
  planned: LinkLoads,
): readonly DomainTraffic[] {
  return domainPairs(domains)
    .map(([from, to]): DomainTraffic => {
      const carried = ({ load }: LinkLoads): number => route(from, to).reduce((sum, link) => sum + load(link), 0);
      const names = [itemAt(domains.names, from), itemAt(domains.names, to)] as const;
      return { domains: names, before: carried(before), planned: carried(planned) };
    })
    .filter((pair) => pair.before > 0 || pair.planned > 0)
    .sort((left, right) => right.before - left.before || right.planned - left.planned);
}

/** What a bit per second costs in an hour where it costs the most. */
export function highestPrice({ prices }: Network): number {
  return prices.reduce((most, price) => Math.max(most, price), 0);
}

/** No node is loaded more for the sake of traffic than the fullest is today, or than the trigger lies above the mean. */
export function fullestOf(state: StateView, trigger: number): number {
  const loads = state.cluster.nodes.map((_, node) => state.load(node));
  const mean = loads.reduce((sum, load) => sum + load, 0) / Math.max(1, loads.length);
  return loads.reduce((most, load) => Math.max(most, load), mean + toLoad(trigger));
}

function describedMoves(
  start: State,
  rerouted: readonly Rerouted[],
  domains: TrafficDomains,
  upTo: number,
): Pick<TrafficPlan, 'moves' | 'fallbacks'> {
  const found = rerouted.flatMap(({ application, moves }) => moves.map((move) => ({ application, move })));
  const accepted = found.map(({ move }) => ({ ...move, partner: undefined }));
  const replay = start.fork();
  const fallbacks = accepted.map(({ pod, from, to }) => {
    replay.lift(pod);
    const others = fallbacksIn(replay, domains, pod, [from, to], upTo);
    replay.place(pod, to);
    return others;
  });
  const moves = withNeeds(start, accepted).map((move, place) => {
    const { application } = itemAt(found, place);
    const nameOf = (node: NodeIndex): string => domains.names[at(domains.of, node)] ?? '';
    const clause = `brings ${application.name} closer together, from ${nameOf(move.from)} to ${nameOf(move.to)}`;
    return { ...move, ended: { repairs: [], clauses: [clause] }, application: application.name };
  });
  return { moves, fallbacks };
}

const MOST_FALLBACKS = 2;

/** The least loaded other nodes of the domain that a pod moves to. */
function fallbacksIn(
  state: State,
  domains: TrafficDomains,
  pod: PodIndex,
  taken: readonly NodeIndex[],
  upTo: number,
): readonly NodeIndex[] {
  const domain = at(domains.of, numberAt(taken, 1));
  return itemAt(domains.nodes, domain)
    .filter((node) => !taken.includes(node) && state.loadWith(pod, node) <= upTo && state.fits(pod, node))
    .sort((left, right) => state.load(left) - state.load(right) || left - right)
    .slice(0, MOST_FALLBACKS);
}

/** An application that its AppGraph does not let be placed, or with pods on nodes that are in no domain. */
function leftAlone(
  { graph, running, homes }: Pick<Treated, 'graph' | 'running'> & { readonly homes: readonly number[] },
  start: State,
  { of }: TrafficDomains,
  label: string,
): readonly Treated[] {
  const lost = running.pods.find((_, place) => homes[place] === NOWHERE);
  if (graph.left === undefined && lost === undefined) {
    return [];
  }
  const nothing: TrafficAmount = { bandwidth: 0, cost: undefined };
  const left = graph.left ?? withoutLabel(start, lost === undefined ? NOWHERE : start.nodeOf(lost), of, label);
  return [{ graph, running, moves: 0, before: nothing, planned: nothing, left }];
}

function withoutLabel(
  { cluster }: State,
  node: NodeIndex,
  of: TrafficDomains['of'],
  label: string,
): Reason | undefined {
  if (atOrNone(of, node) !== NOWHERE) {
    return undefined;
  }
  const message = `runs on ${itemAt(cluster.nodes, node).name}, which has no label ${label}`;
  return { code: 'NodeNotParticipating', message, numbers: {} };
}
