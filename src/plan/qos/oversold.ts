import type { Promises } from '../promises.ts';
import type { Survey } from '../survey.ts';

/** Of the time that pods may do without running this share is left for starts, terminations and room in the wrong place. */
const SET_ASIDE = 0.05;

/**
 * Whether more was promised than there is room for: of the pods in scope more wait than their SLOs allow. A pod may wait for
 * `1 - O` of its time, so at no time may more wait in the mean than the sum of that over all pods.
 */
export function isOversold({ pods, holds, queue }: Survey, { classOf }: Pick<Promises, 'classOf'>): boolean {
  const waiting = queue.filter((pod) => (classOf(pod)?.slo ?? 0) > 0).length;
  if (waiting === 0) {
    return false;
  }
  let mayWait = 0;
  for (const pod of pods.keys()) {
    const slo = holds.inScope[pod] === 1 ? (classOf(pod)?.slo ?? 0) : 0;
    mayWait += slo > 0 ? 1 - slo : 0;
  }
  return waiting > (1 - SET_ASIDE) * mayWait;
}
