import type { ServiceLevels } from '../../model/service-level.ts';
import type { ClusterSnapshot, UsageSamples } from '../../model/snapshot.ts';
import { pastMovesOf } from '../../observe/project/past-moves.ts';
import type { ClusterReader } from '../../ports.ts';
import type { World } from '../world.ts';
import type { PlanObjects } from './plans.ts';

interface ReaderSources {
  readonly plans: PlanObjects;
  readonly usage: () => UsageSamples | undefined;
  readonly serviceLevels: () => ServiceLevels;
}

/** The modelled cluster as an API server would show it: at its own time, in whole seconds. */
export function createReader(world: World, { plans, usage, serviceLevels }: ReaderSources): ClusterReader {
  const snapshot = (extras: Partial<ClusterSnapshot>): ClusterSnapshot =>
    world.snapshot({ pastMoves: [], serviceLevels: serviceLevels(), usage: undefined, ...extras });
  return {
    snapshot: async () => snapshot({ pastMoves: pastMovesOf(plans.stored.values()), usage: usage() }),
    placements: async () => snapshot({}),
    measured: async () => snapshot({ usage: usage() }),
    promises: async () => ({ namespaces: world.scenario.namespaces, serviceLevels: serviceLevels() }),
    pod: async (ref) => ({ pod: world.podNamed(ref)?.info, serverTime: world.serverTime() }),
    namespace: async (name) => ({ labels: world.scenario.namespaces.get(name) ?? new Map(), terminating: false }),
    node: async (name) => world.nodes.get(name)?.info,
    podsOnNode: async (name) => world.pods.flatMap(({ info }) => (info.nodeName === name ? [info] : [])),
    podsOfOwner: async (namespace, { uid }) =>
      world.pods.flatMap(({ info }) => (info.owner?.uid === uid && info.namespace === namespace ? [info] : [])),
    workload: async (_, { uid }) => world.workloads.get(uid)?.info,
    nodes: async () => [...world.nodes.values()].map(({ info }) => info),
    nodeUsage: async () => {
      const samples = usage();
      return samples === undefined ? undefined : { nodes: samples.nodes, serverTime: world.serverTime() };
    },
  };
}
