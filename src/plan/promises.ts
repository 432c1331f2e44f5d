import type { ServiceClass, ServiceLedger } from '../model/service-level.ts';
import type { ClusterSnapshot } from '../model/snapshot.ts';
import { type EpochSeconds, elapsed } from '../model/units.ts';
import { classOf } from '../qos/class-of.ts';
import { at, type OwnerIndex, type PodIndex } from './indices.ts';
import { type Owner, ownerOf } from './owners.ts';
import type { OwnedPods } from './startup.ts';

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

/** Looks up classes and ledgers when they are asked for. */
export function promisesIn(snapshot: ClusterSnapshot, { pods, owners }: OwnedPods): Promises {
  const { serviceLevels, namespaces, takenAt } = snapshot;
  const ledgers = new Map<OwnerIndex, ServiceLedger | undefined>();
  const believable = (owner: Owner | undefined): ServiceLedger | undefined => {
    const ledger = serviceLevels.ledgers.get(owner?.top?.uid ?? owner?.ref.uid ?? '');
    return ledger !== undefined && isBelievable(ledger, takenAt) ? ledger : undefined;
  };
  return {
    classOf: (pod) => {
      const info = pods[pod];
      return info === undefined ? undefined : classOf(info, serviceLevels, namespaces);
    },
    ledgerOf: (pod) => {
      const owner = at(owners.ofPod, pod);
      if (!ledgers.has(owner)) {
        ledgers.set(owner, believable(ownerOf(owners, pod)));
      }
      return ledgers.get(owner);
    },
  };
}
