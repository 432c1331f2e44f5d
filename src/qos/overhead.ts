import type { ServiceClass, ServiceLedger, ServiceTimes } from '../model/service-level.ts';

/**
 * C = sum alpha / (r + sum alpha), in [0, 1]: the share of its time that a request has lost to preemptions (QoS eq. 6); r is
 * its run time, discarded or not. 0 before the first preemption.
 */
export function preemptionOverhead(
  { preemptions, overhead }: Pick<ServiceLedger, 'preemptions' | 'overhead'>,
  { useful, discarded }: ServiceTimes,
): number {
  const run = useful + discarded;
  return preemptions === 0 || overhead <= 0 ? 0 : overhead / (run + overhead);
}

/** Whether equals and less important requests may no longer take the place of a request with this overhead. */
export function isOverheadSpent(
  overhead: number,
  { maxPreemptionOverhead }: Pick<ServiceClass, 'maxPreemptionOverhead'>,
): boolean {
  return !(overhead < maxPreemptionOverhead);
}
