import { readFile } from 'node:fs/promises';

/** A change that somebody asked the API server for, whether or not it was allowed. */
export interface AuditEvent {
  /** When the request came in, RFC 3339 with microseconds in UTC: compares as text. */
  readonly at: string;
  /** When it was answered, likewise. */
  readonly answeredAt: string;
  /** create, update, patch, delete or deletecollection. */
  readonly verb: string;
  readonly uri: string;
  /** Asked for by the query, or in the body of an eviction or a deletion of a pod. */
  readonly dryRun: boolean;
  /** For a ServiceAccount `system:serviceaccount:NAMESPACE:NAME`. */
  readonly user: string;
  /** Empty for the core group. */
  readonly group: string;
  readonly resource: string;
  /** Empty when the object itself was meant. */
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  /** The UID that an eviction or a deletion of a pod insisted on. */
  readonly uidPrecondition?: string;
  /** The holder that a written Lease names: empty when it was given up. */
  readonly holder?: string;
  /** The HTTP status of the answer; 0 when there was none. */
  readonly code: number;
  /** ResponseComplete, or Panic. */
  readonly stage: string;
}

/** The events in an audit log file, in the order in which they were answered; none if it does not exist yet. */
export async function readAudit(file: string): Promise<readonly AuditEvent[]> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
      return '';
    }
    throw error;
  });
  const complete = text.slice(0, text.lastIndexOf('\n') + 1);
  return complete
    .split('\n')
    .filter((line) => line !== '')
    .map(parseAuditEvent);
}

/** Projects one line of an audit log (audit.k8s.io/v1 Event, JSON). */
export function parseAuditEvent(line: string): AuditEvent {
  const event: RawEvent = JSON.parse(line);
  const { objectRef = {}, requestObject, responseStatus } = event;
  const options = requestObject?.kind === 'Eviction' ? requestObject.deleteOptions : requestObject;
  const uidPrecondition = options?.preconditions?.uid;
  const holder = requestObject?.kind === 'Lease' ? (requestObject.spec?.holderIdentity ?? '') : undefined;
  return {
    at: event.requestReceivedTimestamp,
    answeredAt: event.stageTimestamp,
    verb: event.verb,
    uri: event.requestURI,
    dryRun: asksForDryRun(event.requestURI) || (options?.dryRun ?? []).length > 0,
    user: event.user.username,
    group: objectRef.apiGroup ?? '',
    resource: objectRef.resource ?? '',
    subresource: objectRef.subresource ?? '',
    namespace: objectRef.namespace ?? '',
    name: objectRef.name ?? '',
    ...(uidPrecondition === undefined ? {} : { uidPrecondition }),
    ...(holder === undefined ? {} : { holder }),
    code: responseStatus?.code ?? 0,
    stage: event.stage,
  };
}

/** Evictions that the API server carried out: the pod is gone or going, and its budget is spent. */
export function acceptedEvictions(events: readonly AuditEvent[]): readonly AuditEvent[] {
  return evictions(events).filter((event) => !event.dryRun && event.code === 201);
}

/** All evictions asked for, those refused and those on trial included. */
export function evictions(events: readonly AuditEvent[]): readonly AuditEvent[] {
  return events.filter((event) => event.resource === 'pods' && event.subresource === 'eviction');
}

/**
 * What `user` tried to change: everything but dry runs and requests that store nothing (tokens and reviews), whatever
 * the answer was. Leases and Events are included; filter by `resource` where they do not matter.
 */
export function writes(events: readonly AuditEvent[], user: string): readonly AuditEvent[] {
  return events.filter((event) => event.user === user && !event.dryRun && !storesNothing(event));
}

function storesNothing(event: AuditEvent): boolean {
  const isReview = event.group === 'authentication.k8s.io' || event.group === 'authorization.k8s.io';
  return isReview || (event.resource === 'serviceaccounts' && event.subresource === 'token');
}

function asksForDryRun(uri: string): boolean {
  return new URL(uri, 'https://127.0.0.1').searchParams.has('dryRun', 'All');
}

interface RawDeleteOptions {
  readonly kind?: string;
  readonly dryRun?: readonly string[];
  readonly preconditions?: { readonly uid?: string };
}

interface RawEvent {
  readonly requestReceivedTimestamp: string;
  readonly stageTimestamp: string;
  readonly stage: string;
  readonly verb: string;
  readonly requestURI: string;
  readonly user: { readonly username: string };
  readonly objectRef?: {
    readonly apiGroup?: string;
    readonly resource?: string;
    readonly subresource?: string;
    readonly namespace?: string;
    readonly name?: string;
  };
  readonly requestObject?: RawDeleteOptions & {
    readonly deleteOptions?: RawDeleteOptions;
    readonly spec?: { readonly holderIdentity?: string };
  };
  readonly responseStatus?: { readonly code?: number };
}
