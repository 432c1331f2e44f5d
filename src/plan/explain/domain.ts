import { bitRate } from '../../model/bandwidth.ts';
import { compareText } from '../../model/compare-text.ts';
import { budgetsInForce } from '../budgets/in-force.ts';
import { type Budgets, createBudgets } from '../budgets/index.ts';
import { describeRefusal } from '../filters/refusal.ts';
import { itemAt, type NodeIndex, numberAt, type PodIndex } from '../indices.ts';
import { share } from '../load.ts';
import type { PolicyOptions, TrafficOptions } from '../options.ts';
import type { TrafficAmount } from '../plan.ts';
import type { BudgetName, RefusalName, TrafficName } from '../rejection-codes.ts';
import type { State } from '../state.ts';
import type { PlacedGraph } from '../traffic/applications.ts';
import { domainPairs, type TrafficDomains } from '../traffic/domains.ts';
import { NOWHERE } from '../traffic/hosts.ts';
import type { HostIndex, LinkLoads } from '../traffic/network.ts';
import {
  domainsOf,
  fullestOf,
  highestPrice,
  runningOf,
  type TrafficNetworks,
  trafficAmounts,
} from '../traffic/reduce-traffic.ts';
import { loadsOf } from '../traffic/reroute.ts';
import type { RunningApplication } from '../traffic/running.ts';
import type { Inquiry } from './inquiry.ts';

/** What a domain says to a pod that the plan leaves in another one, with every other pod where the plan has it. */
export interface DomainForPod {
  readonly domain: string;
  /** What the pod alone would save there. */
  readonly saving: TrafficAmount;
  /** Nodes of the domain that take part. */
  readonly nodes: number;
  /** Why the plan does not move the pod there besides what protects it: filters by their nodes, then what is about the move. */
  readonly obstacles: readonly Obstacle[];
}

/** Why a pod does not go to a domain. */
export interface Obstacle {
  /** A filter or a budget; NodeLoad: nodes would be loaded too much; LinkCapacity: a link would carry too much. */
  readonly code: RefusalName | BudgetName | TrafficName | 'NodeLoad' | 'LinkCapacity';
  readonly message: string;
  /** Nodes of the domain that it is about; `undefined`: all. */
  readonly nodes: number | undefined;
}

/** What the domains are asked with. */
export interface DomainInquiry {
  readonly inquiry: Inquiry;
  readonly graphs: readonly PlacedGraph[];
  /** Where the pods are before and after the plan. */
  readonly start: State;
  readonly end: State;
  readonly domains: TrafficDomains;
  readonly networks: TrafficNetworks;
  readonly strategy: TrafficOptions;
  readonly options: PolicyOptions;
}

/** The domains in which a pod would save traffic that the plan leaves where it is, the largest saving first. */
export function otherDomains(asked: DomainInquiry): (own: PlacedGraph, pod: PodIndex) => readonly DomainForPod[] {
  const { graphs, start, end, domains, networks, strategy } = asked;
  const amountOf = trafficAmounts(networks, strategy);
  const obstaclesOf = createObstacles(asked);
  const applications = new Map(graphs.map((graph) => [graph, runningOf(start, graph)]));
  return (own, pod) => {
    const running = applications.get(own);
    const component = running?.pods.indexOf(pod) ?? -1;
    if (running === undefined || component < 0 || start.nodeOf(pod) !== end.nodeOf(pod)) {
      return [];
    }
    const homes = domainsOf(running, end, domains);
    const now = amountOf(running, homes);
    return domains.names
      .flatMap((domain, host): readonly DomainForPod[] => {
        const there = homes.with(component, host);
        const saving = difference(now, amountOf(running, there));
        const nodes = itemAt(domains.nodes, host);
        return homes[component] === NOWHERE || (saving.cost ?? saving.bandwidth) <= 0
          ? []
          : [
              {
                domain,
                saving,
                nodes: nodes.length,
                obstacles: obstaclesOf({ running, homes, there, pod, saving, nodes }),
              },
            ];
      })
      .sort((left, right) => worth(right) - worth(left) || compareText(left.domain, right.domain));
  };
}

function worth({ saving }: DomainForPod): number {
  return saving.cost ?? saving.bandwidth;
}

function difference(left: TrafficAmount, right: TrafficAmount): TrafficAmount {
  return {
    bandwidth: left.bandwidth - right.bandwidth,
    cost: left.cost === undefined ? undefined : left.cost - (right.cost ?? 0),
  };
}

/** A pod that would go to a domain. */
interface Wish {
  readonly running: RunningApplication;
  /** Domains of the pods of its application without and with the move. */
  readonly homes: readonly HostIndex[];
  readonly there: readonly HostIndex[];
  readonly pod: PodIndex;
  readonly saving: TrafficAmount;
  readonly nodes: readonly NodeIndex[];
}

function createObstacles(asked: DomainInquiry): (wish: Wish) => readonly Obstacle[] {
  const { start, end, options } = asked;
  const upTo = fullestOf(start, options.thresholds.trigger);
  const budgets = spentBudgets(asked);
  const loads = loadsAfter(asked);
  return (wish) => {
    const { pod, nodes } = wish;
    const target = nodes.find((node) => end.fits(pod, node) && end.loadWith(pod, node) <= upTo);
    return [
      ...(target === undefined ? byNode(end, wish, upTo) : []),
      ...budgets
        .refusals(pod, target ?? numberAt(nodes, 0))
        .map(({ code, message }) => ({ code, message, nodes: undefined })),
      ...fullLink(asked, loads, wish),
      ...tooLittle(asked, wish),
    ];
  };
}

/** The budgets with what the plan has spent of them. */
function spentBudgets({ inquiry: { planningInput, plan }, start, options }: DomainInquiry): Budgets {
  const entries = budgetsInForce(options.budgets, planningInput.snapshot.takenAt);
  const budgets = createBudgets(entries, start.cluster, planningInput.pdbs, planningInput.history);
  const moved = new Set(plan.moves.map(({ pod }) => pod.uid));
  for (const [pod, { uid }] of start.cluster.pods.entries()) {
    if (moved.has(uid)) {
      budgets.spend(pod);
    }
  }
  return budgets;
}

/** What links carry after the plan. */
function loadsAfter({ graphs, start, end, domains, networks }: DomainInquiry): LinkLoads {
  const seated = graphs
    .map((graph) => runningOf(start, graph))
    .map((running) => ({ running, homes: domainsOf(running, end, domains) }));
  return loadsOf(
    seated.filter(({ homes }) => !homes.includes(NOWHERE)),
    networks.priced,
  );
}

/** What the first filter that refuses says, or the load, for each node; those that say the same are counted. */
function byNode(end: State, { pod, nodes }: Wish, upTo: number): readonly Obstacle[] {
  const verdicts = nodes.map((node): Obstacle & { readonly node: string } => {
    const { name } = itemAt(end.cluster.nodes, node);
    const refusal = end.refusal(pod, node);
    return refusal === undefined
      ? {
          code: 'NodeLoad',
          message: `would be at ${share(end.loadWith(pod, node))}, above ${share(upTo)}`,
          nodes: 1,
          node: name,
        }
      : { code: refusal.filter, message: describeRefusal(refusal), nodes: 1, node: name };
  });
  return [...Map.groupBy(verdicts, ({ code }) => code).values()]
    .map((group): Obstacle => {
      const { code, message, node } = itemAt(group, 0);
      return { code, message: `${node} ${message}`, nodes: group.length };
    })
    .sort((left, right) => (right.nodes ?? 0) - (left.nodes ?? 0) || compareText(left.code, right.code));
}

/** The first link that would carry more than it has capacity for, and more than without the move. */
function fullLink(
  { networks: { priced }, domains }: DomainInquiry,
  loads: LinkLoads,
  { running, homes, there }: Wish,
): readonly Obstacle[] {
  const before = loadsOf([{ running, homes }], priced);
  const after = loadsOf([{ running, homes: there }], priced);
  return domainPairs(domains).flatMap(([from, to]): readonly Obstacle[] => {
    const [one, other] = [itemAt(domains.names, from), itemAt(domains.names, to)];
    const [link = -1] = priced.route(from, to);
    const added = after.load(link) - before.load(link);
    const carried = loads.load(link) + added;
    const capacity = priced.capacities[link] ?? Number.POSITIVE_INFINITY;
    const message = `${one} and ${other} would exchange ${bitRate(carried)} of ${bitRate(capacity)}`;
    return added > 0 && carried > capacity ? [{ code: 'LinkCapacity', message, nodes: undefined }] : [];
  });
}

/** That the move saves less than a move has to. */
function tooLittle({ networks: { priced }, strategy }: DomainInquiry, { saving }: Wish): readonly Obstacle[] {
  const least = strategy.minSaving * highestPrice(priced);
  const message = `the move saves less than minSaving, ${bitRate(strategy.minSaving)}`;
  return (saving.cost ?? saving.bandwidth) < least ? [{ code: 'NotWorthMoving', message, nodes: undefined }] : [];
}
