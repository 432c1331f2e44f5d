import type { AppGraphInfo } from '../model/app-graph.ts';
import { isMember, podsByMember } from '../plan/traffic/applications.ts';
import type { TrafficResult } from '../report/simulation-result.ts';
import type { SimulatedPod, World } from './world.ts';

/** Measures what applications say between domains, window by window of the metrics. */
export interface TrafficMeter {
  /** Looks at who serves where, at the end of a window of so many seconds. */
  look(span: number): void;
  /** `undefined` without AppGraphs. */
  result(): TrafficResult | undefined;
}

/** What two members say is shared evenly by the pairs of their pods that serve. Nothing is said while one of them has none. */
export function createTrafficMeter(world: World): TrafficMeter {
  const { traffic } = world.scenario;
  if (traffic === undefined) {
    return { look: () => undefined, result: () => undefined };
  }
  const { domain, graphs, links } = traffic;
  const capacities = new Map(links.map(({ between: [one, other], capacity }) => [pairKey(one, other), capacity]));
  const sums = { time: 0, bits: 0, max: 0, end: 0, overloaded: 0 };
  const domainOf = ({ info }: SimulatedPod): string | undefined =>
    world.nodes.get(info.nodeName ?? '')?.info.labels.get(domain);
  return {
    look: (span) => {
      const carried = new Map<string, number>();
      const serving = Map.groupBy(world.pods.filter(world.isServing), ({ info }) => info.namespace);
      for (const graph of graphs) {
        addTraffic(carried, graph, serving.get(graph.namespace) ?? [], domainOf);
      }
      const bandwidth = [...carried.values()].reduce((sum, each) => sum + each, 0);
      const over = [...carried].some(([pair, each]) => each > (capacities.get(pair) ?? Number.POSITIVE_INFINITY));
      sums.time += span;
      sums.bits += span * bandwidth;
      sums.max = Math.max(sums.max, bandwidth);
      sums.end = bandwidth;
      sums.overloaded += over ? span : 0;
    },
    result: () => ({
      domain,
      mean: sums.time === 0 ? 0 : sums.bits / sums.time,
      max: sums.max,
      end: sums.end,
      overloaded: sums.overloaded,
    }),
  };
}

/** Adds what a graph says between domains, by pair; `pods` are those of its namespace that serve. Pods on nodes without a domain count for nothing. */
function addTraffic(
  carried: Map<string, number>,
  graph: AppGraphInfo,
  pods: readonly SimulatedPod[],
  domainOf: (pod: SimulatedPod) => string | undefined,
): void {
  const { members } = podsByMember(graph.members, pods, (member, { info, workload }) =>
    isMember(member, info, [info.owner, workload.info.owner]),
  );
  const shares = new Map(members.map((member) => [member.name, Map.groupBy(member.pods, domainOf)]));
  for (const { from, to, bandwidth } of graph.edges) {
    const [ones, others] = [shares.get(from), shares.get(to)];
    const pairs = sizeOf(ones) * sizeOf(others);
    for (const [here, speakers] of ones ?? []) {
      for (const [there, listeners] of others ?? []) {
        if (here !== undefined && there !== undefined && here !== there) {
          const key = pairKey(here, there);
          const share = (speakers.length * listeners.length) / pairs;
          carried.set(key, (carried.get(key) ?? 0) + bandwidth * share);
        }
      }
    }
  }
}

function sizeOf(groups: ReadonlyMap<string | undefined, readonly SimulatedPod[]> | undefined): number {
  return [...(groups?.values() ?? [])].reduce((sum, { length }) => sum + length, 0);
}

/** The same for both orders. */
function pairKey(one: string, other: string): string {
  return one < other ? `${one}/${other}` : `${other}/${one}`;
}
