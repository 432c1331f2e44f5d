import type { V1DeleteOptions } from '@kubernetes/client-node';
import type { QoSLedger } from '../../api/v1alpha1/qos-ledger.ts';
import { API_VERSION } from '../../api/v1alpha1/schema.ts';
import { isObject, type JsonObject, MalformedField } from '../../model/json.ts';
import { projectServiceLedger } from '../../observe/project/service-ledger.ts';
import type { LedgerStore, StoredLedger } from '../../ports.ts';
import { ledgerName, ledgerSpec, ledgerStatus } from '../../report/ledger-resource.ts';
import { ApiError, ifThere, isApiError, orConflict } from './api-error.ts';
import type { ApiClient } from './client.ts';
import { listObjects } from './list.ts';
import { MERGE_PATCH, replacingPatch } from './merge-patch.ts';
import { RESOURCES } from './resource.ts';
import type { SentJson } from './sent-json.ts';

/** QoSLedgers on an API server. */
export function createLedgerStore(client: ApiClient): LedgerStore {
  async function patch(
    { namespace, name, resource }: StoredLedger,
    subresource: { readonly subresource?: 'status' },
    change: JsonObject,
    signal: AbortSignal,
  ): Promise<StoredLedger> {
    const { uid, resourceVersion } = resource.metadata;
    const body = { metadata: { uid, resourceVersion }, ...change };
    const target = { ...RESOURCES.QoSLedger, namespace, name, ...subresource };
    const request = { verb: 'patch', target, body, contentType: MERGE_PATCH } as const;
    return toStored((await orConflict(client.sendIdempotent(request, signal))).body);
  }

  const write: LedgerStore['write'] = async (stored, ledger, terms, signal) => {
    const spec = ledgerSpec(ledger);
    const { owner, className } = stored.resource.spec;
    const isSame = owner.uid === spec.owner.uid && className === spec.className;
    const current = isSame ? stored : await patch(stored, {}, { spec }, signal);
    const status = replacingPatch(current.resource.status, ledgerStatus(ledger, terms));
    return await patch(current, { subresource: 'status' }, { status }, signal);
  };

  return {
    list: async (signal) => (await listObjects(client, RESOURCES.QoSLedger, {}, signal)).map(toStored),
    async get({ namespace, name }, signal) {
      const target = { ...RESOURCES.QoSLedger, namespace, name };
      const answer = await ifThere(client.read({ verb: 'get', target }, signal));
      return answer && toStored(answer.body);
    },
    async create(ledger, terms, signal) {
      const { namespace, owner } = ledger;
      const metadata = { name: ledgerName(owner), namespace };
      const body = { apiVersion: API_VERSION, kind: 'QoSLedger', metadata, spec: ledgerSpec(ledger) };
      const target = { ...RESOURCES.QoSLedger, namespace };
      const created = await orConflict(client.send({ verb: 'create', target, body }, signal));
      return await write(toStored(created.body), ledger, terms, signal);
    },
    write,
    async remove({ namespace, name, resource }, signal) {
      const { uid } = resource.metadata;
      const body = {
        apiVersion: 'v1',
        kind: 'DeleteOptions',
        preconditions: uid === undefined ? {} : { uid },
      } satisfies SentJson<V1DeleteOptions>;
      try {
        await client.send({ verb: 'delete', target: { ...RESOURCES.QoSLedger, namespace, name }, body }, signal);
      } catch (error) {
        if (!isApiError(error, 'NotFound', 'Conflict')) {
          throw error;
        }
      }
    },
  };
}

/** A QoSLedger whose status cannot be read is one all the same. Items of a list name no kind. */
function toStored(body: unknown): StoredLedger {
  if (!isObject(body) || !isObject(body.metadata) || !isObject(body.spec)) {
    throw new ApiError('BadAnswer', 'the API server answered with something that is no QoSLedger');
  }
  const resource = { ...body, apiVersion: API_VERSION, kind: 'QoSLedger' } as unknown as QoSLedger;
  const { namespace = '', name } = resource.metadata;
  try {
    return { namespace, name, resource, ledger: projectServiceLedger(body).ledger, problem: undefined };
  } catch (error) {
    if (error instanceof MalformedField) {
      return { namespace, name, resource, ledger: undefined, problem: error.message };
    }
    throw error;
  }
}
