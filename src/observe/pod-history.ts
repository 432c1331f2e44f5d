import type { EpochSeconds } from '../model/units.ts';
import { withoutTrace, withSighting } from '../qos/ledger-history.ts';
import type { RequestRecord } from '../qos/ledger-record.ts';
import type { OwnedSighting } from './project/pod-sighting.ts';
import type { OwnedRecord } from './service-requests.ts';

/** What happened to pods, from their versions as they came: also to those that are gone, until a ledger has counted them. */
export interface PodHistory {
  /** Each pod whose end no ledger has counted. */
  records(): Iterable<OwnedRecord>;
  /** Takes in the next version of a pod. */
  saw(owned: OwnedSighting): void;
  /** The pod of this UID was deleted at this time. */
  deleted(uid: string, at: EpochSeconds): void;
  /** Only pods of these UIDs exist: the others have gone some time before. */
  existing(uids: ReadonlySet<string>): void;
  /** A ledger has counted this record: pods that have ended are told of no more. */
  counted(record: RequestRecord): void;
  /** Forgets pods that went before an instant, or nobody knows when. */
  forgetGone(before: EpochSeconds): void;
  /** Of pods that are gone remembers only those of these UIDs: no ledger is going to count the others. */
  keepEnded(uids: ReadonlySet<string>): void;
}

/** A history of nothing so far. */
export function createPodHistory(): PodHistory {
  const records = new Map<string, OwnedRecord>();
  const present = new Set<string>();
  /** Those that are present, have ended, and were counted. */
  const counted = new Set<string>();

  function gone(uid: string, at: EpochSeconds | undefined): void {
    present.delete(uid);
    counted.delete(uid);
    const known = records.get(uid);
    if (known !== undefined) {
      records.set(uid, { ...known, pod: withoutTrace(known.pod, at) });
    }
  }

  return {
    records: () => records.values(),
    saw({ seen, owner, priorityClassName }) {
      present.add(seen.uid);
      if (!counted.has(seen.uid)) {
        records.set(seen.uid, { pod: withSighting(records.get(seen.uid)?.pod, seen), owner, priorityClassName });
      }
    },
    deleted: gone,
    existing(uids) {
      for (const uid of present) {
        if (!uids.has(uid)) {
          gone(uid, undefined);
        }
      }
    },
    counted({ pods }) {
      for (const { uid } of pods.filter(({ end }) => end !== undefined)) {
        records.delete(uid);
        if (present.has(uid)) {
          counted.add(uid);
        }
      }
    },
    forgetGone(before) {
      for (const [uid, { pod }] of records) {
        if (!present.has(uid) && (pod.end?.at ?? pod.missedAt ?? 0) < before) {
          records.delete(uid);
        }
      }
    },
    keepEnded(uids) {
      for (const [uid, { pod }] of records) {
        if (pod.end !== undefined && !uids.has(uid)) {
          records.delete(uid);
        }
      }
    },
  };
}
