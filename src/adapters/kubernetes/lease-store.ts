import type { V1Lease } from '@kubernetes/client-node';
import { parseInstant } from '../../model/instant.ts';
import { isObject, type JsonObject } from '../../model/json.ts';
import { epochSeconds, type Seconds, seconds } from '../../model/units.ts';
import { type LeaseRecord, type LeaseStore, NamespaceMissingError, type StoredLease } from '../../ports.ts';
import { ApiError, ifThere, isApiError } from './api-error.ts';
import type { ApiClient } from './client.ts';
import { formatMicroTime } from './events.ts';
import { orConflict } from './plan-store.ts';
import { RESOURCES } from './resource.ts';
import type { SentJson } from './sent-json.ts';

/** Which Lease, and how patiently it is asked for. */
export interface LeaseOptions {
  readonly namespace: string;
  readonly name: string;
  /** Time until the answer to one request. */
  readonly deadline: Seconds;
}

/**
 * A Lease of coordination.k8s.io/v1. `client` should serve nothing else: a renewal must not wait behind long lists, and
 * must get through when a fence stops everything else.
 */
export function createLeaseStore(client: ApiClient, { namespace, name, deadline }: LeaseOptions): LeaseStore {
  const all = { ...RESOURCES.Lease, namespace };
  const target = { ...all, name };
  return {
    async get(signal) {
      const answer = await ifThere(client.send({ verb: 'get', target, deadline }, signal));
      return answer && toStoredLease(answer);
    },
    async create(record, signal) {
      const body = toLease({ name, namespace }, record);
      const request = client.send({ verb: 'create', target: all, body, deadline }, signal);
      return toStoredLease(await orConflict(orMissingNamespace(request)));
    },
    async update({ metadata }, record, signal) {
      const body = toLease(metadata, record);
      return toStoredLease(await orConflict(client.send({ verb: 'update', target, body, deadline }, signal)));
    },
  };
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

function instantOf(value: unknown): LeaseRecord['renewedAt'] {
  const instant = typeof value === 'string' ? parseInstant(value) : Number.NaN;
  return epochSeconds(Number.isNaN(instant) ? 0 : instant);
}
