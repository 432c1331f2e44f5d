import type { LeaseChange } from './lease-log.ts';

/** As much of the life of a replica as says whether it leads. Instants are milliseconds on one clock. */
export interface Candidate {
  /** Identity that Leases name; undefined while it is not known. */
  readonly identity: string | undefined;
  /** From when on it could take a Lease; undefined when it never came so far. */
  readonly joined: number | undefined;
  /** When its process was gone; undefined while it runs. */
  readonly ended: number | undefined;
  /** When the API server had the last renewal of its Lease, which is after its end where that one was late; undefined before the first. */
  readonly renewed: number | undefined;
}

/** A time without a leader. Instants are milliseconds on the same clock. */
export interface Gap {
  /** Name of what was not led. */
  readonly name: string;
  readonly from: number;
  readonly to: number;
  /**
   * From when on the replica that leads next could have been waited for: `from`, or the last end of a replica since, which may have been
   * about to lead, or the renewal of its Lease that came after that; or, where there was no other replica, when one had joined.
   */
  readonly since: number;
  /** Whether that is a renewal that reached the API server after the end of its replica: nobody can tell it from that of one that lives. */
  readonly isRenewedLate: boolean;
  /** When the replica that leads next had joined; undefined where there is none yet. */
  readonly nextJoined: number | undefined;
}

/**
 * Times between the first leader and `until` in which the Lease named no replica whose process was alive. Before the first leader, nothing
 * is a gap.
 */
export function gapsOf(
  name: string,
  changes: readonly LeaseChange[],
  replicas: readonly Candidate[],
  until: number,
): readonly Gap[] {
  const led = changes.flatMap(({ at, holder }, place) => {
    const leader = holder === '' ? undefined : replicas.find(({ identity }) => identity === holder);
    const to = Math.min(changes[place + 1]?.at ?? until, leader?.ended ?? until);
    return leader === undefined || to <= at ? [] : [{ from: at, to, joined: leader.joined }];
  });
  return led.flatMap(({ to: from }, place) => {
    const next = led[place + 1];
    const to = next?.from ?? until;
    if (to <= from) {
      return [];
    }
    const sinceEnd = waitedSince(from, to, replicas, ({ ended }) => ended);
    const since = waitedSince(from, to, replicas, ({ ended, renewed = 0 }) => ended && Math.max(ended, renewed));
    return [{ name, from, to, since, isRenewedLate: since > sinceEnd, nextJoined: next?.joined }];
  });
}

function waitedSince(
  from: number,
  to: number,
  replicas: readonly Candidate[],
  endOf: (replica: Candidate) => number | undefined,
): number {
  const joined = replicas.flatMap((each) => (each.joined === undefined ? [] : [{ ...each, joined: each.joined }]));
  const left = joined.filter((each) => each.joined < to && (each.ended === undefined || each.ended >= to));
  const ends = joined.flatMap((each) => endOf(each) ?? []).filter((end) => end > from && end < to);
  return Math.min(to, Math.max(from, ...ends, Math.min(...left.map((each) => each.joined))));
}
