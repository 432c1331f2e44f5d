import type { RebalancePlan } from '../../api/v1alpha1/rebalance-plan.ts';
import { isObject } from '../../model/json.ts';
import { queryOf } from '../../observe/kind-table.ts';
import type { ApiClient } from './client.ts';
import { type ListEnd, type ListListener, listAll } from './list.ts';
import { listMoveJournals } from './move-journals.ts';
import type { SnapshotSource } from './snapshot-sources.ts';
import { withJournal } from './with-journal.ts';

/** Lists one kind of a snapshot as `listAll` does; plans come with what their journals say. */
export async function listSource(
  client: ApiClient,
  { kind, target, part }: SnapshotSource,
  listener: ListListener,
  signal: AbortSignal,
): Promise<ListEnd> {
  const join = kind === 'RebalancePlan' ? await journalJoiner(client, signal) : undefined;
  const joining = join && {
    ...listener,
    item: (object: unknown, length: number) => listener.item(join(object), length),
  };
  return await listAll(client, target, queryOf(part), joining ?? listener, signal);
}

/** Journals are read first: so a plan is no older than the status that its journal goes on from. */
async function journalJoiner(client: ApiClient, signal: AbortSignal): Promise<(plan: unknown) => unknown> {
  const journals = await listMoveJournals(client, signal);
  const byUID = new Map(journals.map((journal) => [journal.metadata.uid, journal]));
  return (object) => {
    if (!isObject(object) || !isObject(object.status) || !isObject(object.status.journal)) {
      return object;
    }
    return withJournal(object as unknown as RebalancePlan, byUID.get(String(object.status.journal.uid)));
  };
}
