import { childOf, isObject, type JsonObject } from '../../model/json.ts';
import { OPERATOR_CONTAINER, replicaName } from '../../model/replica.ts';
import type { ReplicaContainers } from '../../ports.ts';
import { instantOf } from './lease-store.ts';
import type { ReadingClient } from './list.ts';
import { describeDiff } from './object-table.ts';
import { Reflector } from './reflector.ts';
import { RESOURCES } from './resource.ts';

/** What is kept of a pod. */
interface ReplicaPod {
  readonly uid: string;
  /** When its container of the operator last began or ended, by the clock of its node, in whole seconds; 0 before the first time. */
  readonly changedAt: number;
}

/**
 * The containers of the replicas in `namespace`, from a watch of its pods that `client` sends. `ownPod` is the name of the pod that this
 * process runs in. `report` hears of lists and watches that failed; nothing has ended then as far as is known.
 *
 * A container that began, or ended, after the holder had got the Lease is not the one that it got it in, or has ended with it. Both times
 * are of one clock, that of the node: the kubelet's and the holder's own. Should that clock have been set back between the start of
 * the container and the Lease, this would be so from the beginning. So it counts only if it was not so at the first look, and for the same
 * pod; but in this process's own pod, whose earlier containers have ended, it counts at once.
 */
export function createReplicaContainers(
  client: ReadingClient,
  namespace: string,
  ownPod: string,
  report: (error: unknown) => void,
): ReplicaContainers {
  const listeners: (() => void)[] = [];
  let known = '';
  const pods = new Reflector(client, { target: { ...RESOURCES.Pod, namespace }, metadataOnly: false }).handle({
    read: readPod,
    changed: () => {
      const instants = [...pods.entries.values()].map(({ value }) => value.changedAt).join(' ');
      if (instants !== known) {
        known = instants;
        listeners.forEach((changed) => void changed());
      }
    },
    failed: report,
    drifted: (diff) => report(new Error(`${pods.name} had drifted: ${describeDiff(diff)}`)),
  });
  /** Holders, with the uid of the pod that they were seen running in at first; undefined where they were not. */
  const seenIn = new Map<string, string | undefined>();
  return {
    hasEnded(record) {
      if (pods.age === undefined) {
        return false;
      }
      const name = replicaName(record.holder);
      const pod = pods.entries.get(`${namespace}/${name}`)?.value;
      const isOver = pod !== undefined && pod.changedAt > record.acquiredAt;
      if (!seenIn.has(record.holder)) {
        seenIn.set(record.holder, isOver && name !== ownPod ? undefined : pod?.uid);
      }
      return isOver && seenIn.get(record.holder) === pod.uid;
    },
    onChange: (changed) => void listeners.push(changed),
    watch: (signal) => pods.run(signal),
  };
}

function readPod(object: unknown): ReplicaPod {
  const pod = isObject(object) ? object : {};
  const metadata = childOf(pod, 'metadata');
  const { containerStatuses } = childOf(pod, 'status');
  const own = Array.isArray(containerStatuses) ? containerStatuses.filter(isObject).find(isOperator) : undefined;
  const states = own === undefined ? [] : [childOf(own, 'state'), childOf(own, 'lastState')];
  const instants = states.flatMap((state) => [
    instantOf(childOf(state, 'running')['startedAt']),
    instantOf(childOf(state, 'terminated')['finishedAt']),
  ]);
  return { uid: String(metadata['uid']), changedAt: Math.max(0, ...instants) };
}

function isOperator({ name }: JsonObject): boolean {
  return name === OPERATOR_CONTAINER;
}
