import type { ICondition } from '@kubernetes-models/apimachinery/apis/meta/v1/Condition';
import { CONDITION_TYPES, type ConditionReason, type ConditionType } from '../api/v1alpha1/conditions.ts';
import type { Condition } from '../api/v1alpha1/rebalance-policy.ts';
import { escapeText } from '../model/escape.ts';
import { formatInstant } from '../model/instant.ts';
import type { EpochSeconds } from '../model/units.ts';

/** A condition without its bookkeeping. */
export interface Verdict {
  readonly status: Condition['status'];
  readonly reason: ConditionReason;
  readonly message: string;
}

/** Verdicts by condition. */
export type Verdicts = Readonly<Partial<Record<ConditionType, Verdict>>>;

/**
 * Conditions with `verdicts` applied, in the fixed order of CONDITION_TYPES; others stay as they are.
 * lastTransitionTime changes only with status (apimachinery meta.SetStatusCondition).
 */
export function applyVerdicts(
  conditions: readonly Condition[],
  verdicts: Verdicts,
  generation: number,
  now: EpochSeconds,
): Condition[] {
  return CONDITION_TYPES.flatMap((type) => {
    const old = conditions.find((condition) => condition.type === type);
    const verdict = verdicts[type];
    if (verdict === undefined) {
      return old === undefined ? [] : [old];
    }
    const lastTransitionTime = old?.status === verdict.status ? old.lastTransitionTime : formatInstant(now);
    const { status, reason, message } = verdict;
    return [
      {
        type,
        status,
        reason,
        message: escapeText(message).slice(0, 1024),
        lastTransitionTime,
        observedGeneration: generation,
      } satisfies ICondition,
    ];
  });
}
