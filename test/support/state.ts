import type { ClusterSnapshot } from '../../src/model/snapshot.ts';
import { type Cluster, indexCluster } from '../../src/plan/cluster.ts';
import { indexNodes } from '../../src/plan/node-index.ts';
import type { PolicyOptions } from '../../src/plan/options.ts';
import { locatePods, sortNodes, sortPods } from '../../src/plan/order.ts';
import { indexOwners } from '../../src/plan/owners.ts';
import { participation } from '../../src/plan/participation.ts';
import { sortIntoKinds } from '../../src/plan/pod-kinds.ts';
import { measurePods } from '../../src/plan/pod-usage.ts';
import { createShapeRegistry } from '../../src/plan/shapes.ts';
import { initialState, type State } from '../../src/plan/state.ts';
import { someOptions } from './builders/options.ts';

/** The index of a snapshot in which nothing is protected. */
export function clusterOf(snapshot: ClusterSnapshot, options: PolicyOptions = someOptions()): Cluster {
  const nodes = sortNodes(snapshot.nodes);
  const pods = sortPods(snapshot.pods);
  const kinds = sortIntoKinds(pods);
  const owners = indexOwners(kinds, snapshot.workloads);
  const subjects = { pods, nodes, kinds, owners, located: locatePods(pods, nodes) };
  const movable = new Set(pods.map(({ constraints }) => constraints));
  const { participants } = participation({ snapshot, nodes, pods, movable, hasMovablePods: () => false, options });
  const sites = indexNodes({ ...subjects, storage: snapshot.storage, namespaces: snapshot.namespaces });
  return indexCluster({
    participants,
    sites,
    subjects,
    usage: measurePods(subjects, snapshot, options),
    isFree: () => true,
    placeable: [],
    shapes: createShapeRegistry({ sites, kinds, owners, guard: undefined }),
    guard: undefined,
    options,
  });
}

/** The state in which a plan for the snapshot begins. */
export function stateOf(snapshot: ClusterSnapshot, options: PolicyOptions = someOptions()): State {
  return initialState(clusterOf(snapshot, options));
}
