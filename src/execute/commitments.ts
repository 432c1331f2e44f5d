import type { MovePhase, RebalancePlan } from '../api/v1alpha1/rebalance-plan.ts';
import { parseInstant } from '../model/instant.ts';
import { isDisruption, kindOf } from '../model/move.ts';
import type { PodInfo } from '../model/pod.ts';
import type { ResourceVector } from '../model/resources.ts';
import { bytes, type EpochSeconds, elapsed, milliCpu, type Seconds, seconds } from '../model/units.ts';
import { beneficiaries, openMoves } from './committed.ts';
import { entries, movesInFlight } from './journal.ts';
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

/** Journals of plans that ended less than this before a snapshot may know more than its caches. */
const CACHE_LAG: Seconds = seconds(60);

/**
 * The pods that the next plan may count on, whatever its snapshot has missed of the plans that are being carried out. What is in
 * flight is where it will be. A pod that a journal saw leave is gone, and one that is to leave for another is as good as being
 * deleted: nobody evicts it again, and its room is not free before it is gone. A pod that waits for its victims to leave
 * has their room already: of both, the node counts whichever takes more.
 */
export function withPromises(
  pods: readonly PodInfo[],
  plans: readonly RebalancePlan[],
  takenAt: EpochSeconds,
): readonly PodInfo[] {
  const inFlight = plans.flatMap(movesInFlight);
  const moving = new Set(
    inFlight.flatMap(({ move, run }) => (hasReplacement(move) ? [run.podUID, run.replacement?.uid] : [])),
  );
  // Like a stand-in, a pod that is on its way has no controller: no plan moves it.
  const landing = withCommitments(withEnds(pods, plans, takenAt), inFlight).map((pod) =>
    moving.has(pod.uid) ? { ...pod, owner: undefined } : pod,
  );
  const changed = promisesOf(new Map(landing.map((pod) => [pod.uid, pod])), plans);
  return changed.size === 0 ? landing : landing.map((pod) => changed.get(pod.uid) ?? pod);
}

/** The failed pods that no plan removes or has removed, which caches may not have seen yet. */
export function withoutRemoved(
  failedPods: readonly PodInfo[],
  plans: readonly RebalancePlan[],
  takenAt: EpochSeconds,
): readonly PodInfo[] {
  if (failedPods.length === 0) {
    return failedPods;
  }
  const leaving = new Set(plans.flatMap(movesInFlight).map(({ run }) => run.podUID));
  return withEnds(failedPods, plans, takenAt).filter(({ uid }) => !leaving.has(uid));
}

/** Whether a move has its pod run elsewhere as another one. */
function hasReplacement(move: JournalEntry['move']): boolean {
  const kind = kindOf(move);
  return kind === 'Transfer' || kind === 'Failover';
}

const LEFT: ReadonlySet<MovePhase> = new Set(['Vacated', 'Landed', 'Missed', 'Failed']);

/** As the journals say moves have ended, which caches may not have seen yet. */
function withEnds(
  pods: readonly PodInfo[],
  plans: readonly RebalancePlan[],
  takenAt: EpochSeconds,
): readonly PodInfo[] {
  const isOfNow = ({ status }: RebalancePlan): boolean =>
    status?.finishedAt === undefined || elapsed(parseInstant(status.finishedAt), takenAt) < CACHE_LAG;
  const ended = plans
    .filter(isOfNow)
    .flatMap(entries)
    .filter(({ run }) => LEFT.has(run.phase));
  const [admitted, evicted] = [
    ended.filter(({ move }) => kindOf(move) === 'Admission'),
    ended.filter(({ move }) => kindOf(move) !== 'Admission'),
  ];
  const gone = new Set(evicted.map(({ run }) => run.podUID));
  const boundTo = new Map(admitted.map(({ run }) => [run.podUID, run.replacement?.node]));
  return pods.flatMap((pod) => {
    const node = pod.nodeName === undefined ? boundTo.get(pod.uid) : undefined;
    const there = node === undefined ? pod : { ...pod, nodeName: node, waiting: undefined, nominatedNode: undefined };
    return gone.has(pod.uid) ? [] : [there];
  });
}

/** By uid, the pods that leave for others, and those that wait for that. */
function promisesOf(pods: ReadonlyMap<string, PodInfo>, plans: readonly RebalancePlan[]): ReadonlyMap<string, PodInfo> {
  const changed = new Map<string, PodInfo>();
  for (const plan of plans.filter((each) => openMoves(each).committed.length > 0)) {
    const { committed } = openMoves(plan);
    const beneficiaryOf = beneficiaries(plan);
    for (const { index, move, run } of committed) {
      const pod = pods.get(move.pod.uid);
      if (pod !== undefined && kindOf(move) === 'Preemption') {
        changed.set(pod.uid, { ...pod, terminating: true });
      }
      if (pod !== undefined && !isDisruption(move) && run.phase === 'Planned') {
        const victims = committed.filter((other) => beneficiaryOf.get(other.index) === index);
        const there = victims.flatMap((victim) => pods.get(victim.move.pod.uid) ?? []);
        const [first, ...others] = there.filter(({ nodeName }) => nodeName === move.to);
        const placed = promised(pod, move.to, first, others);
        changed.set(pod.uid, kindOf(move) === 'Failover' ? { ...placed, owner: undefined } : placed);
        if (first !== undefined) {
          changed.set(first.uid, { ...first, terminating: true, nodeName: undefined });
        }
      }
    }
  }
  return changed;
}

/** The pod on its node in the place of its first victim, with what all victims still take if that is more than it takes. */
function promised(
  pod: PodInfo,
  node: string | undefined,
  first: PodInfo | undefined,
  others: readonly PodInfo[],
): PodInfo {
  const placed = { ...pod, nodeName: node, waiting: undefined, nominatedNode: undefined };
  if (first === undefined) {
    return placed;
  }
  const { constraints } = pod;
  const own = constraints.requests;
  const kept = first.constraints.requests;
  const amount = (of: (requests: ResourceVector) => number): number =>
    Math.max(of(kept), of(own) - others.reduce((sum, other) => sum + of(other.constraints.requests), 0));
  const extended = [...new Set([...own.extended.keys(), ...kept.extended.keys()])].map(
    (name) => [name, amount((requests) => requests.extended.get(name) ?? 0)] as const,
  );
  const requests: ResourceVector = {
    cpu: milliCpu(amount(({ cpu }) => cpu)),
    memory: bytes(amount(({ memory }) => memory)),
    ephemeralStorage: bytes(amount(({ ephemeralStorage }) => ephemeralStorage)),
    extended: new Map(extended),
  };
  const hostPorts = [...constraints.hostPorts, ...first.constraints.hostPorts];
  return { ...placed, constraints: { ...constraints, requests, hostPorts } };
}
