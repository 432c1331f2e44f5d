import type { RebalancePlan } from '../api/v1alpha1/rebalance-plan.ts';
import { parseInstant } from '../model/instant.ts';
import type { ClusterSnapshot } from '../model/snapshot.ts';
import { after, type EpochSeconds, elapsed, epochSeconds, type Seconds, seconds } from '../model/units.ts';
import { formatDeadline } from '../plan/cron.ts';
import { count } from '../plan/format.ts';
import { hasEvicted } from './retention.ts';

/**
 * Longest wait for samples after a plan, beyond the time that a sample spans; what is missing then is the metrics gate's
 * affair.
 */
export const SETTLE_LIMIT: Seconds = seconds(120);

/**
 * Why the samples in `snapshot` cannot be trusted yet, or undefined: some of them were begun before the last move
 * ended, so that a pod that moved counts on its old node or nowhere. So the wait is as long as samples span: seconds by the
 * Metrics API, and up to an hour by a range of Prometheus. Restart-safe: reads only what is stored.
 */
export function awaitsSamples(snapshot: ClusterSnapshot, plans: readonly RebalancePlan[]): string | undefined {
  const ended = lastEnd(plans);
  if (ended === undefined || snapshot.usage === undefined) {
    return undefined;
  }
  const since = elapsed(ended, snapshot.takenAt);
  const samples = [...snapshot.usage.nodes.values()];
  const longest = samples.reduce((most, { window }) => Math.max(most, Number.isNaN(window) ? 0 : window), 0);
  const early =
    since > longest + SETTLE_LIMIT ? [] : samples.filter(({ timestamp, window }) => timestamp - window < ended);
  const missing =
    since > SETTLE_LIMIT
      ? []
      : snapshot.pods.filter(
          (pod) => pod.ready && pod.createdAt <= ended && !snapshot.usage?.pods.has(`${pod.namespace}/${pod.name}`),
        );
  if (early.length === 0 && missing.length === 0) {
    return undefined;
  }
  const limit = after(ended, early.length > 0 ? seconds(longest + SETTLE_LIMIT) : SETTLE_LIMIT);
  const awaited = [
    ...(early.length === 0 ? [] : [`newer samples of ${count(early.length, 'node')}`]),
    ...(missing.length === 0 ? [] : [`samples of ${count(missing.length, 'pod')}`]),
  ].join(' and ');
  return `the last plan has ended: the next run waits for ${awaited}, until ${formatDeadline(limit, snapshot.takenAt)} at the latest`;
}

function lastEnd(plans: readonly RebalancePlan[]): EpochSeconds | undefined {
  const executed = plans.filter(({ status }) => status?.phase === 'Completed' || status?.phase === 'Aborted');
  const ends = executed
    .filter(hasEvicted)
    .flatMap(({ status }) => (status?.finishedAt === undefined ? [] : [parseInstant(status.finishedAt)]));
  return ends.length === 0 ? undefined : after(epochSeconds(Math.max(...ends)), seconds(1));
}
