import type { Gates, WaitingPod } from '../../ports.ts';
import type { Cluster } from '../cluster.ts';
import type { SimulatedPod } from '../world.ts';

/** Our scheduling gate on the modelled cluster. */
export function createGates({ world, openGate, terminate }: Cluster): Gates {
  const asListed = (pod: SimulatedPod): WaitingPod => ({ pod: pod.info, resourceVersion: String(pod.version) });
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
      if (pod === undefined || String(pod.version) !== resourceVersion) {
        return pod === undefined ? 'Gone' : 'Changed';
      }
      terminate(pod);
      return 'Done';
    },
  };
}
