import type { Labels } from '../model/selector.ts';
import { epochSeconds } from '../model/units.ts';
import type { ServiceView } from '../ports.ts';
import { assembleByPriorityClass } from './assemble-service-levels.ts';
import type { ProjectedRequest } from './project/request.ts';
import type { ProjectedServiceClass } from './project/service-class.ts';
import { gatherRequests, type OwnedRecord } from './service-requests.ts';

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
    byPriorityClass: assembleByPriorityClass(classes, problems),
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
