import type { AuditEvent } from '../../control-plane/audit.ts';
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
 * How many of them took a pod from a node to one that then used no less: nothing was evened out. `capacity` in millicores, the
 * same for all nodes.
 */
export function gainedNothing(replacements: readonly Replacement[], pods: readonly PodTrack[]): number {
  const usedAt = (node: string | undefined, time: number): number =>
    pods
      .filter((pod) => pod.node === node && (pod.boundAt ?? time) <= time && (pod.goneAt ?? time + 1) > time)
      .reduce((sum, { usage }) => sum + usage, 0);
  return replacements.filter(({ at, evicted, replacement }) => {
    const landed = replacement?.boundAt;
    return landed === undefined || usedAt(replacement?.node, landed) >= usedAt(evicted.node, at - 1);
  }).length;
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
