import { compareText } from '../../model/compare-text.ts';
import type { PodInfo } from '../../model/pod.ts';
import type { InstanceLedger, ServiceClass, ServiceLedger } from '../../model/service-level.ts';
import { elapsed, type Seconds } from '../../model/units.ts';
import { isOverheadSpent, preemptionOverhead } from '../../qos/overhead.ts';
import { expectedStartup, type ImageState } from '../../qos/startup.ts';
import { instancesByPod, tellsReplicasApart } from '../../qos/time-to-violate.ts';
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
  /** What the next start of a pod is expected to take on a node that has its images, or not; alpha where nobody knows. */
  readonly startOf: (pod: PodIndex, standing: ServicePosition, image: ImageState) => Seconds;
}

/** The standings of a snapshot's pods under the rules. */
export function createServicePositions(planningInput: PlanningInput, rules: PreemptionRules): ServicePositions {
  const { snapshot, pods, subjects } = planningInput;
  const { takenAt } = snapshot;
  const shared = new Map<ServiceLedger, ServicePosition[]>();
  const { ledgerOf, classOf } = promisesIn(snapshot, subjects);
  const lackingOf = createLacking(pods, ledgerOf);
  const instanceOf = createInstances(pods, ledgerOf);
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
    const found = standingOf(info, ledger, serviceClass, takenAt, rules, { lackingOf, instanceOf });
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
    startOf: (_, { request, serviceClass, running }, image) =>
      expectedStartup(request, serviceClass, { running }, image),
  };
}

/** As its ledger counts it: a pod that has a node and is not Ready waits all the same. */
function isRunning({ nodeName, ready }: PodInfo): boolean {
  return nodeName !== undefined && ready;
}

/** What the pods of a request tell of it together. */
interface Lookups {
  readonly lackingOf: (ledger: ServiceLedger) => number;
  readonly instanceOf: (ledger: ServiceLedger, pod: PodInfo) => InstanceLedger | undefined;
}

function standingOf(
  info: PodInfo,
  ledger: ServiceLedger,
  serviceClass: ServiceClass,
  now: PlanningInput['snapshot']['takenAt'],
  rules: PreemptionRules,
  { lackingOf, instanceOf }: Lookups,
): ServicePosition {
  const { importance, mode } = serviceClass;
  const running = isRunning(info);
  const alpha = expectedStartup(ledger, serviceClass, { running });
  const overhead = preemptionOverhead(ledger, timesAt(ledger, mode, now));
  const allowance = waitingAllowance(serviceClass, elapsed(ledger.admittedAt, now));
  const instance = tellsReplicasApart(mode) ? instanceOf(ledger, info) : undefined;
  return {
    metric: rules.metricOf(ledger, serviceClass, { running, instance }, now, alpha),
    safetyMargin: rules.marginOf(serviceClass, allowance, alpha),
    importance,
    overheadSpent: isOverheadSpent(overhead, serviceClass),
    request: ledger,
    serviceClass,
    allowance,
    alpha,
    running,
    lacking: mode === 'Concurrent' ? lackingOf(ledger) : 0,
  };
}

/** The account of each replica, by its pod; pods are sorted into requests when it is first asked. */
function createInstances(
  pods: readonly PodInfo[],
  ledgerOf: (pod: PodIndex) => ServiceLedger | undefined,
): Lookups['instanceOf'] {
  let byLedger: Map<ServiceLedger | undefined, PodInfo[]> | undefined;
  const known = new Map<ServiceLedger, ReadonlyMap<string, InstanceLedger>>();
  const instancesOf = (ledger: ServiceLedger): ReadonlyMap<string, InstanceLedger> => {
    byLedger ??= Map.groupBy(pods, (_, pod) => ledgerOf(pod));
    const own = (byLedger.get(ledger) ?? [])
      .filter(({ terminating }) => !terminating)
      .sort((left, right) => left.createdAt - right.createdAt || compareText(left.uid, right.uid));
    return instancesByPod(
      ledger,
      own.map(({ uid }) => uid),
    );
  };
  return (ledger, { uid }) => {
    const instances = known.get(ledger) ?? instancesOf(ledger);
    known.set(ledger, instances);
    return instances.get(uid);
  };
}

/** How many replicas of a request have no node, nor were promised one; pods are counted when it is first asked. */
function createLacking(
  pods: readonly PodInfo[],
  ledgerOf: (pod: PodIndex) => ServiceLedger | undefined,
): (ledger: ServiceLedger) => number {
  let placed: Map<ServiceLedger, number> | undefined;
  const count = (): Map<ServiceLedger, number> => {
    const counts = new Map<ServiceLedger, number>();
    for (const [pod, info] of pods.entries()) {
      const ledger = hasPlace(info) ? ledgerOf(pod) : undefined;
      if (ledger !== undefined) {
        counts.set(ledger, (counts.get(ledger) ?? 0) + 1);
      }
    }
    return counts;
  };
  return (ledger) => {
    placed ??= count();
    return Math.max(0, ledger.running + ledger.waiting - (placed.get(ledger) ?? 0));
  };
}

function hasPlace({ nodeName, waiting, terminating }: PodInfo): boolean {
  return !terminating && (nodeName !== undefined || (waiting?.gated === false && waiting.pinnedTo !== undefined));
}
