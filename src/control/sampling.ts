import type { RebalancePolicySpec } from '../api/v1alpha1/rebalance-policy.ts';
import { after, type EpochSeconds, elapsed, type Seconds, seconds } from '../model/units.ts';
import type { PolicyOptions } from '../plan/options.ts';
import { resolveOptions } from '../plan/resolve-options.ts';
import { createUsageHistory, samplingPeriod, type UsageHistory } from '../plan/usage-history.ts';
import type { Clock, ClusterReader } from '../ports.ts';

/** What a policy with `load.smoothing` remembers of usage. A new leader starts empty. */
export interface Sampling {
  readonly history: UsageHistory;
  readonly load: Pick<PolicyOptions['load'], 'smoothing' | 'maxAge'>;
  /** When the next sample is due. */
  dueAt: EpochSeconds;
}

/** Sampling for a policy, which goes on from `before` if that is of the same kind; `undefined` without smoothing. */
export function samplingFor(
  spec: RebalancePolicySpec,
  before: Sampling | undefined,
  now: EpochSeconds,
): Sampling | undefined {
  const { load } = resolveOptions(spec);
  if (load.smoothing === 0 || spec.suspend) {
    return undefined;
  }
  const isSame = before?.load.smoothing === load.smoothing && before.load.maxAge === load.maxAge;
  return isSame ? before : { history: createUsageHistory(load.smoothing, load.maxAge), load, dueAt: now };
}

/** Looks at the metrics if it is time to. Rejects as ClusterReader does; then it is tried again after a period, too. */
export async function takeSample(
  sampling: Sampling,
  { reader, clock }: { readonly reader: ClusterReader; readonly clock: Clock },
  signal: AbortSignal,
): Promise<void> {
  const now = clock.now();
  if (sampling.dueAt <= now) {
    sampling.dueAt = after(now, samplingPeriod(sampling.load.smoothing));
    sampling.history.add(await reader.measured(signal));
  }
}

/** Time until the next sample is due; infinite without sampling. */
export function untilSample(sampling: Sampling | undefined, now: EpochSeconds): Seconds {
  return sampling === undefined ? seconds(Number.POSITIVE_INFINITY) : elapsed(now, sampling.dueAt);
}
