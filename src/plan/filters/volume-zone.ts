import type { NodeInfo } from '../../model/node.ts';
import { ZONE_LABELS } from '../volume-needs.ts';
import type { Refusal, Subject } from './refusal.ts';

/**
 * kube-scheduler's VolumeZone: the zone and region labels of the pod's volumes must be the node's. A node without any such
 * label is in no zone and takes every volume; a beta label of the volume may match today's label of the node.
 */
export function volumeZone({ volumes }: Subject, { labels }: NodeInfo): Refusal | undefined {
  if (volumes.zones.length === 0 || ![...ZONE_LABELS.keys()].some((key) => labels.has(key))) {
    return undefined;
  }
  const other = volumes.zones.find(({ key, values }) => {
    const value = labels.get(key) ?? labels.get(ZONE_LABELS.get(key) ?? key);
    return value === undefined || !values.includes(value);
  });
  return other === undefined
    ? undefined
    : { filter: 'VolumeZone', volume: other.volume, zone: other.values.join(' or ') };
}
