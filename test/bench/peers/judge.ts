import type { AuditEvent } from '../../control-plane/audit.ts';
import { dispensable, type Shift } from './dispensable.ts';
import type { PodTrack } from './observer.ts';

/** An eviction, the pod that it took, and the one that came in its place. */
export interface Replacement {
  /** When the eviction was answered, in milliseconds. */
  readonly at: number;
  readonly evicted: PodTrack;
  /** `undefined`: none came. */
  readonly replacement: PodTrack | undefined;
}

/** Finds the pods that replaced those that were evicted: the first of the controller that came after, each once. */
export function replacementsOf(evictions: readonly AuditEvent[], pods: readonly PodTrack[]): readonly Replacement[] {
  const taken = new Set<PodTrack>();
  return evictions.map((event) => {
    const at = Date.parse(event.answeredAt);
    const evicted = pods.find(
      ({ name, goneAt = Number.POSITIVE_INFINITY }) =>
        name === `${event.namespace}/${event.name}` && goneAt >= at - TOLERANCE,
    );
    if (evicted === undefined) {
      throw new Error(`nobody saw pod ${event.namespace}/${event.name}, which was evicted at ${event.answeredAt}`);
    }
    const replacement = pods.find(
      (pod) => pod.owner === evicted.owner && pod.seenAt >= at - TOLERANCE && pod !== evicted && !taken.has(pod),
    );
    if (replacement !== undefined) {
      taken.add(replacement);
    }
    return { at, evicted, replacement };
  });
}

/** Word of a pod may come before the audit log says that its eviction was answered. */
const TOLERANCE = 1000;

/** Seconds of service that the evictions cost: from each until the replacement was Ready, or until `end`. */
export function lostSeconds(replacements: readonly Replacement[], end: number): number {
  return replacements.reduce((sum, { at, replacement }) => sum + ((replacement?.readyAt ?? end) - at) / 1000, 0);
}

/**
 * How many of them evened out nothing: those that no pod came in the place of, and those that could have been left out of what was
 * decided on at once, when all of that has landed. Where one eviction was decided on, that is one whose replacement came to a node
 * that then used no less than the one that was left. `decidedAt` has the instant of each one's decision, the same for those of one.
 */
export function gainedNothing(
  replacements: readonly Replacement[],
  pods: readonly PodTrack[],
  decidedAt: readonly number[],
): number {
  const decisions = Map.groupBy(replacements.keys(), (place) => decidedAt[place]);
  return [...decisions.values()].reduce((sum, places) => {
    const together = places.flatMap((place) => replacements[place] ?? []);
    const shifts = together.flatMap(shiftOf);
    return sum + together.length - shifts.length + dispensable(shifts, usedAfter(together, pods));
  }, 0);
}

function shiftOf({ evicted, replacement }: Replacement): readonly Shift[] {
  const [from, to] = [evicted.node, replacement?.node];
  return from === undefined || to === undefined ? [] : [{ from, to, usage: evicted.usage }];
}

/** Millicores by node when the last of the replacements has landed, without the evicted pods, which may end later. */
function usedAfter(together: readonly Replacement[], pods: readonly PodTrack[]): ReadonlyMap<string, number> {
  const end = together.reduce((last, { at, replacement }) => Math.max(last, at, replacement?.boundAt ?? at), 0);
  const evicted = new Set(together.map((each) => each.evicted));
  const came = new Set(together.map(({ replacement }) => replacement));
  const used = new Map<string, number>();
  for (const pod of pods) {
    const { node, boundAt = end, goneAt = Number.POSITIVE_INFINITY, usage } = pod;
    const isThere = came.has(pod) || (boundAt <= end && goneAt > end && !evicted.has(pod));
    if (node !== undefined && isThere) {
      used.set(node, (used.get(node) ?? 0) + usage);
    }
  }
  return used;
}

/** Nodes that pods run on. */
export function usedNodes(pods: readonly PodTrack[]): ReadonlySet<string> {
  return new Set(pods.flatMap(({ node, goneAt }) => (goneAt === undefined ? (node ?? []) : [])));
}

/** How many of them took a pod from a node that runs pods all the same in the end, or from one that it was sent to before. */
export function emptiedNothing(replacements: readonly Replacement[], pods: readonly PodTrack[]): number {
  const used = usedNodes(pods);
  const came = new Set(replacements.map(({ replacement }) => replacement));
  return replacements.filter(({ evicted }) => used.has(evicted.node ?? '') || came.has(evicted)).length;
}

/** A pod that has no node for so long waits; every new pod is without one at first. */
const AT_ONCE_MS = 1000;

/** The most pods that waited for a node at one time after `since`. */
export function mostWaiting(pods: readonly PodTrack[], since: number): number {
  const waits = pods.flatMap(({ seenAt, boundAt, goneAt }) => {
    const [from, to] = [seenAt + AT_ONCE_MS, boundAt ?? goneAt ?? Number.POSITIVE_INFINITY];
    return seenAt >= since && to > from ? [{ from, to }] : [];
  });
  const at = (time: number): number => waits.filter(({ from, to }) => from <= time && time < to).length;
  return waits.reduce((most, { from }) => Math.max(most, at(from)), 0);
}

/** How many pods of each controller run on each node: by controller, then by node. */
export function placement(pods: readonly PodTrack[]): ReadonlyMap<string, ReadonlyMap<string, number>> {
  const alive = pods.filter(({ node, goneAt }) => node !== undefined && goneAt === undefined);
  const byOwner = Map.groupBy(alive, ({ owner }) => owner);
  return new Map(
    [...byOwner].map(([owner, own]) => {
      const byNode = Map.groupBy(own, ({ node = '' }) => node);
      return [owner, new Map([...byNode].map(([node, there]) => [node, there.length]))];
    }),
  );
}

/** The least number of pods that must move until no two of `counts` are more than one apart. */
export function unevenness(counts: readonly number[]): number {
  const sum = counts.reduce((total, each) => total + each, 0);
  const [low, high] = [Math.floor(sum / counts.length), Math.ceil(sum / counts.length)];
  const above = counts.reduce((total, each) => total + Math.max(0, each - high), 0);
  const below = counts.reduce((total, each) => total + Math.max(0, low - each), 0);
  return Math.max(above, below);
}
