import type { ServiceClass, ServiceLedger } from '../model/service-level.ts';
import type { ClusterSnapshot } from '../model/snapshot.ts';
import { type EpochSeconds, elapsed } from '../model/units.ts';
import { classOf } from '../qos/class-of.ts';
import { at, type PodIndex } from './indices.ts';
import { type Owner, ownerOf } from './owners.ts';
import { perKind } from './pod-kinds.ts';
import type { Subjects } from './pod-usage.ts';

/** A ledger counted up to an instant later than this after the snapshot is not believed: clocks differ by less. */
const FUTURE_TOLERANCE = 5;

/** Whether a ledger is not from the future: then the SLO of its workload is unknown (execution.md, failure model). */
export function isBelievable({ asOf }: ServiceLedger, now: EpochSeconds): boolean {
  return elapsed(now, asOf) <= FUTURE_TOLERANCE;
}

/** What the workloads of pods were promised, and what they got. Pods are named by their place. */
export interface Promises {
  /** `undefined` without a class. */
  readonly classOf: (pod: PodIndex) => ServiceClass | undefined;
  /** `undefined`: its workload has none, or one from the future. */
  readonly ledgerOf: (pod: PodIndex) => ServiceLedger | undefined;
}

/** Looks up classes and ledgers when they are asked for, once for pods of a kind. */
export function promisesIn(
  { serviceLevels, namespaces, takenAt }: ClusterSnapshot,
  { owners, kinds }: Pick<Subjects, 'owners' | 'kinds'>,
): Promises {
  const believable = (owner: Owner | undefined): ServiceLedger | undefined => {
    const ledger = serviceLevels.ledgers.get(owner?.top?.uid ?? owner?.ref.uid ?? '');
    return ledger !== undefined && isBelievable(ledger, takenAt) ? ledger : undefined;
  };
  const promised = perKind(kinds, (kind, place) => ({
    serviceClass: classOf(kind, serviceLevels, namespaces),
    ledger: believable(ownerOf(owners, at(kinds.firstOf, place))),
  }));
  return {
    classOf: (pod) => promised(pod).serviceClass,
    ledgerOf: (pod) => promised(pod).ledger,
  };
}
