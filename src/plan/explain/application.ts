import type { AppGraphInfo } from '../../model/app-graph.ts';
import type { ClusterSnapshot } from '../../model/snapshot.ts';
import { atOrNone, itemAt, type PodIndex } from '../indices.ts';
import type { PolicyOptions, TrafficOptions } from '../options.ts';
import type { Plan, Reason, TrafficAmount } from '../plan.ts';
import { clusterOf } from '../planning-input.ts';
import { initialState, type State } from '../state.ts';
import { type PlacedGraph, placedGraphs, podsOfApplications } from '../traffic/applications.ts';
import { trafficDomains } from '../traffic/domains.ts';
import { domainsOf, networksOf, runningOf, trafficAmounts } from '../traffic/reduce-traffic.ts';
import { type DomainForPod, otherDomains } from './domain.ts';
import { type Inquiry, inquire, type PodStanding } from './inquiry.ts';

/** Where an application runs, what passes between domains, and why its pods stay or go. */
export interface ApplicationExplanation {
  readonly namespace: string;
  /** Of its AppGraph. */
  readonly name: string;
  /** Node label whose values are the domains. */
  readonly domain: string;
  /** Pods of its members that the plan moves. */
  readonly moves: number;
  /** Traffic between domains, where the pods run and where the plan has them. */
  readonly before: TrafficAmount;
  readonly planned: TrafficAmount;
  /** Why the plan does not bring it closer together; `undefined` when it does, or nothing passes between domains. */
  readonly stays: Reason | undefined;
  readonly members: readonly MemberExplanation[];
  /** As the AppGraph has them. */
  readonly edges: readonly EdgeExplanation[];
  /** Pods that an earlier AppGraph or member has already, as `namespace/name`. */
  readonly claimed: readonly string[];
}

/** The pods of a member. */
export interface MemberExplanation {
  readonly name: string;
  /** As the snapshot has them. */
  readonly pods: readonly ApplicationPod[];
}

/** A pod of an application. */
export interface ApplicationPod extends PodStanding {
  /** Domain of its node; `undefined`: the node has no label, or takes no part. */
  readonly domain: string | undefined;
  /** Where the plan has it. */
  readonly planned: string | undefined;
  /** Domains in which it would save traffic while the plan leaves it where it is, the largest saving first. */
  readonly elsewhere: readonly DomainForPod[];
}

/** What a member sends to another one. */
export interface EdgeExplanation {
  readonly from: string;
  readonly to: string;
  /** Bits per second, of which `before` and `planned` pass between domains. */
  readonly bandwidth: number;
  readonly before: TrafficAmount;
  readonly planned: TrafficAmount;
}

/** Explains the application of an AppGraph of the snapshot. Throws RangeError when the snapshot does not have it. */
export function explainApplication(
  snapshot: ClusterSnapshot,
  options: PolicyOptions,
  strategy: TrafficOptions,
  { namespace, name }: Pick<AppGraphInfo, 'namespace' | 'name'>,
): ApplicationExplanation {
  const inquiry = inquire(snapshot, options);
  const { planningInput, plan, standingOf } = inquiry;
  const graphs = placedGraphs(planningInput);
  const own = graphs.find(({ graph }) => graph.namespace === namespace && graph.name === name);
  if (own === undefined) {
    throw new RangeError(`AppGraph ${namespace}/${name} is not in the snapshot that it was found in`);
  }
  const cluster = clusterOf(planningInput, options, podsOfApplications(graphs));
  const start = initialState(cluster);
  const end = stateAfter(start, plan);
  const domains = trafficDomains(cluster, strategy.domain);
  const networks = networksOf(cluster, domains, strategy);
  const ofAll = trafficAmounts(networks, strategy);
  /** An edge has a price, its pods have not: they run for all of its edges. */
  const ofEdge = trafficAmounts({ ...networks, priced: { ...networks.priced, hostPrice: () => 0 } }, strategy);
  const amounts = (graph: PlacedGraph, amountOf: AmountOf): Pick<EdgeExplanation, 'before' | 'planned'> => {
    const running = runningOf(start, graph);
    const amountIn = (state: State): TrafficAmount => amountOf(running, domainsOf(running, state, domains));
    return { before: amountIn(start), planned: amountIn(end) };
  };
  const nameOf = (state: State, pod: PodIndex): string | undefined =>
    domains.names[atOrNone(domains.of, state.nodeOf(pod))];
  const elsewhere = otherDomains({ inquiry, graphs, start, end, domains, networks, strategy, options });
  const podOf = (pod: PodIndex): ApplicationPod => ({
    ...standingOf(pod),
    domain: nameOf(start, pod),
    planned: nameOf(end, pod),
    elsewhere: elsewhere(own, pod),
  });
  const members = own.members.map(({ name: member, pods }) => ({ name: member, pods: pods.map(podOf) }));
  return {
    namespace,
    name,
    domain: strategy.domain,
    moves: members.flatMap(({ pods }) => pods).filter(({ decision }) => decision.kind === 'Moves').length,
    ...amounts(own, ofAll),
    stays: whyItStays(inquiry, own.graph),
    members,
    edges: own.edges.map((edge) => ({
      from: itemAt(members, edge.from).name,
      to: itemAt(members, edge.to).name,
      bandwidth: edge.bandwidth,
      ...amounts({ ...own, edges: [edge] }, ofEdge),
    })),
    claimed: own.claimed,
  };
}

type AmountOf = ReturnType<typeof trafficAmounts>;

/** Where a plan has every pod, on the nodes that take part. */
function stateAfter(start: State, { moves }: Plan): State {
  const end = start.fork();
  const { pods, nodes } = start.cluster;
  const podOf = new Map(pods.map(({ uid }, pod) => [uid, pod]));
  const nodeOf = new Map(nodes.map(({ name }, node) => [name, node]));
  for (const {
    pod: { uid },
    to = '',
  } of moves) {
    const [pod, node] = [podOf.get(uid), nodeOf.get(to)];
    if (pod !== undefined && node !== undefined) {
      (end.nodeOf(pod) < 0 ? end.place : end.move)(pod, node);
    }
  }
  return end;
}

function whyItStays({ plan, unmeasured }: Inquiry, { namespace, name }: AppGraphInfo): Reason | undefined {
  if (unmeasured !== undefined) {
    return { code: 'NodeNotParticipating', message: `no node takes part: ${unmeasured}`, numbers: {} };
  }
  return plan.traffic?.applications.find((each) => each.namespace === namespace && each.name === name)?.stays;
}
