import type { V1Lease } from '@kubernetes/client-node';
import { parseInstant } from '../../model/instant.ts';
import { isObject, type JsonObject } from '../../model/json.ts';
import { PURPOSE_LABEL } from '../../model/lease-labels.ts';
import type { Labels } from '../../model/selector.ts';
import { type EpochSeconds, epochSeconds, type Seconds, seconds } from '../../model/units.ts';
import {
  ConflictError,
  type LeaseRecord,
  type LeaseStore,
  NamespaceMissingError,
  type SharedLeases,
  type StoredLease,
} from '../../ports.ts';
import { ApiError, ifThere, isApiError, orConflict } from './api-error.ts';
import type { ApiClient } from './client.ts';
import { formatMicroTime } from './events.ts';
import { listObjects } from './list.ts';
import { describeDiff } from './object-table.ts';
import { Reflector } from './reflector.ts';
import { RESOURCES } from './resource.ts';
import type { SentJson } from './sent-json.ts';

/** Which Lease, and how patiently it is asked for. */
export interface LeaseOptions {
  readonly namespace: string;
  readonly name: string;
  /** Time until the answer to one request. */
  readonly deadline: Seconds;
  /** Labels with which it is created; none unless said otherwise. */
  readonly labels?: Labels;
}

/**
 * A Lease of coordination.k8s.io/v1. `client` should serve nothing else: a renewal must not wait behind long lists, and
 * must get through when a fence stops everything else.
 */
export function createLeaseStore(client: ApiClient, { namespace, name, deadline, labels }: LeaseOptions): LeaseStore {
  const all = { ...RESOURCES.Lease, namespace };
  const target = { ...all, name };
  return {
    async get(signal) {
      const answer = await ifThere(client.send({ verb: 'get', target, deadline }, signal));
      return answer && toStoredLease(answer);
    },
    async create(record, signal) {
      const metadata = labels === undefined ? {} : { labels: Object.fromEntries(labels) };
      const body = toLease({ name, namespace, ...metadata }, record);
      const request = client.send({ verb: 'create', target: all, body, deadline }, signal);
      return toStoredLease(await orConflict(orMissingNamespace(request)));
    },
    async update({ metadata }, record, signal) {
      const body = toLease(metadata, record);
      return toStoredLease(await orConflict(client.send({ verb: 'update', target, body, deadline }, signal)));
    },
    async remove({ metadata }, signal) {
      const { uid, resourceVersion } = metadata;
      const body = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid, resourceVersion } };
      await orConflictUnlessGone(client.send({ verb: 'delete', target, body, deadline }, signal));
    },
  };
}

/**
 * The Leases of a namespace that have the label evenkeel.dev/lease. `reader` lists and watches them; `client` is as for `createLeaseStore`.
 * `report` hears of lists and watches that failed.
 */
export function createSharedLeases(
  client: ApiClient,
  { namespace, deadline }: Pick<LeaseOptions, 'namespace' | 'deadline'>,
  report: (error: unknown) => void,
): SharedLeases {
  let hear = (): void => undefined;
  const seen = new Map<string, StoredLease>();
  const target = { ...RESOURCES.Lease, namespace };
  const reflection = new Reflector(client, { target, metadataOnly: false }).handle<StoredLease>({
    read: (body) => toStoredLease({ body }),
    changed: () => {
      seen.clear();
      for (const { value } of reflection.entries.values()) {
        if (isShared(value)) {
          seen.set(String(value.metadata['name']), value);
        }
      }
      hear();
    },
    failed: report,
    drifted: (diff) => report(new Error(`${reflection.name} had drifted: ${describeDiff(diff)}`)),
  });
  return {
    of: (name, labels) => createLeaseStore(client, { namespace, name, deadline, labels }),
    seen,
    list: async (signal) =>
      (await listObjects(client, target, {}, signal)).map((body) => toStoredLease({ body })).filter(isShared),
    async watch(changed, signal) {
      hear = changed;
      await reflection.run(signal);
    },
    renew: reflection.renew,
  };
}

function isShared({ metadata: { labels } }: StoredLease): boolean {
  return isObject(labels) && labels[PURPOSE_LABEL] !== undefined;
}

/** Somebody else has deleted it before: that is what was wanted. */
async function orConflictUnlessGone(request: Promise<unknown>): Promise<void> {
  try {
    await request;
  } catch (error) {
    if (isApiError(error, 'Conflict')) {
      throw new ConflictError(error.message, { cause: error });
    }
    if (!isApiError(error, 'NotFound')) {
      throw error;
    }
  }
}

/** A create that finds nothing has not found its namespace. */
async function orMissingNamespace<Answer>(request: Promise<Answer>): Promise<Answer> {
  try {
    return await request;
  } catch (error) {
    throw isApiError(error, 'NotFound') ? new NamespaceMissingError(error.message, { cause: error }) : error;
  }
}

function toLease(metadata: Readonly<Record<string, unknown>>, record: LeaseRecord): JsonObject {
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata,
    spec: {
      holderIdentity: record.holder,
      leaseDurationSeconds: record.duration,
      acquireTime: formatMicroTime(record.acquiredAt),
      renewTime: formatMicroTime(record.renewedAt),
      leaseTransitions: record.transitions,
    },
  } satisfies SentJson<V1Lease>;
}

/** Whatever is absent counts as client-go counts it: no holder, no duration, no transitions. */
function toStoredLease({ body }: { readonly body: unknown }): StoredLease {
  if (!isObject(body) || !isObject(body.metadata)) {
    throw new ApiError('BadAnswer', 'the API server answered with something that is no Lease');
  }
  const spec: JsonObject = isObject(body.spec) ? body.spec : {};
  const { holderIdentity, leaseDurationSeconds, leaseTransitions } = spec;
  const record: LeaseRecord = {
    holder: typeof holderIdentity === 'string' ? holderIdentity : '',
    duration: seconds(typeof leaseDurationSeconds === 'number' ? leaseDurationSeconds : 0),
    acquiredAt: instantOf(spec.acquireTime),
    renewedAt: instantOf(spec.renewTime),
    transitions: typeof leaseTransitions === 'number' ? leaseTransitions : 0,
  };
  return { record, metadata: body.metadata };
}

/** 0 for what is no instant. */
export function instantOf(value: unknown): EpochSeconds {
  const instant = typeof value === 'string' ? parseInstant(value) : Number.NaN;
  return epochSeconds(Number.isNaN(instant) ? 0 : instant);
}
