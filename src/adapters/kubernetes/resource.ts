import { GROUP, VERSION } from '../../api/v1alpha1/schema.ts';
import type { WorkloadKind } from '../../observe/project/workload.ts';

/** A resource of the API, all of its objects or one of them. */
export interface ResourceRef {
  /** API group; empty for the core group. */
  readonly group: string;
  readonly version: string;
  /** Plural, as in URLs and RBAC rules. */
  readonly resource: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly subresource?: string;
}

/** Resources that the operator and the command line use. */
export const RESOURCES = {
  nodes: core('nodes'),
  pods: core('pods'),
  namespaces: core('namespaces'),
  replicationControllers: core('replicationcontrollers'),
  deployments: { group: 'apps', version: 'v1', resource: 'deployments' },
  replicaSets: { group: 'apps', version: 'v1', resource: 'replicasets' },
  statefulSets: { group: 'apps', version: 'v1', resource: 'statefulsets' },
  daemonSets: { group: 'apps', version: 'v1', resource: 'daemonsets' },
  jobs: { group: 'batch', version: 'v1', resource: 'jobs' },
  pdbs: { group: 'policy', version: 'v1', resource: 'poddisruptionbudgets' },
  volumes: core('persistentvolumes'),
  claims: core('persistentvolumeclaims'),
  storageClasses: { group: 'storage.k8s.io', version: 'v1', resource: 'storageclasses' },
  csiNodes: { group: 'storage.k8s.io', version: 'v1', resource: 'csinodes' },
  csiDrivers: { group: 'storage.k8s.io', version: 'v1', resource: 'csidrivers' },
  nodeMetrics: { group: 'metrics.k8s.io', version: 'v1beta1', resource: 'nodes' },
  podMetrics: { group: 'metrics.k8s.io', version: 'v1beta1', resource: 'pods' },
  events: { group: 'events.k8s.io', version: 'v1', resource: 'events' },
  tokenReviews: { group: 'authentication.k8s.io', version: 'v1', resource: 'tokenreviews' },
  accessReviews: { group: 'authorization.k8s.io', version: 'v1', resource: 'subjectaccessreviews' },
  leases: { group: 'coordination.k8s.io', version: 'v1', resource: 'leases' },
  admissionPolicies: { group: 'admissionregistration.k8s.io', version: 'v1', resource: 'mutatingadmissionpolicies' },
  admissionBindings: {
    group: 'admissionregistration.k8s.io',
    version: 'v1',
    resource: 'mutatingadmissionpolicybindings',
  },
  selfSubjectAccessReviews: { group: 'authorization.k8s.io', version: 'v1', resource: 'selfsubjectaccessreviews' },
  policies: { group: GROUP, version: VERSION, resource: 'rebalancepolicies' },
  plans: { group: GROUP, version: VERSION, resource: 'rebalanceplans' },
  serviceClasses: { group: GROUP, version: VERSION, resource: 'serviceclasses' },
  ledgers: { group: GROUP, version: VERSION, resource: 'qosledgers' },
  hints: { group: GROUP, version: VERSION, resource: 'placementhints' },
} as const satisfies Record<string, ResourceRef>;

/** The resource of each kind that controls pods. */
export const WORKLOAD_RESOURCES: Readonly<Record<WorkloadKind, ResourceRef>> = {
  Deployment: RESOURCES.deployments,
  ReplicaSet: RESOURCES.replicaSets,
  StatefulSet: RESOURCES.statefulSets,
  DaemonSet: RESOURCES.daemonSets,
  Job: RESOURCES.jobs,
  ReplicationController: RESOURCES.replicationControllers,
};

function core(resource: string): ResourceRef {
  return { group: '', version: 'v1', resource };
}

/** The URL path of a resource below the server. Throws a RangeError for a name that would leave its place in the path. */
export function pathOf({ group, version, resource, namespace, name, subresource }: ResourceRef): string {
  return [
    group === '' ? `/api/${version}` : `/apis/${group}/${version}`,
    ...(namespace === undefined ? [] : ['namespaces', segment(namespace)]),
    resource,
    ...(name === undefined ? [] : [segment(name)]),
    ...(subresource === undefined ? [] : [subresource]),
  ].join('/');
}

function segment(name: string): string {
  if (name === '' || name === '.' || name === '..') {
    throw new RangeError(`${JSON.stringify(name)} is not the name of an object`);
  }
  return encodeURIComponent(name);
}

/** `pods "web-1" in namespace "shop"`, for messages. */
export function describeResource({ resource, group, namespace, name, subresource }: ResourceRef): string {
  const qualified = group === '' || group === 'apps' || group === 'batch' ? resource : `${resource}.${group}`;
  const kind = subresource === undefined ? qualified : `${qualified}/${subresource}`;
  const object = name === undefined ? '' : ` ${JSON.stringify(name)}`;
  return `${kind}${object}${namespace === undefined ? '' : ` in namespace ${JSON.stringify(namespace)}`}`;
}
