import type { Promises } from '../promises.ts';
import type { Survey } from '../survey.ts';

/** Of the time that pods may do without running this share is left for starts, terminations and room in the wrong place. */
const SET_ASIDE = 0.05;

/**
 * Whether more was promised than there is room for: of the pods in scope more wait than their SLOs allow. A pod may wait for
 * `1 - O` of its time, so at no time may more wait in the mean than the sum of that over all pods. Pods of one controller
 * count as being of one class.
 */
export function isOversold({ holds, queue, subjects }: Survey, { classOf }: Pick<Promises, 'classOf'>): boolean {
  const waiting = queue.filter((pod) => (classOf(pod)?.slo ?? 0) > 0).length;
  return waiting > 0 && waiting > (1 - SET_ASIDE) * mayWait(holds.inScope, subjects.owners.ofPod, classOf);
}

function mayWait(inScope: Uint8Array, ownerOf: Int32Array, classOf: Promises['classOf']): number {
  const shares = new Map<number, number>();
  let sum = 0;
  for (const [pod, owner] of ownerOf.entries()) {
    if (inScope[pod] === 1) {
      const share = shares.get(owner) ?? shareOf(classOf(pod)?.slo ?? 0);
      if (owner >= 0) {
        shares.set(owner, share);
      }
      sum += share;
    }
  }
  return sum;
}

function shareOf(slo: number): number {
  return slo > 0 ? 1 - slo : 0;
}
