import type { PlacementHint } from '../../api/v1alpha1/placement-hint.ts';
import { API_VERSION } from '../../api/v1alpha1/schema.ts';
import type { Steering } from '../../ports.ts';
import type { Cluster } from '../cluster.ts';

/** Hints on the modelled cluster, whose admission policy goes by them; `hints` has them by UID of the evicted pod. */
export function createSteering(
  { placeHint, removeHint }: Pick<Cluster, 'placeHint' | 'removeHint'>,
  hints = new Map<string, PlacementHint>(),
): Steering {
  return {
    offers: async () => ({
      AdmissionPolicy: { available: true, why: 'the modelled API server has the admission policy' },
      Webhook: { available: false, why: 'the modelled cluster has no webhook' },
    }),
    async place(namespace, spec) {
      if (!hints.has(spec.podUID)) {
        const metadata = { name: `hint-${spec.podUID}`, namespace };
        hints.set(spec.podUID, { apiVersion: API_VERSION, kind: 'PlacementHint', metadata, spec });
        const { nodeName: target, fallbacks = [], alternatives } = spec;
        placeHint(spec.podUID, spec.ownerUID, { target, fallbacks, alternatives });
      }
    },
    async remove(_, podUID) {
      hints.delete(podUID);
      removeHint(podUID);
    },
    async discard({ spec: { podUID } }) {
      hints.delete(podUID);
      removeHint(podUID);
    },
    list: async () => [...hints.values()],
  };
}
