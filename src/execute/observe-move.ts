import { kindOf } from '../model/move.ts';
import type { PodInfo } from '../model/pod.ts';
import type { ClusterSnapshot } from '../model/snapshot.ts';
import { type EpochSeconds, elapsed, type Seconds, seconds } from '../model/units.ts';
import type { WorkloadInfo } from '../model/workload.ts';
import type { ClusterReader } from '../ports.ts';
import { explainMiss, type Miss } from '../steer/explain-miss.ts';
import { isAvailable } from './availability.ts';
import { freshPlacements } from './fresh-placements.ts';
import type { JournalEntry, Observation, Replacement } from './move.ts';
import { cameAfter } from './siblings.ts';
import { isStuck } from './verify.ts';

/**
 * What stands on the cluster of a move in flight. `claimed` are replacements of other moves. The pod of an admission is its
 * own replacement, and a removal has none. `isSteered`: a replacement should have been created with a preference for its planned node. Rejects as the
 * reader does.
 */
export async function observeMove(
  { move, run }: JournalEntry,
  claimed: ReadonlySet<string>,
  isSteered: boolean,
  reader: ClusterReader,
  signal: AbortSignal,
): Promise<Omit<Observation, 'withoutEffect'>> {
  const kind = kindOf(move);
  const isAdmission = kind === 'Admission';
  const hasSiblings = !isAdmission && kind !== 'Removal';
  const [{ pod, deletion, serverTime }, siblings] = await Promise.all([
    reader.pod(move.pod, signal),
    hasSiblings ? reader.podsOfOwner(move.pod.namespace, move.owner, signal) : [],
  ]);
  const found = isAdmission ? itself(pod, move) : findReplacement(siblings, move, run, claimed);
  const isRead = hasSiblings && (found === undefined || found.ready);
  const workload = isRead ? await reader.workload(move.pod.namespace, move.owner, signal) : undefined;
  const replacement =
    found === undefined ? undefined : describe(found, workload?.minReadySeconds ?? seconds(0), serverTime);
  const isOff = replacement !== undefined && isMiss(replacement, move, run);
  return {
    pod: pod?.uid !== move.pod.uid ? 'Gone' : pod.terminating ? 'Terminating' : 'Running',
    deletion,
    replacement:
      found !== undefined && isOff
        ? { ...replacement, miss: await explained(found, move.to ?? '', isSteered, reader, signal) }
        : replacement,
    awaited: wantsMore(workload, alive(siblings, run).length),
    serverTime,
  };
}

/** `undefined` while the caches are behind: a move must not wait for its explanation. */
async function explained(
  pod: PodInfo,
  target: string,
  isSteered: boolean,
  reader: ClusterReader,
  signal: AbortSignal,
): Promise<Miss | undefined> {
  const snapshot = await freshPlacements(reader, signal);
  return snapshot && explainMiss(withPod(snapshot, pod), pod.uid, target, isSteered);
}

/** Whether it is to be told why a replacement does not run where it was planned to, which is not on record yet. */
function isMiss(replacement: Replacement, move: JournalEntry['move'], run: JournalEntry['run']): boolean {
  const isElsewhere = replacement.node !== undefined && replacement.node !== move.to;
  const isRefused = kindOf(move) !== 'Admission' && isStuck(replacement);
  return run.miss === undefined && (isElsewhere || isRefused);
}

/** The snapshot with the pod as it was read, which may be newer than the caches. */
function withPod(snapshot: ClusterSnapshot, pod: PodInfo): ClusterSnapshot {
  return { ...snapshot, pods: [...snapshot.pods.filter(({ uid }) => uid !== pod.uid), pod] };
}

/** Kinds that do not say how many pods they want may always want another. */
function wantsMore(workload: WorkloadInfo | undefined, pods: number): boolean {
  return workload !== undefined && (workload.replicas === undefined || pods < workload.replicas);
}

/** A pod that its kubelet refused (phase Failed) serves for nothing: its controller makes another. */
function alive(siblings: readonly PodInfo[], { podUID }: JournalEntry['run']): readonly PodInfo[] {
  return siblings.filter((pod) => pod.uid !== podUID && !pod.terminating && pod.phase !== 'Failed');
}

function itself(pod: PodInfo | undefined, move: JournalEntry['move']): PodInfo | undefined {
  return pod?.uid === move.pod.uid && !pod.terminating ? pod : undefined;
}

function describe(pod: PodInfo, minReady: Seconds, serverTime: EpochSeconds): Replacement {
  return {
    name: pod.name,
    uid: pod.uid,
    node: pod.nodeName,
    available: isAvailable(pod, minReady, serverTime),
    readySince: pod.ready ? pod.readySince : undefined,
    age: elapsed(pod.createdAt, serverTime),
    waiting: pod.waiting,
    miss: undefined,
  };
}

/**
 * The pod that the controller made instead: the one on record, else of those that came after the owner's pods were recorded, and
 * that no other move claims, the one of the same name (a StatefulSet's), or the oldest.
 */
function findReplacement(
  siblings: readonly PodInfo[],
  { pod: { name } }: JournalEntry['move'],
  run: JournalEntry['run'],
  claimed: ReadonlySet<string>,
): PodInfo | undefined {
  const candidates = alive(siblings, run);
  const known = candidates.find(({ uid }) => uid === run.replacement?.uid);
  if (known !== undefined || run.siblings === undefined) {
    return known;
  }
  const rank = (pod: PodInfo): number => (pod.name === name ? 0 : 1);
  return candidates
    .filter(cameAfter(run.siblings))
    .filter(({ uid }) => !claimed.has(uid))
    .sort((a, b) => rank(a) - rank(b) || a.createdAt - b.createdAt || (a.name < b.name ? -1 : 1))[0];
}
