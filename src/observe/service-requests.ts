import type { Labels } from '../model/selector.ts';
import type { AssignedClasses } from '../model/service-level.ts';
import { epochSeconds } from '../model/units.ts';
import type { ClassedRequest, ServiceView } from '../ports.ts';
import { classNameOf } from '../qos/class-of.ts';
import type { PodRecord, RequestRecord } from '../qos/ledger-record.ts';
import { assignClasses } from './assemble-service-levels.ts';
import type { ProjectedRequest } from './project/request.ts';
import type { ProjectedServiceClass } from './project/service-class.ts';

/** A pod and whose it is. */
export interface OwnedRecord {
  readonly pod: PodRecord;
  /** UID of its controller. */
  readonly owner: string;
  readonly priorityClassName: string | undefined;
}

interface RequestSources {
  /** By UID. */
  readonly workloads: ReadonlyMap<string, ProjectedRequest>;
  readonly pods: Iterable<OwnedRecord>;
  readonly namespaces: ReadonlyMap<string, Labels>;
  readonly assigned: AssignedClasses;
}

/** The workloads at the top, each with its pods and the class that it names, if any; those without one only by `recordOf`. */
export interface Requests {
  readonly classed: readonly ClassedRequest[];
  /** By UID of the workload at the top. */
  readonly recordOf: (uid: string) => RequestRecord | undefined;
}

/** Puts workloads, pods and classes together. */
export function gatherRequests({ workloads, pods, namespaces, assigned }: RequestSources): Requests {
  const podsOf = Map.groupBy(pods, ({ owner }) => topOf(owner, workloads));
  const recordOf = (uid: string): RequestRecord | undefined => {
    const workload = workloads.get(uid);
    return workload && toRecord(workload, podsOf.get(uid) ?? []);
  };
  const classed = [...workloads.values()].flatMap((workload): readonly ClassedRequest[] => {
    const { uid } = workload.self;
    if (topOf(uid, workloads) !== uid) {
      return [];
    }
    const own = podsOf.get(uid) ?? [];
    // By what the template says; admission may have given its pods a PriorityClass.
    const priorityClassName = workload.priorityClassName ?? own.at(-1)?.priorityClassName;
    const className = classNameOf({ ...workload, priorityClassName }, assigned, namespaces);
    return className === undefined ? [] : [{ record: toRecord(workload, own), className }];
  });
  return { classed, recordOf };
}

/** UID of the controller at the top: of a Deployment rather than its ReplicaSet. */
function topOf(uid: string, workloads: RequestSources['workloads']): string {
  const above = workloads.get(uid)?.owner?.uid;
  return above !== undefined && workloads.has(above) ? above : uid;
}

function toRecord(
  { namespace, self, createdAt, desired, completedAt }: ProjectedRequest,
  pods: readonly OwnedRecord[],
): RequestRecord {
  return { namespace, owner: self, createdAt, desired, completedAt, pods: pods.map(({ pod }) => pod) };
}

interface ServiceObjects {
  readonly classes: readonly ProjectedServiceClass[];
  readonly workloads: readonly ProjectedRequest[];
  readonly namespaces: readonly { readonly name: string; readonly labels: Labels }[];
  readonly pods: Iterable<OwnedRecord>;
}

/** What the API server records of service, by these objects. */
export function assembleServiceView({ classes, workloads, namespaces, pods }: ServiceObjects): ServiceView {
  const problems = new Set<string>();
  const { classed, recordOf } = gatherRequests({
    workloads: new Map(workloads.map((workload) => [workload.self.uid, workload])),
    pods,
    namespaces: new Map(namespaces.map(({ name, labels }) => [name, labels])),
    assigned: assignClasses(classes, problems),
  });
  return {
    classes: new Map(classes.map((each) => [each.terms.name, each])),
    requests: classed,
    recordOf: ({ namespace, owner }) =>
      recordOf(owner.uid) ?? {
        namespace,
        owner,
        createdAt: epochSeconds(0),
        desired: 0,
        completedAt: undefined,
        pods: [],
      },
    problems: [...problems],
  };
}
