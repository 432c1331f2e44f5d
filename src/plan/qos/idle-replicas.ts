import { NONE_BELOW, type PreemptionCost } from '../../qos/preemption-cost.ts';
import { indicesWhere, itemAt } from '../indices.ts';
import type { PreemptionRules, ServicePosition } from './rules.ts';

/**
 * Whether a pod runs in vain (T 7.2.5): in mode Concurrent time counts only while all replicas run, and another one has no
 * node. One that is only starting again has one.
 */
export function isIdle({ running, lacking }: Pick<ServicePosition, 'running' | 'lacking'>): boolean {
  return running && lacking > 0;
}

/** Whether two pods are replicas of one request, of which the one would run in vain without the other. */
export function isIdleSibling(incumbent: ServicePosition, claimant: ServicePosition): boolean {
  return isIdle(incumbent) && incumbent.request === claimant.request;
}

/** The rules, by which idle replicas make room for whoever was promised something, and cost less than anybody else. */
export function freeingIdleReplicas(rules: PreemptionRules): PreemptionRules {
  return {
    ...rules,
    boundOf: (incumbent, claimant) =>
      isIdle(incumbent) ? Number.POSITIVE_INFINITY : rules.boundOf(incumbent, claimant),
    costOf: (victims) => {
      const busy = victims.filter((victim) => !isIdle(victim));
      return busy.length === 0 ? nothingLost(victims.length) : { ...rules.costOf(busy), victims: victims.length };
    },
    bestCaseFor: (claimant) => {
      const bestOf = rules.bestCaseFor(claimant);
      return (residents) => {
        const idle = indicesWhere(residents.length, (place) => isIdle(itemAt(residents, place).standing));
        return idle.length === 0
          ? bestOf(residents)
          : { cost: nothingLost(1), victims: idle, bound: Number.POSITIVE_INFINITY };
      };
    },
  };
}

function nothingLost(victims: number): PreemptionCost {
  return { below: NONE_BELOW, above: Number.POSITIVE_INFINITY, victims };
}
