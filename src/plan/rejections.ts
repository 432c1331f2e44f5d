import type { PodInfo } from '../model/pod.ts';
import type { Holds } from './holds.ts';
import type { Participation } from './participation.ts';
import type { Rejection } from './plan.ts';
import type { RejectionCode } from './rejection-codes.ts';

/** A rejection without its pod, so that pods that stay for the same reason can share it. */
export interface Reason {
  readonly code: RejectionCode;
  readonly message: string;
  readonly numbers: Readonly<Record<string, number>>;
}

/** The pod neither uses nor requests a resource of the policy. */
export const NO_USAGE: Reason = {
  code: 'NoUsage',
  message: 'neither uses nor requests anything that counts as load',
  numbers: { load: 0 },
};

/** The pod's node takes no part, for the reason that `participation` has. */
export function onAbsentNode({ absent }: Participation, node: string): Reason {
  const problem = absent.get(node) ?? 'it is not in the snapshot';
  return { code: 'NodeNotParticipating', message: `${node} takes no part: ${problem}`, numbers: {} };
}

/**
 * One rejection for each pod in scope that is not moved, in the order of the pods. Pods outside of the scope were not
 * considered and get none.
 */
export function rejectAll(
  pods: readonly PodInfo[],
  { inScope, of }: Holds,
  isMoved: (pod: number) => boolean,
  explain: (pod: number) => Reason,
): readonly Rejection[] {
  const rejections: Rejection[] = [];
  pods.forEach(({ namespace, name, uid }, place) => {
    if (inScope[place] === 1 && !isMoved(place)) {
      const { code, message, numbers } = of(place) ?? explain(place);
      rejections.push({ pod: { namespace, name, uid }, code, message, numbers });
    }
  });
  return rejections;
}

/** How often each code was given, the most frequent first. */
export function countCodes(rejections: readonly Rejection[]): readonly (readonly [RejectionCode, number])[] {
  const counts = new Map<RejectionCode, number>();
  for (const { code } of rejections) {
    counts.set(code, (counts.get(code) ?? 0) + 1);
  }
  return [...counts].sort(([leftCode, left], [rightCode, right]) => right - left || (leftCode < rightCode ? -1 : 1));
}

/** Explains with one reason per key, made on first use. */
export function shared(keyOf: (pod: number) => number, make: (key: number) => Reason): (pod: number) => Reason {
  const known = new Map<number, Reason>();
  return (pod) => {
    const key = keyOf(pod);
    const reason = known.get(key) ?? make(key);
    known.set(key, reason);
    return reason;
  };
}
