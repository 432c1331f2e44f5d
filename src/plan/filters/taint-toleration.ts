import type { NodeInfo, Taint } from '../../model/node.ts';
import type { SchedulingConstraints, Toleration } from '../../model/pod.ts';
import type { Refusal, Subject } from './refusal.ts';

/**
 * kube-scheduler's TaintToleration: the first NoSchedule or NoExecute taint that no toleration covers refuses the pod.
 */
export function taintToleration({ constraints }: Pick<Subject, 'constraints'>, node: NodeInfo): Refusal | undefined {
  const taint = node.taints.find((candidate) => repels(candidate) && !isTolerated(candidate, constraints.tolerations));
  return taint === undefined ? undefined : { filter: 'TaintToleration', taint };
}

/** Whether a taint keeps pods away; PreferNoSchedule only ranks nodes. */
export function repels({ effect }: Taint): boolean {
  return effect !== 'PreferNoSchedule';
}

function isTolerated(taint: Taint, tolerations: readonly Toleration[]): boolean {
  return tolerations.some((toleration) => tolerates(toleration, taint));
}

/**
 * Whether one toleration covers one taint (core/v1 Toleration.ToleratesTaint): an absent effect or key covers all of
 * them, an absent key only with Exists. Gt and Lt compare the taint's integer with the toleration's (KEP-5471).
 */
export function tolerates({ key, operator, value, effect }: Toleration, taint: Taint): boolean {
  if (effect !== undefined && effect !== taint.effect) {
    return false;
  }
  if (key === undefined || key === '') {
    return operator === 'Exists';
  }
  if (key !== taint.key) {
    return false;
  }
  switch (operator) {
    case 'Exists':
      return true;
    case 'Equal':
      return value === taint.value;
    case 'Gt':
      return compare(taint.value, value, (offered, bound) => offered > bound);
    case 'Lt':
      return compare(taint.value, value, (offered, bound) => offered < bound);
    default:
      return operator satisfies never;
  }
}

/** False when either text is not a canonical 64-bit integer. */
function compare(left: string, right: string, holds: (left: bigint, right: bigint) => boolean): boolean {
  const integer = /^(0|-?[1-9]\d{0,18})$/;
  return integer.test(left) && integer.test(right) && holds(BigInt(left), BigInt(right));
}

/** How many PreferNoSchedule taints of a node the pod does not tolerate. */
export function dislikedTaints(
  { tolerations }: Pick<SchedulingConstraints, 'tolerations'>,
  { taints }: Pick<NodeInfo, 'taints'>,
): number {
  let count = 0;
  for (const taint of taints) {
    const isDisliked = taint.effect === 'PreferNoSchedule';
    count += isDisliked && !isTolerated(taint, tolerations) ? 1 : 0;
  }
  return count;
}
