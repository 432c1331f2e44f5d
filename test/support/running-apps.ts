import type { NodeInfo } from '../../src/model/node.ts';
import type { PodInfo } from '../../src/model/pod.ts';
import type { ClusterSnapshot } from '../../src/model/snapshot.ts';
import type { State } from '../../src/plan/state.ts';
import {
  type DomainPrice,
  domainNetwork,
  type TrafficDomains,
  trafficDomains,
} from '../../src/plan/traffic/domains.ts';
import { createLinkLoads, type LinkLoads, type Network } from '../../src/plan/traffic/network.ts';
import { talk } from '../../src/plan/traffic/reroute.ts';
import { type MemberEdge, type RunningApplication, runningApplication } from '../../src/plan/traffic/running.ts';
import { someOptions } from './builders/options.ts';
import { aNode, aPod, aSnapshot, aWorkload } from './builders.ts';
import { createRandom } from './random.ts';
import { stateOf } from './state.ts';

/** A cluster in zones on which applications run, each spread over them at random. */
export interface RunningCase {
  readonly snapshot: ClusterSnapshot;
  readonly applications: readonly {
    readonly name: string;
    /** Names of the pods of each member. */
    readonly members: readonly (readonly string[])[];
    readonly edges: readonly MemberEdge[];
  }[];
}

/** How large a case is, and how full. */
export interface RunningSettings {
  readonly seed: number;
  readonly nodes: number;
  readonly zones: number;
  readonly applications: number;
  readonly members: number;
  /** Share of all nodes' CPU that pods request. */
  readonly utilisation: number;
}

const ZONE = 'topology.kubernetes.io/zone';
const MEGABIT = 1e6;

/** Members have one to three replicas; three of ten pairs of members talk, each with .6 to 20 Mb/s. */
export function runningCase({ seed, nodes, zones, applications, members, utilisation }: RunningSettings): RunningCase {
  const { next, below } = createRandom(seed);
  const all = Array.from({ length: nodes }, (_, place) =>
    aNode(`node-${String(place).padStart(3, '0')}`, {
      labels: { [ZONE]: `zone-${place % zones}` },
      allocatable: { cpu: 16_000, memory: 64 * 2 ** 30 },
    }),
  );
  const drawn = Array.from({ length: applications }, (_, app) => ({
    name: `app-${app}`,
    members: Array.from({ length: members }, (_, member) =>
      Array.from({ length: 1 + below(3) }, (_, replica) => `app-${app}-${member}-${replica}`),
    ),
    edges: edgesOf(members, next),
  }));
  const names = drawn.flatMap((each) => each.members.flat());
  const sizes = names.map(() => 0.5 + next());
  const scale = (utilisation * nodes * 16_000) / sizes.reduce((sum, size) => sum + size, 0);
  const free = new Map(all.map(({ name }) => [name, 16_000]));
  const pods = names.map((name, place): PodInfo => {
    const wanted = Math.round((sizes[place] ?? 0) * scale);
    const node = drawNode(all, free, wanted, below);
    const cpu = Math.min(wanted, free.get(node) ?? 0);
    free.set(node, (free.get(node) ?? 0) - cpu);
    return aPod(name, {
      nodeName: node,
      owner: name.replace(/-\d+$/, ''),
      constraints: { requests: { cpu, memory: 2 ** 20 } },
    });
  });
  const owners = new Set(pods.map(({ owner }) => owner?.name ?? ''));
  const workloads = [...owners].map((name) => aWorkload(name));
  return { snapshot: aSnapshot({ nodes: all, pods, workloads }), applications: drawn };
}

function edgesOf(members: number, next: () => number): readonly MemberEdge[] {
  const edges: MemberEdge[] = [];
  for (let from = 0; from < members; from += 1) {
    for (let to = 0; to < from; to += 1) {
      if (next() < 0.3) {
        edges.push({ from, to, bandwidth: Math.round((0.6 + 19.4 * next()) * MEGABIT) });
      }
    }
  }
  return edges;
}

/** Of two nodes drawn at random the emptier one, else the emptiest of all. */
function drawNode(
  nodes: readonly NodeInfo[],
  free: ReadonlyMap<string, number>,
  cpu: number,
  below: (bound: number) => number,
): string {
  const roomOf = (name: string): number => free.get(name) ?? 0;
  const emptiest = (names: readonly string[]): string =>
    names.reduce((most, name) => (roomOf(name) > roomOf(most) ? name : most));
  const names = nodes.map(({ name }) => name);
  const drawn = emptiest([0, 0].map(() => names[below(names.length)] ?? ''));
  return roomOf(drawn) >= cpu ? drawn : emptiest(names);
}

/** A case on the planner's state: traffic between zones costs 1 a Gb/s and hour. */
export interface StagedCase {
  readonly state: State;
  readonly domains: TrafficDomains;
  readonly network: Network;
  readonly loads: LinkLoads;
  readonly running: readonly RunningApplication[];
}

/** `prices` are what running costs, by zone. */
export function stage(
  { snapshot, applications }: RunningCase,
  price = 1e-9,
  prices: readonly DomainPrice[] = [],
): StagedCase {
  const state = stateOf(snapshot, someOptions({ load: { source: 'Requests' } }));
  const places = new Map(state.cluster.pods.map(({ name }, place) => [name, place]));
  const domains = trafficDomains(state.cluster, ZONE);
  const network = domainNetwork(domains.names.length, [], price, prices);
  const loads = createLinkLoads(network);
  const running = applications.map(({ name, members, edges }) => {
    const pods = (names: readonly string[]) => names.map((pod) => places.get(pod) ?? -1);
    return runningApplication(
      state,
      name,
      members.map((names, member) => ({ name: `${name}-${member}`, pods: pods(names) })),
      edges,
    );
  });
  for (const each of running) {
    talk(each, loads, domainsOf(each, state, domains), 1);
  }
  return { state, domains, network, loads, running };
}

/** The domain of each pod of an application, as the state has them. */
export function domainsOf({ pods }: RunningApplication, state: State, domains: TrafficDomains): readonly number[] {
  return pods.map((pod) => domains.of[state.nodeOf(pod)] ?? -1);
}
