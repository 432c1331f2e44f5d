import type { PodInfo } from '../../model/pod.ts';
import type { Labels } from '../../model/selector.ts';
import type { Cluster } from '../cluster.ts';
import { at, itemAt, type NodeIndex, type PodIndex } from '../indices.ts';

/** Which pods keep nodes from being empty, while some of them are moved. */
export interface Residents {
  readonly on: (node: NodeIndex) => ReadonlySet<PodIndex>;
  readonly isEmpty: (node: NodeIndex) => boolean;
  readonly move: (pod: PodIndex, from: NodeIndex, to: NodeIndex) => void;
}

/** The residents of each node where the plan begins. */
export function residentsOf({ nodes, pods, home }: Cluster): Residents {
  const sets = nodes.map(() => new Set<PodIndex>());
  pods.forEach((pod, place) => {
    const node = at(home, place);
    if (node >= 0 && keepsNode(pod)) {
      sets[node]?.add(place);
    }
  });
  const on = (node: NodeIndex): Set<PodIndex> => itemAt(sets, node);
  return {
    on,
    isEmpty: (node) => on(node).size === 0,
    move: (pod, from, to) => {
      on(from).delete(pod);
      on(to).add(pod);
    },
  };
}

/**
 * Whether an autoscaler would have to wait for the pod, or evict it: pods of DaemonSets and mirror pods go with their node
 * (cluster-autoscaler, simulator/drain), and one that is being deleted is on its way.
 */
function keepsNode({ mirror, owner, terminating }: PodInfo): boolean {
  return !mirror && !terminating && owner?.kind !== 'Node' && owner?.kind !== 'DaemonSet';
}

/** Whether a node of these labels belongs to the control plane, which no autoscaler removes. */
export function isControlPlane(labels: Labels): boolean {
  return labels.has('node-role.kubernetes.io/control-plane') || labels.has('node-role.kubernetes.io/master');
}
