import type { MoveStatus, RebalancePlan } from '../api/v1alpha1/rebalance-plan.ts';
import { parseInstant } from '../model/instant.ts';
import { kindOf } from '../model/move.ts';
import type { ServiceClass, ServiceLedger, ServiceLevels } from '../model/service-level.ts';
import type { EpochSeconds, Seconds } from '../model/units.ts';
import { inSeconds, percent } from '../plan/format.ts';
import { isBelievable } from '../plan/promises.ts';
import { availabilityOf, timesOver, totalOf } from '../qos/times.ts';
import { entries } from './journal.ts';
import type { JournalEntry } from './move.ts';
import type { StopReason } from './stop-rules.ts';
import { isInFlight } from './transitions.ts';

/**
 * Why no further pod may be evicted for a plan when a workload that it has moved from node to node has fallen below its SLO because
 * of that (execution.md, stop rules): over the window of its class it has less than promised, and would have what was promised
 * without the service that the plan has cost it. The budget of service levels has let its pods go since they could spare a
 * start; one that takes longer than starts were measured to take ends the plan before the next.
 *
 * In mode Task the run time that was lost in the window counts as cost of the plan, too. Of a workload without a ledger that can
 * be believed nothing is known. Preemptions and admissions are no such moves: QoSDriven has weighed what they cost.
 * `undefined` when there is no reason.
 */
export function serviceStop(
  plan: RebalancePlan,
  { classes, ledgers }: Pick<ServiceLevels, 'classes' | 'ledgers'>,
  now: EpochSeconds,
): StopReason | undefined {
  if (ledgers.size === 0) {
    return undefined;
  }
  const moved = entries(plan).filter(({ move, run }) => kindOf(move) === 'Transfer' && run.startedAt !== undefined);
  for (const [uid, own] of Map.groupBy(moved, ({ move }) => (move.workload ?? move.owner).uid)) {
    const ledger = ledgers.get(uid);
    const serviceClass = classes.get(ledger?.className ?? '');
    if (ledger !== undefined && serviceClass !== undefined && isBelievable(ledger, now)) {
      const message = fall(ledger, serviceClass, own, now);
      if (message !== undefined) {
        return { reason: 'ServiceLevelMissed', message, stops: 'Disruptions' };
      }
    }
  }
  return undefined;
}

function fall(
  ledger: ServiceLedger,
  serviceClass: ServiceClass,
  moved: readonly JournalEntry[],
  now: EpochSeconds,
): string | undefined {
  const { name, slo, mode, window } = serviceClass;
  const times = timesOver(ledger, mode, now, window);
  const availability = availabilityOf(times);
  if (availability === undefined || availability >= slo) {
    return undefined;
  }
  const lost = lostToPlan(moved, ledger, serviceClass, now) + (mode === 'Task' ? times.discarded : 0);
  if (times.useful + lost < slo * totalOf(times)) {
    return undefined;
  }
  const { kind, name: workload } = ledger.owner;
  const has = `${kind} ${ledger.namespace}/${workload} has ${percent(availability)} over ${inSeconds(window)}`;
  return `${has}, its class ${name} promises ${percent(slo)}: the plan has cost it ${inSeconds(lost)} of service`;
}

/** Instance-seconds of service that the moves have cost so far, within the window of the class. */
function lostToPlan(
  moved: readonly JournalEntry[],
  { running, waiting }: ServiceLedger,
  { mode, window }: ServiceClass,
  now: EpochSeconds,
): number {
  const span = moved.reduce((sum, { run }) => sum + unavailable(run, window, now), 0);
  // No instance serves while one does not.
  return mode === 'Concurrent' ? span * (running + waiting) : span;
}

/** Seconds in the window before `now` in which the pod that was moved did not run: until its replacement was Ready, or given up. */
function unavailable(
  { startedAt, phase, unavailableSeconds = 0 }: MoveStatus,
  window: Seconds,
  now: EpochSeconds,
): number {
  const start = startedAt === undefined ? now : parseInstant(startedAt);
  const end = isInFlight(phase) ? now : Math.min(now, start + unavailableSeconds);
  return Math.max(0, end - Math.max(start, now - window));
}
