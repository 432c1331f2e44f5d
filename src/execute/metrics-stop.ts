import type { RebalancePlan } from '../api/v1alpha1/rebalance-plan.ts';
import { parseInstant } from '../model/instant.ts';
import type { NodeInfo } from '../model/node.ts';
import { matches } from '../model/selector.ts';
import { type EpochSeconds, elapsed, epochSeconds } from '../model/units.ts';
import { inSeconds, percent } from '../plan/format.ts';
import { sampleLimits, sampleProblem } from '../plan/metrics-gate.ts';
import type { PolicyOptions } from '../plan/options.ts';
import { STRATEGY_TRAITS } from '../plan/strategies/traits.ts';
import type { NodeUsage } from '../ports.ts';
import type { StopReason } from './stop-rules.ts';

/** What fresh usage says of a plan that is being carried out. */
export type MetricsVerdict =
  /** Go on. */
  | { readonly kind: 'Fresh' }
  /** There is no usage at the moment; what was known is not too old yet. Nothing may begin. */
  | { readonly kind: 'Unknown' }
  /** The plan stands on measurements that are stale (execution.md, stop rules). */
  | { readonly kind: 'Stale'; readonly stop: StopReason };

type Judged = Pick<PolicyOptions, 'load' | 'scope'>;

/**
 * Whether metrics went stale after a plan was made, judged by the samples of Ready nodes in the policy's scope: of those that
 * have one, fewer than `load.minCoverage` have one that counts. A node without any may be idle (metrics-server leaves those
 * out) and says nothing. Without any sample at all the plan goes stale `load.maxAge` after usage last was fresh: when the plan
 * was made, or its last move begun. So this depends on what is stored, and not on what a process remembers. A plan that only
 * repairs stands on no measurements.
 */
export function metricsVerdict(
  plan: RebalancePlan,
  { load, scope }: Judged,
  nodes: readonly NodeInfo[],
  usage: NodeUsage | undefined,
  now: EpochSeconds,
): MetricsVerdict {
  if (load.source !== 'Measured' || !STRATEGY_TRAITS[plan.spec.strategy].needsMetrics) {
    return { kind: 'Fresh' };
  }
  const limits = sampleLimits(nodes);
  const judged = nodes.flatMap((node, index): readonly boolean[] => {
    const sample = usage?.nodes.get(node.name);
    const limit = limits[index];
    const takesPart = node.ready && !node.unschedulable && matches(scope.nodeSelector, node.labels);
    return sample === undefined || limit === undefined || !takesPart
      ? []
      : [sampleProblem(sample, limit, usage?.serverTime ?? now, load.maxAge) === undefined];
  });
  const valid = judged.filter((isValid) => isValid).length;
  if (judged.length === 0) {
    return unmeasured(plan, load.maxAge, usage?.serverTime ?? now);
  }
  if (valid >= load.minCoverage * judged.length) {
    return { kind: 'Fresh' };
  }
  const share = `${valid} of ${judged.length} nodes have a valid sample (${percent(valid / judged.length)})`;
  const message = `metrics went stale: ${share}, load.minCoverage is ${percent(load.minCoverage)}`;
  return { kind: 'Stale', stop: { reason: 'MetricsIncomplete', message, stops: 'Disruptions' } };
}

function unmeasured(plan: RebalancePlan, maxAge: Judged['load']['maxAge'], now: EpochSeconds): MetricsVerdict {
  const begun = (plan.status?.moves ?? []).flatMap(({ startedAt }) => startedAt ?? []);
  const freshAt = epochSeconds(Math.max(...[plan.spec.takenAt, ...begun].map(parseInstant)));
  const age = elapsed(freshAt, now);
  if (!(age > maxAge)) {
    return { kind: 'Unknown' };
  }
  const message = `metrics went stale: no node has had a sample for ${inSeconds(Math.round(age))}, load.maxAge is ${inSeconds(maxAge)}`;
  return { kind: 'Stale', stop: { reason: 'MetricsUnavailable', message, stops: 'Disruptions' } };
}
