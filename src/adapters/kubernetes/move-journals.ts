import type { V1DeleteOptions } from '@kubernetes/client-node';
import type { MoveJournal, MoveJournalSpec } from '../../api/v1alpha1/move-journal.ts';
import type { RebalancePlan } from '../../api/v1alpha1/rebalance-plan.ts';
import { API_VERSION } from '../../api/v1alpha1/schema.ts';
import { isObject } from '../../model/json.ts';
import { ApiError, ifThere, isApiError, orConflict } from './api-error.ts';
import type { ApiClient } from './client.ts';
import { listObjects } from './list.ts';
import { MERGE_PATCH, replacingPatch } from './merge-patch.ts';
import { followMetadata } from './metadata-watch.ts';
import { RESOURCES } from './resource.ts';
import type { SentJson } from './sent-json.ts';

/** MoveJournals on the cluster. Every method rejects with an ApiError when the server refuses or cannot be reached. */
export interface MoveJournals {
  /** Makes an empty journal for the plan, which is deleted with it. Throws ConflictError when there is one of that name. */
  create(plan: RebalancePlan, signal: AbortSignal): Promise<MoveJournal>;
  /** Empty where the kind is not served: its CRD is newer than those of plans. */
  list(signal: AbortSignal): Promise<readonly MoveJournal[]>;
  /** Of the plan of this name, as it is now; undefined where there is none. */
  get(name: string, signal: AbortSignal): Promise<MoveJournal | undefined>;
  /** Replaces the content over the version of `journal`. Throws ConflictError when the stored object is newer or gone. */
  write(journal: MoveJournal, spec: MoveJournalSpec, signal: AbortSignal): Promise<MoveJournal>;
  /** Deletes this very journal; gone already is fine. */
  remove(journal: MoveJournal, signal: AbortSignal): Promise<void>;
  /** Calls `changed` after every change until aborted; re-lists after gaps, with jittered back-off. Resolves when aborted. */
  watch(changed: () => void, signal: AbortSignal): Promise<void>;
}

/** MoveJournals on an API server. `report` hears of watches that failed; they are begun anew all the same. */
export function createMoveJournals(client: ApiClient, report: (error: unknown) => void): MoveJournals {
  const at = (name: string) => ({ ...RESOURCES.MoveJournal, name });
  return {
    async create(plan, signal) {
      const request = { verb: 'create', target: RESOURCES.MoveJournal, body: emptyJournal(plan) } as const;
      return asMoveJournal(await orConflict(client.send(request, signal)));
    },
    list: (signal) => listMoveJournals(client, signal),
    async get(name, signal) {
      const answer = await ifThere(client.read({ verb: 'get', target: at(name) }, signal));
      return answer && asMoveJournal(answer);
    },
    async write({ metadata: { name, uid, resourceVersion }, spec: previous }, spec, signal) {
      const body = { metadata: { uid, resourceVersion }, spec: replacingPatch(previous, spec) };
      const request = { verb: 'patch', target: at(name), body, contentType: MERGE_PATCH } as const;
      return asMoveJournal(await orConflict(client.sendIdempotent(request, signal)));
    },
    async remove({ metadata: { name, uid } }, signal) {
      const body = {
        apiVersion: 'v1',
        kind: 'DeleteOptions',
        preconditions: uid === undefined ? {} : { uid },
      } satisfies SentJson<V1DeleteOptions>;
      try {
        await client.send({ verb: 'delete', target: at(name), body }, signal);
      } catch (error) {
        if (!isApiError(error, 'NotFound', 'Conflict')) {
          throw error;
        }
      }
    },
    watch: (changed, signal) => followMetadata(client, RESOURCES.MoveJournal, changed, report).run(signal),
  };
}

/** All MoveJournals; none where the kind is not served. Rejects with ApiError. */
export async function listMoveJournals(client: ApiClient, signal: AbortSignal): Promise<readonly MoveJournal[]> {
  try {
    return (await listObjects(client, RESOURCES.MoveJournal, {}, signal)).map((body) => asMoveJournal({ body }));
  } catch (error) {
    if (isApiError(error, 'NotServed')) {
      return [];
    }
    throw error;
  }
}

/** The journal of a plan before anything is in it. */
export function emptyJournal({ metadata: { name, uid = '' } }: RebalancePlan): MoveJournal {
  const owner = { apiVersion: API_VERSION, kind: 'RebalancePlan', name, uid };
  return {
    apiVersion: API_VERSION,
    kind: 'MoveJournal',
    metadata: { name, ownerReferences: [owner] },
    spec: { sequence: 0, base: 0, moves: [] },
  };
}

/** The API server has checked the schema; this is about talking to the right one. Items of a list name no kind. Throws ApiError. */
export function asMoveJournal({ body }: { readonly body: unknown }): MoveJournal {
  if (!isObject(body) || !isObject(body.metadata) || !isObject(body.spec)) {
    throw new ApiError('BadAnswer', 'the API server answered with something that is no MoveJournal');
  }
  return { ...body, apiVersion: API_VERSION, kind: 'MoveJournal' } as unknown as MoveJournal;
}
