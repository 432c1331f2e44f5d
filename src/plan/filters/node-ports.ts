import type { NodeInfo } from '../../model/node.ts';
import type { HostPort } from '../../model/pod.ts';
import type { FreeCapacity } from '../free-capacity.ts';
import type { Refusal, Subject } from './refusal.ts';

const ANY_ADDRESS = '0.0.0.0';

/** kube-scheduler's NodePorts: no host port of the pod may collide with one in use on the node. */
export function nodePorts({ constraints }: Subject, _node: NodeInfo, room: FreeCapacity): Refusal | undefined {
  if (constraints.hostPorts.length === 0 || room.ports.length === 0) {
    return undefined;
  }
  const port = constraints.hostPorts.find((wanted) => room.ports.some((used) => collide(wanted, used)));
  return port === undefined ? undefined : { filter: 'NodePorts', port };
}

/**
 * Same protocol and port, and the same address or one that stands for all of them
 * (framework.HostPortInfo.CheckConflict).
 */
function collide(left: HostPort, right: HostPort): boolean {
  return (
    left.port === right.port &&
    left.protocol === right.protocol &&
    (left.ip === right.ip || left.ip === ANY_ADDRESS || right.ip === ANY_ADDRESS)
  );
}
