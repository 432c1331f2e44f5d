import { type PodInfo, QOS_CLASSES, type QosClass } from '../model/pod.ts';

const RANK = Object.fromEntries(QOS_CLASSES.map((name, rank) => [name, rank])) as Readonly<Record<QosClass, number>>;

/**
 * Who is taken first where moves are worth the same: negative when it is `left`. By priority, QoS class and
 * deletion cost, the lower first, and the younger of equals.
 */
export function compareVictims(left: PodInfo, right: PodInfo): number {
  return compareImportance(left, right) || right.createdAt - left.createdAt || 0;
}

/** The same without regard to age: 0 for equals. */
export function compareImportance(left: PodInfo, right: PodInfo): number {
  return (
    left.priority - right.priority ||
    RANK[left.qosClass] - RANK[right.qosClass] ||
    left.deletionCost - right.deletionCost ||
    0
  );
}
