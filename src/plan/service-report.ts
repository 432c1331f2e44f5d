import type { PodInfo } from '../model/pod.ts';
import type { ServiceClass } from '../model/service-level.ts';
import type { ClusterSnapshot } from '../model/snapshot.ts';
import { type EpochSeconds, elapsed, type Seconds, seconds } from '../model/units.ts';
import type { WorkloadInfo } from '../model/workload.ts';
import { classNameOf } from '../qos/class-of.ts';
import { type ClassFulfilment, fulfilmentByClass, type PromisedRequest, penaltyOver } from '../qos/fulfilment.ts';
import type { ScopeOptions } from './options.ts';
import { type Oversold, oversold } from './oversold.ts';
import { controllerAbove } from './owners.ts';
import { isBelievable } from './promises.ts';
import { scopeTest } from './scope.ts';

/** A workload has no ledger in the first seconds of its pods: it is written then. */
const LEDGER_GRACE = 60;

/** What the workloads of a class got, what they are owed, and who of them waits. */
export interface ClassReport extends ClassFulfilment {
  /** Core-seconds owed for the window of the class, by its `penalties`. */
  readonly penalty: number;
  /** Pods without a node. */
  readonly waiting: number;
  /** How long the oldest of those exists; 0 without any. */
  readonly longestWait: Seconds;
}

/** What the workloads in the scope of a policy were promised, what they got, and of which of them that is not known. */
export interface ServiceReport {
  /** Of the workloads whose ledger can be believed, the most important class first. */
  readonly classes: readonly ClassReport[];
  /** `Kind namespace/name` of workloads with a class, but without a ledger that can be believed; sorted. New ones are left out. */
  readonly unkept: readonly string[];
  /** Names of classes that do not exist, although pods name them; sorted. */
  readonly unknownClasses: readonly string[];
  /** `undefined` while all that was promised fits. */
  readonly oversold: Oversold | undefined;
}

/** A workload at the top with pods in scope. */
interface Request {
  readonly workload: WorkloadInfo;
  readonly serviceClass: ServiceClass;
  /** In the order of the snapshot; at least one. */
  readonly pods: PodInfo[];
}

/**
 * Looks up what pods in scope were promised. A workload is of the class of its first pod there. Only workloads that can have a
 * ledger count: pods of none, and of kinds that the snapshot does not hold, were promised nothing.
 */
export function serviceReport(snapshot: ClusterSnapshot, scope: ScopeOptions): ServiceReport {
  const { serviceLevels, takenAt } = snapshot;
  const { requests, unknownClasses } = requestsIn(snapshot, scope);
  const promised: (PromisedRequest & Pick<Request, 'pods'>)[] = [];
  const unkept: string[] = [];
  for (const { workload, serviceClass, pods } of requests) {
    const ledger = serviceLevels.ledgers.get(workload.uid);
    if (ledger !== undefined && isBelievable(ledger, takenAt)) {
      promised.push({ serviceClass, ledger, pods });
    } else if (ledger !== undefined || longest(pods, takenAt) >= LEDGER_GRACE) {
      unkept.push(`${workload.kind} ${workload.namespace}/${workload.name}`);
    }
  }
  const own = Map.groupBy(promised, ({ serviceClass }) => serviceClass.name);
  return {
    classes: fulfilmentByClass(promised, takenAt).map((fulfilment) => ({
      ...fulfilment,
      ...waitsAndDebts(own.get(fulfilment.serviceClass.name) ?? [], takenAt),
    })),
    unkept: unkept.sort(),
    unknownClasses: [...unknownClasses].sort(),
    oversold: oversold(snapshot, scope),
  };
}

/** All pods of a workload are taken to request as much as the first one. */
function waitsAndDebts(
  requests: readonly (PromisedRequest & Pick<Request, 'pods'>)[],
  now: EpochSeconds,
): Pick<ClassReport, 'penalty' | 'waiting' | 'longestWait'> {
  const waiting = requests.flatMap(({ pods }) =>
    pods.filter(({ phase, nodeName, terminating }) => phase === 'Pending' && nodeName === undefined && !terminating),
  );
  const cores = ([first]: readonly PodInfo[]): number => (first?.constraints.requests.cpu ?? 0) / 1000;
  return {
    penalty: requests.reduce((sum, request) => sum + penaltyOver(request, cores(request.pods), now), 0),
    waiting: waiting.length,
    longestWait: longest(waiting, now),
  };
}

/** Age of the oldest pod; 0 of none. */
function longest(pods: readonly PodInfo[], now: EpochSeconds): Seconds {
  return seconds(pods.reduce((most, { createdAt }) => Math.max(most, elapsed(createdAt, now)), 0));
}

function requestsIn(
  snapshot: ClusterSnapshot,
  scope: ScopeOptions,
): { readonly requests: Iterable<Request>; readonly unknownClasses: ReadonlySet<string> } {
  const { serviceLevels, namespaces, workloads } = snapshot;
  const isInScope = scopeTest(scope, snapshot);
  const requests = new Map<string, Request>();
  const unknownClasses = new Set<string>();
  for (const pod of snapshot.pods) {
    const name = classNameOf(pod, serviceLevels, namespaces);
    const controller = workloads.get(pod.owner?.uid ?? '');
    if (name === undefined || controller === undefined || !isInScope(pod)) {
      continue;
    }
    const serviceClass = serviceLevels.classes.get(name);
    const workload = controllerAbove(controller, workloads) ?? controller;
    const known = requests.get(workload.uid);
    if (serviceClass === undefined) {
      unknownClasses.add(name);
    } else if (known === undefined) {
      requests.set(workload.uid, { workload, serviceClass, pods: [pod] });
    } else {
      known.pods.push(pod);
    }
  }
  return { requests: requests.values(), unknownClasses };
}
