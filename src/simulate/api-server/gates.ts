import type { Gates, WaitingPod } from '../../ports.ts';
import type { Cluster } from '../cluster.ts';
import type { SimulatedPod } from '../world.ts';

/** Our scheduling gate on the modelled cluster. */
export function createGates({ world, openGate, terminate }: Cluster): Gates {
  const asListed = (pod: SimulatedPod): WaitingPod => ({ pod: pod.info, resourceVersion: versionOf(pod) });
  return {
    available: async () => true,
    list: async () =>
      world.pods
        .filter(({ info: { waiting } }) => waiting?.gated === true || waiting?.pinnedTo !== undefined)
        .map(asListed),
    async open({ uid }, target) {
      const pod = world.podOf(uid);
      if (pod?.info.waiting?.gated !== true) {
        return pod === undefined ? 'Gone' : 'Changed';
      }
      openGate(pod, target);
      return 'Done';
    },
    async release({ pod: { uid }, resourceVersion }) {
      const pod = world.podOf(uid);
      if (pod === undefined || versionOf(pod) !== resourceVersion) {
        return pod === undefined ? 'Gone' : 'Changed';
      }
      terminate(pod);
      return 'Done';
    },
  };
}

/** Changes with what a release must not overlook. */
function versionOf({ info: { nodeName, terminating, waiting } }: SimulatedPod): string {
  return JSON.stringify([nodeName, terminating, waiting]);
}
