import type { NodeInfo } from '../../model/node.ts';
import { DRIVER_MISSING } from '../../model/storage.ts';
import type { FreeCapacity } from '../free-capacity.ts';
import type { Refusal, Subject } from './refusal.ts';

/**
 * kube-scheduler's NodeVolumeLimits: the CSI volumes on the node, with those that the pod would add, stay within what its
 * CSINode says that each driver can attach. A volume that is there already adds nothing, but also needs its driver.
 */
export function nodeVolumeLimits({ volumes }: Subject, _node: NodeInfo, room: FreeCapacity): Refusal | undefined {
  const { attached, attachLimits } = room;
  if (volumes.attachments.length === 0 || attachLimits === undefined) {
    return undefined;
  }
  const missing = volumes.attachments.find(({ driver }) => attachLimits.get(driver) === DRIVER_MISSING);
  if (missing !== undefined) {
    return { filter: 'NodeVolumeLimits', driver: missing.driver, need: 1, free: 0 };
  }
  const added = new Map<string, Set<string>>();
  for (const { driver, id } of volumes.attachments) {
    if (attached.get(driver)?.has(id) !== true) {
      added.set(driver, (added.get(driver) ?? new Set()).add(id));
    }
  }
  for (const [driver, ids] of added) {
    const limit = attachLimits.get(driver);
    const used = attached.get(driver)?.size ?? 0;
    if (limit !== undefined && used + ids.size > limit) {
      return { filter: 'NodeVolumeLimits', driver, need: ids.size, free: Math.max(0, limit - used) };
    }
  }
  return undefined;
}
