import type { NodeInfo } from '../model/node.ts';
import { count, trimmed } from './format.ts';

/** kube-controller-manager's --unhealthy-zone-threshold. */
const UNHEALTHY_SHARE = 0.55;
/** So few nodes of a zone may fail by themselves (nodelifecycle, ComputeZoneState). */
const FEW = 2;

const ZONE = 'topology.kubernetes.io/zone';
const REGION = 'topology.kubernetes.io/region';

/** So many nodes fail at once that they may only be cut off from the control plane. */
export interface MassFailure {
  readonly message: string;
  readonly notReady: number;
  readonly nodes: number;
}

/**
 * Why pods stay on a node that has failed, as the node controller leaves them there: most nodes of its zone have failed, but not
 * all, so that the network is more likely to be broken than they are. Where a whole zone has failed, pods leave it, as long as it
 * is not the greater part of the cluster: then the control plane may be what is cut off, and nothing leaves. `undefined`: they
 * may go.
 */
export function massFailure(nodes: readonly NodeInfo[], failed: NodeInfo): MassFailure | undefined {
  const zone = nodes.filter((node) => zoneOf(node) === zoneOf(failed));
  const [all, own] = [healthOf(nodes), healthOf(zone)];
  if (isUnhealthy(all)) {
    return { ...all, message: describe(all, '') };
  }
  const isPartly = isUnhealthy(own) && own.notReady > FEW && own.notReady < own.nodes;
  return isPartly ? { ...own, message: describe(own, ' of its zone') } : undefined;
}

type Health = Pick<MassFailure, 'notReady' | 'nodes'>;

function healthOf(nodes: readonly NodeInfo[]): Health {
  return { notReady: nodes.filter(({ ready }) => !ready).length, nodes: nodes.length };
}

function isUnhealthy({ notReady, nodes }: Health): boolean {
  return notReady >= UNHEALTHY_SHARE * nodes;
}

function describe({ notReady, nodes }: Health, where: string): string {
  return `${notReady} of ${count(nodes, 'node')}${where} not Ready: from ${trimmed(100 * UNHEALTHY_SHARE)} % on they may only be cut off`;
}

/** A node without labels is in the zone of all such nodes. */
function zoneOf({ labels }: NodeInfo): string {
  return `${labels.get(REGION) ?? ''}/${labels.get(ZONE) ?? ''}`;
}
