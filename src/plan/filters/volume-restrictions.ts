import type { Refusal, Subject } from './refusal.ts';

/** kube-scheduler's VolumeRestrictions: a ReadWriteOncePod claim that another pod uses keeps the pod off every node. */
export function volumeRestrictions({ volumes }: Subject): Refusal | undefined {
  return volumes.taken === undefined ? undefined : { filter: 'VolumeRestrictions', claim: volumes.taken };
}
