import { parseInstant } from '../model/instant.ts';
import type { PodInfo } from '../model/pod.ts';
import { type EpochSeconds, elapsed, type Seconds, seconds } from '../model/units.ts';
import type { ClusterReader } from '../ports.ts';
import type { Observation, Replacement } from './advance.ts';
import { isAvailable } from './availability.ts';
import type { JournalEntry } from './journal.ts';

/**
 * What stands on the cluster of a move in flight. `claimed` are replacements of other moves. The pod of an admission is its
 * own replacement. Rejects as the reader does.
 */
export async function observeMove(
  { move, run }: JournalEntry,
  claimed: ReadonlySet<string>,
  reader: ClusterReader,
  signal: AbortSignal,
): Promise<Observation> {
  const { pod, serverTime } = await reader.pod(move.pod, signal);
  const siblings = move.from === undefined ? [] : await reader.podsOfOwner(move.pod.namespace, move.owner, signal);
  const found = move.from === undefined ? itself(pod, move) : findReplacement(siblings, run, claimed);
  const minReady = found?.ready === true ? await minReadySeconds(move, reader, signal) : seconds(0);
  return {
    pod: pod?.uid !== move.pod.uid ? 'Gone' : pod.terminating ? 'Terminating' : 'Running',
    replacement: found === undefined ? undefined : describe(found, minReady, serverTime),
    serverTime,
  };
}

function itself(pod: PodInfo | undefined, move: JournalEntry['move']): PodInfo | undefined {
  return pod?.uid === move.pod.uid && !pod.terminating ? pod : undefined;
}

async function minReadySeconds(
  { pod, owner }: JournalEntry['move'],
  reader: ClusterReader,
  signal: AbortSignal,
): Promise<Seconds> {
  return (await reader.workload(pod.namespace, owner, signal))?.minReadySeconds ?? seconds(0);
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
  };
}

/**
 * The pod that the controller made instead: the one on record, else the oldest that was created since the intent
 * was written, by the API server's own clock, and that no other move claims. A pod that its kubelet refused (phase Failed)
 * is not one: its controller makes another.
 */
function findReplacement(
  siblings: readonly PodInfo[],
  run: JournalEntry['run'],
  claimed: ReadonlySet<string>,
): PodInfo | undefined {
  const alive = siblings.filter((pod) => pod.uid !== run.podUID && !pod.terminating && pod.phase !== 'Failed');
  const known = alive.find(({ uid }) => uid === run.replacement?.uid);
  if (known !== undefined || run.startedAt === undefined) {
    return known;
  }
  const since = parseInstant(run.startedAt);
  return alive
    .filter((pod) => pod.createdAt >= since && !claimed.has(pod.uid))
    .sort((a, b) => a.createdAt - b.createdAt || (a.name < b.name ? -1 : 1))[0];
}
