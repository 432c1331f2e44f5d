import type { AppGraphInfo, GraphMember } from '../../model/app-graph.ts';
import { type OwnerRef, type PodInfo, podKey } from '../../model/pod.ts';
import { matches } from '../../model/selector.ts';
import { at, itemAt, type PodIndex } from '../indices.ts';
import { ownerOf } from '../owners.ts';
import type { Reason } from '../plan.ts';
import type { PlanningInput } from '../planning-input.ts';
import type { Member, MemberEdge } from './running.ts';

/** An AppGraph with the pods of its members. */
export interface PlacedGraph {
  readonly graph: AppGraphInfo;
  readonly members: readonly Member[];
  readonly edges: readonly MemberEdge[];
  /** Pods that an earlier member has already, as `namespace/name`: each counts once. */
  readonly claimed: readonly string[];
  /** Why the application is left alone, whatever runs where. */
  readonly left: Reason | undefined;
}

/**
 * The AppGraphs with the pods of their members that run on nodes of the snapshot, in the order of the graphs by namespace and
 * name. A pod belongs to the first member of a graph that selects it. A graph that shares a pod with an earlier one is left
 * alone, as is one of whose traffic nothing is known.
 */
export function placedGraphs({ snapshot, pods, subjects }: PlanningInput): readonly PlacedGraph[] {
  const { appGraphs = [] } = snapshot;
  const byNamespace = Map.groupBy(pods.keys(), (pod) => itemAt(pods, pod).namespace);
  const ownerGraphs = new Map<PodIndex, AppGraphInfo>();
  return appGraphs.map((graph) => {
    const own = (byNamespace.get(graph.namespace) ?? []).filter((pod) => at(subjects.located, pod) >= 0);
    const { members, taken, claimed: twice } = podsByMember(graph.members, own, isOf);
    const claimed = twice.map((pod) => podKey(itemAt(pods, pod)));
    const placeOf = new Map(graph.members.map(({ name }, place) => [name, place]));
    const edges = graph.edges.flatMap(({ from, to, bandwidth }): readonly MemberEdge[] => {
      const [one, other] = [placeOf.get(from), placeOf.get(to)];
      return one === undefined || other === undefined ? [] : [{ from: one, to: other, bandwidth }];
    });
    const shared = [...taken].find((pod) => ownerGraphs.has(pod));
    if (shared !== undefined) {
      const left = sharedReason(itemAt(pods, shared), ownerGraphs.get(shared));
      const rest = members.map(({ name, pods }) => ({ name, pods: pods.filter((pod) => !ownerGraphs.has(pod)) }));
      return { graph, members: rest, edges, claimed, left };
    }
    for (const pod of taken) {
      ownerGraphs.set(pod, graph);
    }
    return { graph, members, edges, claimed, left: unknownReason(graph) };
  });

  function isOf(member: GraphMember, pod: PodIndex): boolean {
    const owner = ownerOf(subjects.owners, pod);
    return isMember(member, itemAt(pods, pod), [owner?.ref, owner?.top]);
  }
}

/**
 * The pods of each member of an AppGraph: a pod belongs to the first that selects it. `taken` has those of all members, `claimed` those
 * that another member selects, too, once for each.
 */
export function podsByMember<Pod>(
  graphMembers: readonly GraphMember[],
  pods: readonly Pod[],
  isOf: (member: GraphMember, pod: Pod) => boolean,
) {
  const taken = new Set<Pod>();
  const claimed: Pod[] = [];
  const members = graphMembers.map((member) => {
    const selected = pods.filter((pod) => isOf(member, pod));
    claimed.push(...selected.filter((pod) => taken.has(pod)));
    const free = selected.filter((pod) => !taken.has(pod));
    for (const pod of free) {
      taken.add(pod);
    }
    return { name: member.name, pods: free };
  });
  return { members, taken, claimed } as const;
}

/** Whether a pod with these controllers, its own and those above, is one of a member of an AppGraph of its namespace. */
export function isMember(
  member: GraphMember,
  { labels }: Pick<PodInfo, 'labels'>,
  owners: readonly (Pick<OwnerRef, 'kind' | 'name'> | undefined)[],
): boolean {
  if ('selector' in member) {
    return matches(member.selector, labels);
  }
  const { kind, name } = member.workload;
  return owners.some((each) => each?.kind === kind && each.name === name);
}

function sharedReason(pod: PodInfo, other: AppGraphInfo | undefined): Reason {
  const message = `selects ${podKey(pod)}, which AppGraph ${other?.name} has already: put all that it talks to into one AppGraph, or select other pods`;
  return { code: 'SharedWorkload', message, numbers: {} };
}

function unknownReason({ learning }: AppGraphInfo): Reason | undefined {
  return learning?.kind === 'Unknown' ? { code: 'TrafficUnknown', message: learning.message, numbers: {} } : undefined;
}

/** Pods of applications: they are placed anew whether they may be moved or not. */
export function podsOfApplications(graphs: readonly PlacedGraph[]): readonly PodIndex[] {
  return graphs.flatMap(({ members }) => members.flatMap(({ pods }) => pods));
}
