import type { RebalancePlan } from '../api/v1alpha1/rebalance-plan.ts';
import type { RebalancePolicyStatus } from '../api/v1alpha1/rebalance-policy.ts';
import { formatInstant, parseInstant } from '../model/instant.ts';
import type { PastMove, SpentService } from '../model/past-move.ts';
import { type EpochSeconds, seconds } from '../model/units.ts';
import { pastMovesOf } from '../observe/project/past-moves.ts';
import { spend } from '../plan/budgets/overhead.ts';
import { NO_PODS, startupTimes } from '../plan/startup.ts';
import type { StoredPolicy } from '../ports.ts';

/** What moves have cost and cost, from the journals that are kept and from what policies remember of the others. */
export interface MoveHistory {
  readonly pastMoves: readonly PastMove[];
  readonly spent: readonly SpentService[];
}

type Remembered = Pick<RebalancePolicyStatus, 'pastOverhead' | 'deletedPlans'>;

/** Plans that are deleted at most between two writes of a status. */
export const MOST_DELETED = 500;

/** The history of all policies. A plan that its policy has counted and not deleted yet counts once. */
export function moveHistory(policies: readonly StoredPolicy[], plans: readonly RebalancePlan[]): MoveHistory {
  const counted = new Set(policies.flatMap(({ policy }) => policy.status?.deletedPlans ?? []));
  return {
    pastMoves: pastMovesOf(plans.filter(({ metadata }) => !counted.has(metadata.name))),
    spent: policies.flatMap(({ policy }) => spentIn(policy.status)),
  };
}

/**
 * What a policy's status must remember before its `expired` plans are deleted: what their moves have cost, and that it is
 * counted, so that a crash between the two neither forgets nor doubles it. `plans` are all that are on the cluster.
 */
export function withExpired(
  status: RebalancePolicyStatus | undefined,
  expired: readonly RebalancePlan[],
  plans: readonly RebalancePlan[],
  now: EpochSeconds,
): Remembered {
  const present = new Set(plans.map(({ metadata }) => metadata.name));
  const counted = (status?.deletedPlans ?? []).filter((name) => present.has(name));
  const fresh = expired.filter(({ metadata }) => !counted.includes(metadata.name));
  const startup = startupTimes(pastMovesOf(plans), NO_PODS);
  const spent = spend(spentIn(status), pastMovesOf(fresh), startup, now);
  const deletedPlans = [...counted, ...fresh.map(({ metadata }) => metadata.name)];
  return {
    ...(spent.length === 0
      ? {}
      : { pastOverhead: spent.map(({ from, lost }) => ({ from: formatInstant(from), seconds: Math.ceil(lost) })) }),
    ...(deletedPlans.length === 0 ? {} : { deletedPlans }),
  };
}

function spentIn(status: Remembered | undefined): readonly SpentService[] {
  return (status?.pastOverhead ?? []).map(({ from, seconds: lost }) => ({
    from: parseInstant(from),
    lost: seconds(lost),
  }));
}
