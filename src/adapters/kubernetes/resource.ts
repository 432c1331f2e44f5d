import { API_VERSION } from '../../api/v1alpha1/schema.ts';
import { KINDS, SNAPSHOT_KINDS, type SnapshotKind } from '../../observe/kind-table.ts';

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

/** Resources of which no snapshot is made. */
const OTHERS = {
  Event: resource('events.k8s.io/v1', 'events'),
  TokenReview: resource('authentication.k8s.io/v1', 'tokenreviews'),
  SubjectAccessReview: resource('authorization.k8s.io/v1', 'subjectaccessreviews'),
  SelfSubjectAccessReview: resource('authorization.k8s.io/v1', 'selfsubjectaccessreviews'),
  Lease: resource('coordination.k8s.io/v1', 'leases'),
  MutatingAdmissionPolicy: resource('admissionregistration.k8s.io/v1', 'mutatingadmissionpolicies'),
  MutatingAdmissionPolicyBinding: resource('admissionregistration.k8s.io/v1', 'mutatingadmissionpolicybindings'),
  MutatingWebhookConfiguration: resource('admissionregistration.k8s.io/v1', 'mutatingwebhookconfigurations'),
  Secret: resource('v1', 'secrets'),
  RebalancePolicy: resource(API_VERSION, 'rebalancepolicies'),
  MoveJournal: resource(API_VERSION, 'movejournals'),
  PlacementHint: resource(API_VERSION, 'placementhints'),
} as const satisfies Record<string, ResourceRef>;

/** Resources that the operator and the command line use, by kind. */
export const RESOURCES: Readonly<Record<SnapshotKind | keyof typeof OTHERS, ResourceRef>> = {
  ...(Object.fromEntries(
    SNAPSHOT_KINDS.map((kind) => [kind, resource(KINDS[kind].apiVersion, KINDS[kind].resource)]),
  ) as Record<SnapshotKind, ResourceRef>),
  ...OTHERS,
};

function resource(apiVersion: string, plural: string): ResourceRef {
  const [version = '', group = ''] = apiVersion.split('/').reverse();
  return { group, version, resource: plural };
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
