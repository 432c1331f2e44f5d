import type { ConditionReason, ConditionType } from '../api/v1alpha1/conditions.ts';
import type { Condition } from '../api/v1alpha1/rebalance-policy.ts';
import { parseInstant } from '../model/instant.ts';
import { after, type EpochSeconds, elapsed, epochSeconds, type Seconds, seconds } from '../model/units.ts';
import { formatDeadline } from '../plan/cron.ts';
import type { Verdict } from './conditions.ts';

/** What conditions say of a suspended policy. */
export const SUSPENDED = 'spec.suspend is true: nothing is planned, and no move begins';

/** Samples that are missing for longer keep a policy from its work, even if no run has looked for them again. */
const PATIENCE: Seconds = seconds(600);

type Conditions = readonly Condition[];

/** What readiness depends on beside conditions. */
interface Facts {
  readonly suspended: boolean;
  /** Whether this pass made a run: `undefined` if not. */
  readonly run: object | undefined;
  /** `None`: no run is due. */
  readonly nextRun: EpochSeconds | 'None' | undefined;
}

/**
 * Whether the operator can do its work for the policy (api.md, status that cannot mislead). Samples that are awaited leave it as
 * it was: those after a plan, and those that one run has missed until another one misses them, too. `conditions` are those of
 * this pass, `old` those before it.
 */
export function readiness(conditions: Conditions, old: Conditions, facts: Facts, now: EpochSeconds): Verdict {
  const accepted = find(conditions, 'Accepted');
  const fresh = find(conditions, 'MetricsFresh');
  if (facts.suspended && accepted?.status === 'True') {
    return { status: 'False', reason: 'Suspended', message: SUSPENDED };
  }
  const awaited = awaitedUntil(fresh, old, facts, now);
  const culprit = troubles(conditions, awaited !== undefined).find((trouble) => trouble !== undefined);
  if (culprit !== undefined) {
    return { status: 'False', reason: culprit.reason as ConditionReason, message: culprit.message };
  }
  if (awaited !== undefined) {
    const status = find(old, 'Ready')?.status === 'True' ? 'True' : 'Unknown';
    const message = `samples are awaited until ${formatDeadline(awaited, now)}: ${fresh?.message}`;
    return { status, reason: 'AwaitingSamples', message };
  }
  return fresh?.status === 'Unknown'
    ? { status: 'Unknown', reason: 'AwaitingFirstRun', message: fresh.message }
    : { status: 'True', reason: 'AsExpected', message: 'the policy is in force' };
}

function find(conditions: Conditions, wanted: ConditionType): Condition | undefined {
  return conditions.find(({ type }) => type === wanted);
}

/** What keeps the policy from its work, the weightiest first. */
function troubles(conditions: Conditions, areAwaited: boolean): readonly (Condition | undefined)[] {
  const accepted = find(conditions, 'Accepted');
  const degraded = find(conditions, 'Degraded');
  const fresh = find(conditions, 'MetricsFresh');
  const ledgers = find(conditions, 'LedgerFresh');
  return [
    accepted?.status === 'True' ? undefined : accepted,
    degraded?.status === 'True' ? degraded : undefined,
    fresh !== undefined && isMissed(fresh) && !areAwaited ? fresh : undefined,
    // Single workloads without a ledger are their owners' affair, and do not keep the policy from serving the others.
    ledgers?.reason === 'LedgersUnavailable' ? ledgers : undefined,
  ];
}

/** Whether a run has missed samples; those after a plan are on their way. */
function isMissed({ status, reason }: Condition): boolean {
  return status === 'False' && reason !== 'AwaitingSamples';
}

/** Until when missed samples may come without anybody being told; `undefined` when none are missed, or they are for too long. */
function awaitedUntil(
  fresh: Condition | undefined,
  old: Conditions,
  { run, nextRun }: Facts,
  now: EpochSeconds,
): EpochSeconds | undefined {
  if (fresh === undefined || !isMissed(fresh)) {
    return undefined;
  }
  const [before, ready] = [find(old, 'MetricsFresh'), find(old, 'Ready')];
  const isMissedAgain = run !== undefined && before !== undefined && isMissed(before);
  const wasTold = ready?.status === 'False' && ready.reason === before?.reason;
  const end = after(parseInstant(fresh.lastTransitionTime), PATIENCE);
  if (isMissedAgain || wasTold || elapsed(now, end) <= 0) {
    return undefined;
  }
  return typeof nextRun === 'number' && nextRun > now ? epochSeconds(Math.min(end, nextRun)) : end;
}
