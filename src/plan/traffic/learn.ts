import type { AppGraphInfo, GraphEdge, TrafficSample, UnknownTraffic } from '../../model/app-graph.ts';
import type { PodInfo } from '../../model/pod.ts';
import { matches } from '../../model/selector.ts';
import type { ClusterSnapshot } from '../../model/snapshot.ts';
import { controllerAbove } from '../owners.ts';

/**
 * The graph with the edges that samples of its query show, both directions of a pair together. Samples that are not between two
 * of its members are counted and take no part. Where no edge is left, the graph knows of no traffic and says why.
 */
export function learnEdges(
  graph: AppGraphInfo,
  samples: readonly TrafficSample[],
  snapshot: ClusterSnapshot,
): AppGraphInfo {
  if (samples.length === 0) {
    return withoutTraffic(
      graph,
      'NoSamples',
      'the query gives no sample: has it the right metrics, labels and window?',
    );
  }
  if (samples.every(({ source, destination }) => source === undefined || destination === undefined)) {
    const message =
      'no sample has the labels source_workload and destination_workload: write the query with "sum by (source_workload, destination_workload) (...)"';
    return withoutTraffic(graph, 'NoLabels', message);
  }
  const memberOf = membersByWorkload(graph, snapshot);
  const between = samples.flatMap((sample) => edgeOf(sample, memberOf));
  if (between.length === 0) {
    return withoutTraffic(graph, 'NoMembers', strangersText(samples));
  }
  const ignored = samples.length - between.length;
  return { ...graph, edges: addedUp(between, graph), learning: { kind: 'Learnt', at: snapshot.takenAt, ignored } };
}

/** The graph without edges, and why. `problem` is for people, without a full stop. */
export function withoutTraffic(graph: AppGraphInfo, reason: UnknownTraffic, problem: string): AppGraphInfo {
  const message = `Prometheus server ${graph.query?.server}: ${problem}`;
  return { ...graph, edges: [], learning: { kind: 'Unknown', reason, message } };
}

/** Names of members by the workloads that metrics name: controllers, the topmost one of a pod, or the pod itself. */
function membersByWorkload(
  { namespace, members }: AppGraphInfo,
  { pods, workloads }: ClusterSnapshot,
): ReadonlyMap<string, string> {
  const own = pods.filter((pod) => pod.namespace === namespace);
  const found = members.flatMap((member) => {
    const names =
      'workload' in member
        ? [member.workload.name]
        : own.filter(({ labels }) => matches(member.selector, labels)).map((pod) => workloadOf(pod, workloads));
    return names.map((name) => [name, member.name] as const);
  });
  return new Map(found.reverse()); // the first member that has a workload counts
}

function workloadOf({ name, owner }: PodInfo, workloads: ClusterSnapshot['workloads']): string {
  return owner === undefined ? name : (controllerAbove(workloads.get(owner.uid), workloads)?.name ?? owner.name);
}

/** The edge of a sample between two members; none for any other sample, and for an amount that is none. */
function edgeOf(
  { source, destination, bandwidth }: TrafficSample,
  memberOf: ReadonlyMap<string, string>,
): readonly GraphEdge[] {
  const [from, to] = [memberOf.get(source ?? ''), memberOf.get(destination ?? '')];
  const isAmount = bandwidth >= 0 && bandwidth < Number.POSITIVE_INFINITY;
  return from === undefined || to === undefined || from === to || !isAmount ? [] : [{ from, to, bandwidth }];
}

/** One edge for each pair of members that send anything, in the order of the members. */
function addedUp(edges: readonly GraphEdge[], { members }: AppGraphInfo): readonly GraphEdge[] {
  const places = new Map(members.map(({ name }, place) => [name, place]));
  const placeOf = (name: string): number => places.get(name) ?? -1;
  const sums = new Map<string, GraphEdge>();
  for (const { from: sender, to: receiver, bandwidth } of edges) {
    const [from, to] = placeOf(sender) < placeOf(receiver) ? [sender, receiver] : [receiver, sender];
    const key = JSON.stringify([from, to]);
    sums.set(key, { from, to, bandwidth: bandwidth + (sums.get(key)?.bandwidth ?? 0) });
  }
  return [...sums.values()]
    .filter(({ bandwidth }) => bandwidth > 0)
    .sort((left, right) => placeOf(left.from) - placeOf(right.from) || placeOf(left.to) - placeOf(right.to));
}

const MOST_NAMES = 5;

function strangersText(samples: readonly TrafficSample[]): string {
  const names = [...new Set(samples.flatMap(({ source, destination }) => [source ?? [], destination ?? []].flat()))];
  const shown = names.sort().slice(0, MOST_NAMES).join(', ');
  const more = names.length > MOST_NAMES ? ' and others' : '';
  return `no sample is between two members, they name ${shown}${more}: write members for these workloads, or correct the query`;
}
