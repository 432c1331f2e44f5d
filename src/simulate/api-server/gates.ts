import type { Gates } from '../../ports.ts';
import type { Cluster } from '../cluster.ts';

/** Our scheduling gate on the modelled cluster. */
export function createGates({ world, openGate, terminate }: Cluster): Gates {
  return {
    available: async () => true,
    list: async () =>
      world.pods
        .map(({ info }) => info)
        .filter(({ waiting }) => waiting?.gated === true || waiting?.pinnedTo !== undefined),
    async open({ uid }, opening) {
      const pod = world.podOf(uid);
      if (pod?.info.waiting?.gated !== true) {
        return pod === undefined ? 'Gone' : 'Changed';
      }
      openGate(pod, opening);
      return 'Done';
    },
    async release({ uid }) {
      const pod = world.podOf(uid);
      if (pod?.info.waiting === undefined) {
        return pod === undefined ? 'Gone' : 'Changed';
      }
      terminate(pod);
      return 'Done';
    },
  };
}
