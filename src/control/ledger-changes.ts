import { formatDecimal } from '../model/decimal.ts';
import { oncePer } from '../model/once-per.ts';
import { type EpochSeconds, type Seconds, seconds } from '../model/units.ts';
import type { ClassedRequest, ServiceView, StoredLedger } from '../ports.ts';
import { carryOn, endLedger } from '../qos/ledger.ts';
import type { Promised, RequestRecord } from '../qos/ledger-record.ts';
import type { KeptLedger } from '../qos/ledger-state.ts';
import { ledgerName } from '../report/ledger-resource.ts';

/** How long a ledger outlives its workload where its class has gone too; else as long as the class's window. */
const RETENTION: Seconds = seconds(24 * 3600);

/** A change of one ledger. */
export interface Change {
  readonly stored: StoredLedger | undefined;
  /** `undefined`: delete it. */
  readonly ledger: KeptLedger | undefined;
  /** What it has counted. */
  readonly record: RequestRecord;
}

/** What the next state of a ledger is made from, but for the time. */
export interface LedgerSource {
  readonly stored: StoredLedger | undefined;
  readonly request: ClassedRequest;
  readonly promised: Promised | undefined;
}

/** The source of every request's ledger, by the key of its QoSLedger. */
export function ledgerSources(
  { requests, classes }: ServiceView,
  stored: ReadonlyMap<string, StoredLedger>,
): ReadonlyMap<string, LedgerSource> {
  return new Map(
    requests.map((request) => {
      const { key } = keyOfRecord(request.record);
      return [key, { stored: stored.get(key), request, promised: classes.get(request.className) }];
    }),
  );
}

const keyOfRecord = oncePer(({ namespace, owner }: RequestRecord) => ({ key: keyOf(namespace, ledgerName(owner)) }));

/** Whether nothing but time has gone on between the two. */
export function isSameSource(before: LedgerSource | undefined, { stored, request, promised }: LedgerSource): boolean {
  return before?.stored === stored && before?.request.record === request.record && before?.promised === promised;
}

/** What becomes of the ledger of a request; `preempted` are UIDs of pods that were evicted on behalf of others. */
export function changeOf(
  { stored, request, promised }: LedgerSource,
  preempted: ReadonlySet<string>,
  now: EpochSeconds,
): Change {
  return { stored, record: request.record, ledger: nextOf(request, stored?.ledger, promised, preempted, now) };
}

/** Whether there is anything to write. */
export function isChanged(change: Change, view: ServiceView): boolean {
  return change.ledger !== change.stored?.ledger || hasOldSlo(change, view);
}

function nextOf(
  { record, className }: ClassedRequest,
  kept: KeptLedger | undefined,
  promised: Promised | undefined,
  preempted: ReadonlySet<string>,
  now: EpochSeconds,
): KeptLedger | undefined {
  if (promised !== undefined) {
    return carryOn(kept, promised, record, preempted, now);
  }
  return (
    kept &&
    endLedger(kept, undefined, record, `there is no ServiceClass ${className}: add it, or remove the label`, now)
  );
}

/** The ledger of a workload that is gone, or has lost its class. It is kept for a while and goes on if the workload comes back. */
export function orphaned(stored: StoredLedger, view: ServiceView, now: EpochSeconds): Change {
  const { ledger } = stored;
  const promised = ledger && view.classes.get(ledger.className);
  if (ledger === undefined) {
    return { stored, ledger, record: view.recordOf(identityOf(stored)) };
  }
  const record = view.recordOf(ledger);
  const retention = promised?.terms.window ?? RETENTION;
  if (ledger.endedAt !== undefined && now - ledger.endedAt > retention) {
    return { stored, ledger: undefined, record };
  }
  const message =
    record.createdAt > 0
      ? 'the workload no longer names a ServiceClass'
      : 'the workload is gone: its ledger continues if the workload returns in time';
  return { stored, record, ledger: endLedger(ledger, promised, record, message, now) };
}

function identityOf({ namespace, resource }: StoredLedger): Pick<KeptLedger, 'namespace' | 'owner'> {
  return { namespace, owner: resource.spec.owner };
}

function hasOldSlo({ stored, ledger }: Change, { classes }: ServiceView): boolean {
  const terms = ledger?.endedAt === undefined ? classes.get(ledger?.className ?? '')?.terms : undefined;
  return terms !== undefined && stored?.resource.status?.slo !== formatDecimal(terms.slo);
}

/** Key of a QoSLedger. */
export function keyOf(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}
