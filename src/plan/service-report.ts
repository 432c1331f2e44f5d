import type { ServiceClass } from '../model/service-level.ts';
import type { ClusterSnapshot } from '../model/snapshot.ts';
import { type EpochSeconds, elapsed } from '../model/units.ts';
import type { WorkloadInfo } from '../model/workload.ts';
import { classNameOf } from '../qos/class-of.ts';
import { type ClassFulfilment, fulfilmentByClass, type PromisedRequest } from '../qos/fulfilment.ts';
import type { ScopeOptions } from './options.ts';
import { controllerAbove } from './owners.ts';
import { isBelievable } from './promises.ts';
import { scopeTest } from './scope.ts';

/** A workload has no ledger in the first seconds of its pods: it is written then. */
const LEDGER_GRACE = 60;

/** What the workloads in the scope of a policy were promised, what they got, and of which of them that is not known. */
export interface ServiceReport {
  /** Of the workloads whose ledger can be believed, the most important class first. */
  readonly classes: readonly ClassFulfilment[];
  /** `Kind namespace/name` of workloads with a class, but without a ledger that can be believed; sorted. New ones are left out. */
  readonly unkept: readonly string[];
  /** Names of classes that do not exist, although pods name them; sorted. */
  readonly unknownClasses: readonly string[];
}

/** A workload at the top with pods in scope. */
interface Request {
  readonly workload: WorkloadInfo;
  readonly serviceClass: ServiceClass;
  /** When the oldest of those pods was created. */
  oldest: EpochSeconds;
}

/**
 * Looks up what pods in scope were promised. A workload is of the class of its first pod there. Only workloads that can have a
 * ledger count: pods of none, and of kinds that the snapshot does not hold, were promised nothing.
 */
export function serviceReport(snapshot: ClusterSnapshot, scope: ScopeOptions): ServiceReport {
  const { serviceLevels, takenAt } = snapshot;
  const { requests, unknownClasses } = requestsIn(snapshot, scope);
  const promised: PromisedRequest[] = [];
  const unkept: string[] = [];
  for (const { workload, serviceClass, oldest } of requests) {
    const ledger = serviceLevels.ledgers.get(workload.uid);
    if (ledger !== undefined && isBelievable(ledger, takenAt)) {
      promised.push({ serviceClass, ledger });
    } else if (ledger !== undefined || elapsed(oldest, takenAt) >= LEDGER_GRACE) {
      unkept.push(`${workload.kind} ${workload.namespace}/${workload.name}`);
    }
  }
  return {
    classes: fulfilmentByClass(promised, takenAt),
    unkept: unkept.sort(),
    unknownClasses: [...unknownClasses].sort(),
  };
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
      requests.set(workload.uid, { workload, serviceClass, oldest: pod.createdAt });
    } else if (pod.createdAt < known.oldest) {
      known.oldest = pod.createdAt;
    }
  }
  return { requests: requests.values(), unknownClasses };
}
