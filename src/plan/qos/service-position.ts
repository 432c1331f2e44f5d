import type { PodInfo } from '../../model/pod.ts';
import type { ServiceClass, ServiceLedger } from '../../model/service-level.ts';
import { elapsed } from '../../model/units.ts';
import { isOverheadSpent, preemptionOverhead } from '../../qos/overhead.ts';
import { expectedStartup } from '../../qos/startup.ts';
import { replicaOf, tellsReplicasApart } from '../../qos/time-to-violate.ts';
import { timesAt } from '../../qos/times.ts';
import { waitingAllowance } from '../../qos/waiting-time.ts';
import type { PodIndex } from '../indices.ts';
import type { PlanningInput } from '../planning-input.ts';
import { promisesIn } from '../promises.ts';
import type { PreemptionRules, ServicePosition } from './rules.ts';

/** ServicePositions of pods, by place; worked out when first asked for. */
export interface ServicePositions {
  /** `undefined`: it has no class, or no ledger that can be believed: neither victim nor urgent. */
  readonly of: (pod: PodIndex) => ServicePosition | undefined;
  readonly classOf: (pod: PodIndex) => ServiceClass | undefined;
  /** Whether a running pod may not be evicted yet: it has not run for `minRunTime`. */
  readonly isFresh: (pod: PodIndex, standing: ServicePosition) => boolean;
  /** Whether its workload has a ledger that can be believed. */
  readonly isKnown: (pod: PodIndex) => boolean;
}

/** The standings of a snapshot's pods under the rules. */
export function createServicePositions(planningInput: PlanningInput, rules: PreemptionRules): ServicePositions {
  const { snapshot, pods, subjects } = planningInput;
  const { takenAt } = snapshot;
  const shared = new Map<ServiceLedger, ServicePosition[]>();
  const { ledgerOf, classOf } = promisesIn(snapshot, subjects);
  const standing = (pod: PodIndex): ServicePosition | undefined => {
    const [info, ledger] = [pods[pod], ledgerOf(pod)];
    const serviceClass = ledger === undefined ? undefined : classOf(pod);
    if (info === undefined || ledger === undefined || serviceClass === undefined) {
      return undefined;
    }
    const running = isRunning(info);
    const alike = shared.get(ledger)?.find((each) => each.serviceClass === serviceClass && each.running === running);
    if (alike !== undefined) {
      return alike;
    }
    const found = standingOf(info, ledger, serviceClass, takenAt, rules);
    if (!tellsReplicasApart(serviceClass.mode)) {
      shared.set(ledger, [...(shared.get(ledger) ?? []), found]);
    }
    return found;
  };
  return {
    of: standing,
    classOf,
    isFresh: (pod, { serviceClass: { minRunTime } }) => {
      const { readySince } = pods[pod] ?? {};
      return minRunTime > 0 && !(readySince !== undefined && elapsed(readySince, takenAt) >= minRunTime);
    },
    isKnown: (pod) => ledgerOf(pod) !== undefined,
  };
}

/** As its ledger counts it: a pod that has a node and is not Ready waits all the same. */
function isRunning({ nodeName, ready }: PodInfo): boolean {
  return nodeName !== undefined && ready;
}

function standingOf(
  info: PodInfo,
  ledger: ServiceLedger,
  serviceClass: ServiceClass,
  now: PlanningInput['snapshot']['takenAt'],
  rules: PreemptionRules,
): ServicePosition {
  const { importance, mode } = serviceClass;
  const running = isRunning(info);
  const alpha = expectedStartup(ledger, serviceClass);
  const overhead = preemptionOverhead(ledger, timesAt(ledger, mode, now));
  const allowance = waitingAllowance(serviceClass, elapsed(ledger.admittedAt, now));
  return {
    metric: rules.metricOf(ledger, serviceClass, replicaOf(ledger, mode, info.uid, running), now, alpha),
    safetyMargin: rules.marginOf(serviceClass, allowance, alpha),
    importance,
    overheadSpent: isOverheadSpent(overhead, serviceClass),
    serviceClass,
    allowance,
    alpha,
    running,
  };
}
