import { requestedOf } from '../../model/resources.ts';
import { itemAt, type NodeIndex, type PodIndex } from '../indices.ts';
import type { StateView } from '../state.ts';
import { type Application, applicationOf, type Edge } from './application.ts';

/** A workload of an application that runs. */
export interface Member {
  readonly name: string;
  readonly pods: readonly PodIndex[];
}

/** Bits per second between two members, by place. */
export interface MemberEdge {
  readonly from: number;
  readonly to: number;
  readonly bandwidth: number;
}

/** An application that runs: its components are the pods of its members. */
export interface RunningApplication {
  readonly name: string;
  readonly application: Application;
  /** By component. */
  readonly pods: readonly PodIndex[];
}

/** The resources that count for affinities. */
const RESOURCES = ['cpu', 'memory'] as const;

/** What a pod requests of cpu and memory. */
export function demandOf({ cluster }: StateView, pod: PodIndex): Float64Array {
  const { requests } = itemAt(cluster.pods, pod).constraints;
  return Float64Array.from(RESOURCES, (name) => requestedOf(requests, name));
}

/** What a node has left of cpu and memory. */
export function leftOn({ cluster, whereabouts }: StateView, node: NodeIndex): Float64Array {
  const { cpu, memory } = whereabouts.freeCapacityOf(cluster.siteOf[node] ?? -1);
  return Float64Array.of(cpu, memory);
}

/** An application of members; what two members say is shared evenly by the pairs of their pods. */
export function runningApplication(
  state: StateView,
  name: string,
  members: readonly Member[],
  edges: readonly MemberEdge[],
): RunningApplication {
  const pods = members.flatMap((member) => member.pods);
  const components = members.map((member) => member.pods.map((pod) => pods.indexOf(pod)));
  const pairs = edges.flatMap(({ from, to, bandwidth }): readonly Edge[] => {
    const [ones, others] = [components[from] ?? [], components[to] ?? []];
    const each = bandwidth / (ones.length * others.length);
    return ones.flatMap((one) => others.map((other) => ({ from: one, to: other, bandwidth: each })));
  });
  return {
    name,
    pods,
    application: applicationOf(
      pods.map((pod) => demandOf(state, pod)),
      pairs,
    ),
  };
}
