import type { PodInfo } from '../model/pod.ts';
import type { Evictability } from './evictability.ts';
import type { PodIndex } from './indices.ts';
import type { Participation } from './participation.ts';
import type { Reason, Rejection, Rejections } from './plan.ts';
import type { RejectionCode } from './rejection-codes.ts';

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

/** Rejections while planning, which knows pods by their place. */
export interface Stays extends Rejections {
  readonly places: readonly PodIndex[];
}

/**
 * One rejection for each pod in scope that is not moved, in the order of the pods. Pods outside of the scope were not
 * considered and get none.
 */
export function rejectAll(
  pods: readonly PodInfo[],
  { inScope, of }: Evictability,
  isMoved: (pod: PodIndex) => boolean,
  explain: (pod: PodIndex) => Reason,
): Stays {
  const stays = { places: [] as PodIndex[], pods: [] as PodInfo[], reasons: [] as Reason[] };
  pods.forEach((pod, place) => {
    if (inScope[place] === 1 && !isMoved(place)) {
      stays.places.push(place);
      stays.pods.push(pod);
      stays.reasons.push(of(place) ?? explain(place));
    }
  });
  return stays;
}

/** The first `most` rejections one by one, in order; all of them without `most`. */
export function listRejections({ pods, reasons }: Rejections, most = pods.length): readonly Rejection[] {
  return pods.slice(0, most).flatMap(({ namespace, name, uid }, position) => {
    const reason = reasons[position];
    return reason === undefined
      ? []
      : [{ pod: { namespace, name, uid }, code: reason.code, message: reason.message, numbers: reason.numbers }];
  });
}

/** How often each code was given, the most frequent first. */
export function countCodes(reasons: readonly Reason[]): readonly (readonly [RejectionCode, number])[] {
  const counts = new Map<RejectionCode, number>();
  for (const { code } of reasons) {
    counts.set(code, (counts.get(code) ?? 0) + 1);
  }
  return [...counts].sort(([leftCode, left], [rightCode, right]) => right - left || (leftCode < rightCode ? -1 : 1));
}

/** Explains with one reason per key, made on first use. */
export function shared(
  keyOf: (pod: PodIndex) => number,
  make: (key: number, pod: PodIndex) => Reason,
): (pod: PodIndex) => Reason {
  const known = new Map<number, Reason>();
  return (pod) => {
    const key = keyOf(pod);
    const reason = known.get(key) ?? make(key, pod);
    known.set(key, reason);
    return reason;
  };
}
