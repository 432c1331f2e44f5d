import type { PodInfo } from '../model/pod.ts';
import type { JournalEntry } from './move.ts';

/**
 * The pods of a cluster as they stand once the moves in flight have landed: each replacement that has no node yet counts on
 * its planned one, and where there is none yet, one like the evicted pod. So room that is promised counts as used, whoever
 * promised it. What stands in for a replacement has no controller: no plan moves it.
 */
export function withCommitments(pods: readonly PodInfo[], inFlight: readonly JournalEntry[]): readonly PodInfo[] {
  const promised = inFlight.filter(({ move }) => move.to !== undefined);
  if (promised.length === 0) {
    return pods;
  }
  const byUid = new Map(pods.map((pod) => [pod.uid, pod]));
  const changed = new Map<string, PodInfo>();
  const added: PodInfo[] = [];
  for (const { move, run } of promised) {
    const replacement = byUid.get(run.replacement?.uid ?? '');
    const evicted = byUid.get(move.pod.uid);
    const subject = replacement ?? evicted ?? pods.find(({ owner }) => owner?.uid === move.owner.uid);
    if (subject === undefined || replacement?.nodeName !== undefined) {
      continue;
    }
    if (subject === replacement || (subject === evicted && !subject.terminating)) {
      changed.set(subject.uid, { ...subject, nodeName: move.to, waiting: undefined, nominatedNode: undefined });
    } else {
      added.push(standIn(subject, move));
    }
  }
  return [...pods.map((pod) => changed.get(pod.uid) ?? pod), ...added];
}

function standIn(like: PodInfo, { pod, to }: JournalEntry['move']): PodInfo {
  return {
    ...like,
    name: `${pod.name} (replacement)`,
    uid: `${pod.uid} (replacement)`,
    owner: undefined,
    nodeName: to,
    phase: 'Pending',
    ready: false,
    readySince: undefined,
    terminating: false,
    waiting: undefined,
    nominatedNode: undefined,
  };
}
