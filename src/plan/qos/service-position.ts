import { compareText } from '../../model/compare-text.ts';
import type { PodInfo } from '../../model/pod.ts';
import type { InstanceLedger, ServiceClass, ServiceLedger } from '../../model/service-level.ts';
import { failedNodes, isStranded } from '../../model/stranded.ts';
import { elapsed, type Seconds } from '../../model/units.ts';
import { isOverheadSpent, preemptionOverhead } from '../../qos/overhead.ts';
import { expectedStartup, type ImageState } from '../../qos/startup.ts';
import { addsReplicasUp, instancesByPod, type Replica, tellsReplicasApart } from '../../qos/time-to-violate.ts';
import { timesAt } from '../../qos/times.ts';
import { waitingAllowance } from '../../qos/waiting-time.ts';
import type { PodIndex } from '../indices.ts';
import type { PlanningInput } from '../planning-input.ts';
import { promisesIn } from '../promises.ts';
import type { PreemptionRules, ServicePosition } from './rules.ts';

/** ServicePositions of pods, by place; worked out when first asked for. */
export interface ServicePositions {
  /**
   * `undefined`: it has no class, or no ledger that can be believed: neither victim nor urgent. `change`: so many more replicas of
   * its request run than the snapshot has, or fewer.
   */
  readonly of: (pod: PodIndex, change?: number) => ServicePosition | undefined;
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
  const shared = new Map<ServiceLedger, Map<number, ServicePosition>>();
  const { ledgerOf, classOf } = promisesIn(snapshot, subjects);
  const failed = failedNodes(snapshot.nodes);
  const placesOf = createPlaces(pods, ledgerOf, failed);
  const instanceOf = createInstances(pods, ledgerOf);
  const standing = (pod: PodIndex, change = 0): ServicePosition | undefined => {
    const [info, ledger] = [pods[pod], ledgerOf(pod)];
    const serviceClass = ledger === undefined ? undefined : classOf(pod);
    if (info === undefined || ledger === undefined || serviceClass === undefined) {
      return undefined;
    }
    const running = isRunning(info);
    const isAdded = addsReplicasUp(serviceClass.mode) && ledger.running + ledger.waiting > 1;
    const others = isAdded ? Math.max(0, placesOf(ledger).served - Number(isServed(info, failed)) + change) : 0;
    const key = 2 * others + Number(running);
    const alike = shared.get(ledger)?.get(key);
    if (alike?.serviceClass === serviceClass) {
      return alike;
    }
    const replica = {
      running,
      others,
      instance: tellsReplicasApart(serviceClass.mode) ? instanceOf(ledger, info) : undefined,
    };
    const lacking = serviceClass.mode === 'Concurrent' ? placesOf(ledger).lacking : 0;
    const found = standingOf(replica, ledger, serviceClass, takenAt, rules, lacking);
    if (!tellsReplicasApart(serviceClass.mode)) {
      const known = shared.get(ledger) ?? new Map<number, ServicePosition>();
      shared.set(ledger, known.set(key, found));
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

function standingOf(
  replica: Required<Replica>,
  ledger: ServiceLedger,
  serviceClass: ServiceClass,
  now: PlanningInput['snapshot']['takenAt'],
  rules: PreemptionRules,
  lacking: number,
): ServicePosition {
  const { importance, mode } = serviceClass;
  const { running } = replica;
  const alpha = expectedStartup(ledger, serviceClass, { running });
  const overhead = preemptionOverhead(ledger, timesAt(ledger, mode, now));
  const allowance = waitingAllowance(serviceClass, elapsed(ledger.admittedAt, now));
  return {
    metric: rules.metricOf(ledger, serviceClass, replica, now, alpha),
    safetyMargin: rules.marginOf(serviceClass, allowance, alpha),
    importance,
    overheadSpent: isOverheadSpent(overhead, serviceClass),
    request: ledger,
    serviceClass,
    allowance,
    alpha,
    running,
    lacking,
  };
}

/** The account of each replica, by its pod; pods are sorted into requests when it is first asked. */
function createInstances(
  pods: readonly PodInfo[],
  ledgerOf: (pod: PodIndex) => ServiceLedger | undefined,
): (ledger: ServiceLedger, pod: PodInfo) => InstanceLedger | undefined {
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

/** Where the replicas of a request are. */
interface Places {
  /** How many have no node, nor were promised one. */
  readonly lacking: number;
  /** How many run, or start on a node that has not failed. */
  readonly served: number;
}

/** Counts pods when it is first asked. */
function createPlaces(
  pods: readonly PodInfo[],
  ledgerOf: (pod: PodIndex) => ServiceLedger | undefined,
  failed: ReadonlySet<string>,
): (ledger: ServiceLedger) => Places {
  let counts: Map<ServiceLedger, { placed: number; served: number }> | undefined;
  const count = (): NonNullable<typeof counts> => {
    const found: NonNullable<typeof counts> = new Map();
    for (const [pod, info] of pods.entries()) {
      const ledger = hasPlace(info) ? ledgerOf(pod) : undefined;
      if (ledger !== undefined) {
        const { placed, served } = found.get(ledger) ?? { placed: 0, served: 0 };
        found.set(ledger, { placed: placed + 1, served: served + Number(isServed(info, failed)) });
      }
    }
    return found;
  };
  return (ledger) => {
    counts ??= count();
    const { placed, served } = counts.get(ledger) ?? { placed: 0, served: 0 };
    return { lacking: Math.max(0, ledger.running + ledger.waiting - placed), served };
  };
}

function hasPlace({ nodeName, waiting, terminating }: PodInfo): boolean {
  return !terminating && (nodeName !== undefined || (waiting?.gated === false && waiting.pinnedTo !== undefined));
}

/** It runs, or is about to: a pod that is leaving does not, whatever the ledger has seen. */
function isServed(pod: PodInfo, failed: ReadonlySet<string>): boolean {
  return hasPlace(pod) && !isStranded(pod, failed);
}
