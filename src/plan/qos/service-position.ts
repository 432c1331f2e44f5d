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
import { at, type PodIndex } from '../indices.ts';
import { once } from '../once.ts';
import type { PlanningInput } from '../planning-input.ts';
import { type PodKinds, perKind } from '../pod-kinds.ts';
import { type Promises, promisesIn } from '../promises.ts';
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
  const promises = promisesIn(snapshot, subjects);
  const { ledgerOf, classOf } = promises;
  const failed = failedNodes(snapshot.nodes);
  const requestOf = createRequests(subjects.kinds, promises, createPlaces(pods, ledgerOf, failed));
  const instanceOf = createInstances(pods, ledgerOf);
  const standing = (pod: PodIndex, change = 0): ServicePosition | undefined => {
    const [info, { request }] = [pods[pod], requestOf(pod)];
    if (info === undefined || request === undefined) {
      return undefined;
    }
    const { ledger, serviceClass, isAdded, places, positions } = request;
    const running = isRunning(info);
    const others = isAdded ? Math.max(0, places().served - Number(isServed(info, failed)) + change) : 0;
    const key = 2 * others + Number(running);
    const alike = positions?.get(key);
    if (alike !== undefined) {
      return alike;
    }
    const instance = positions === undefined ? instanceOf(ledger, info) : undefined;
    const lacking = serviceClass.mode === 'Concurrent' ? places().lacking : 0;
    const found = standingOf({ running, others, instance }, ledger, serviceClass, takenAt, rules, lacking);
    positions?.set(key, found);
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

/** What the replicas of a request have in common. */
interface Request {
  readonly ledger: ServiceLedger;
  readonly serviceClass: ServiceClass;
  /** Whether it matters how many others run. */
  readonly isAdded: boolean;
  readonly places: () => Places;
  /** By what tells replicas apart that have no account of their own; `undefined` where each has one. */
  readonly positions: Map<number, ServicePosition> | undefined;
}

/** Requests by pod, those of a kind looked up once; `undefined` without a class or a ledger. */
function createRequests(
  kinds: PodKinds,
  { ledgerOf, classOf }: Promises,
  placesOf: (ledger: ServiceLedger) => Places,
): (pod: PodIndex) => { readonly request: Request | undefined } {
  const known = new Map<ServiceLedger, Request[]>();
  const requestOf = (ledger: ServiceLedger, serviceClass: ServiceClass): Request => {
    const own = known.get(ledger) ?? [];
    const found = own.find((request) => request.serviceClass === serviceClass) ?? {
      ledger,
      serviceClass,
      isAdded: addsReplicasUp(serviceClass.mode) && ledger.running + ledger.waiting > 1,
      places: once(() => placesOf(ledger)),
      positions: tellsReplicasApart(serviceClass.mode) ? undefined : new Map(),
    };
    known.set(ledger, own.includes(found) ? own : [...own, found]);
    return found;
  };
  return perKind(kinds, (_, place) => {
    const first = at(kinds.firstOf, place);
    const [ledger, serviceClass] = [ledgerOf(first), classOf(first)];
    return {
      request: ledger === undefined || serviceClass === undefined ? undefined : requestOf(ledger, serviceClass),
    };
  });
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
    pods.forEach((info, pod) => {
      const ledger = hasPlace(info) ? ledgerOf(pod) : undefined;
      if (ledger !== undefined) {
        const own = found.get(ledger) ?? { placed: 0, served: 0 };
        own.placed += 1;
        own.served += Number(isServed(info, failed));
        found.set(ledger, own);
      }
    });
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
