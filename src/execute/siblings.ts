import type { MoveStatus } from '../api/v1alpha1/rebalance-plan.ts';
import { formatInstant, parseInstant } from '../model/instant.ts';
import type { PodInfo } from '../model/pod.ts';
import { after, seconds } from '../model/units.ts';
import { shortDigest } from '../plan/hash.ts';

/** Pods of an owner that are recorded one by one: the youngest, so that the journal of a large owner stays small. */
const MAX_RECORDED = 64;
/** Characters of a digest: of this many pods, one in a billion sets has two that are alike. */
const DIGEST = 6;

/** What is recorded of the pods that an owner had before its pod was evicted. */
export type Siblings = NonNullable<MoveStatus['siblings']>;

/**
 * Records which pods an owner has, so that the one that its controller makes next is known by its UID: creation times are those of
 * several API servers, whose clocks differ. Of more than 64 pods the youngest are recorded, and since when they are all of them: what
 * was created before that is no replacement either. Pods that are created together have the same creation time, in whole seconds;
 * where the limit falls between such pods, none of that second is recorded.
 */
export function recordSiblings(pods: readonly PodInfo[]): Siblings {
  const byAge = pods.toSorted((a, b) => b.createdAt - a.createdAt || (a.uid < b.uid ? -1 : 1));
  const [oldest, next] = byAge.slice(MAX_RECORDED - 1);
  if (oldest === undefined || next === undefined) {
    return { digests: digestsOf(byAge) };
  }
  const since = oldest.createdAt === next.createdAt ? after(oldest.createdAt, seconds(1)) : oldest.createdAt;
  return { digests: digestsOf(byAge.filter(({ createdAt }) => createdAt >= since)), since: formatInstant(since) };
}

function digestsOf(pods: readonly PodInfo[]): string {
  return pods.map(({ uid }) => shortDigest(uid, DIGEST)).join('');
}

/** Whether `pod`, of the same owner, came after its siblings were recorded. */
export function cameAfter({ digests, since }: Siblings): (pod: PodInfo) => boolean {
  const known = new Set(
    Array.from({ length: digests.length / DIGEST }, (_, place) => digests.slice(place * DIGEST, (place + 1) * DIGEST)),
  );
  const limit = since === undefined ? Number.NEGATIVE_INFINITY : parseInstant(since);
  return ({ uid, createdAt }) => createdAt >= limit && !known.has(shortDigest(uid, DIGEST));
}
