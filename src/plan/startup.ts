import type { PastMove } from '../model/past-move.ts';
import type { PodInfo } from '../model/pod.ts';
import { elapsed, type Seconds, seconds } from '../model/units.ts';
import { at, atOrNone, type IndexTable, itemAt, type OwnerIndex, type PodIndex } from './indices.ts';
import type { Owners } from './owners.ts';

/**
 * Start-up time of a workload of which nothing was measured. Three times the 95th percentile of the published
 * measurements (algorithms.md 5, start-up times: mean 5.4 s cold, p95 10 s, small images and no probes), since real images
 * are larger and a readiness probe adds up to its period of 10 s: a budget errs on the side of moving less.
 */
export const DEFAULT_STARTUP: Seconds = seconds(30);

/**
 * Longest time that counts as a start. A replacement that is not Ready after this long has failed (execute/advance.ts),
 * and a running pod whose readiness is younger than that has lost it since and come back.
 */
const LONGEST_STARTUP = 600;

/** How long pods take from their creation, or the eviction of their predecessor, until they are Ready. */
export interface StartupTimes {
  /** Of the pods of a controller, by its uid. */
  readonly of: (owner: string) => Seconds;
}

/** The pods of a snapshot with their controllers, as the planner indexes them. */
export interface OwnedPods {
  readonly pods: readonly PodInfo[];
  readonly owners: Owners;
}

/** No pods: only past moves say how long starts take. */
export const NO_PODS: OwnedPods = { pods: [], owners: { list: [], ofPod: new Int32Array(0) } };

/**
 * Start-up times as measured: the median of the controller's past moves, else of its running pods (readySince -
 * createdAt), else DEFAULT_STARTUP. The lower median, and nothing above ten minutes: a pod that lost and regained its
 * readiness looks like one that started slowly, never like one that started fast.
 */
export function startupTimes(pastMoves: readonly PastMove[], running: OwnedPods): StartupTimes {
  const moves = Map.groupBy(pastMoves, ({ owner }) => owner.uid);
  const known = new Map<string, Seconds>();
  let podsOf: ((owner: string) => readonly PodInfo[]) | undefined;
  return {
    of: (owner) => {
      podsOf ??= indexByOwner(running);
      const startup =
        known.get(owner) ??
        lowerMedian((moves.get(owner) ?? []).flatMap(measured)) ??
        lowerMedian(podsOf(owner).flatMap(started)) ??
        DEFAULT_STARTUP;
      known.set(owner, startup);
      return startup;
    },
  };
}

/** The pods of a controller, by its uid: chains through typed arrays, since there are many pods and few are asked for. */
function indexByOwner({ pods, owners }: OwnedPods): (owner: string) => readonly PodInfo[] {
  const places = new Map(owners.list.map(({ ref }, place) => [ref.uid, place]));
  const first: IndexTable<OwnerIndex, PodIndex> = new Int32Array(owners.list.length).fill(-1);
  const next: IndexTable<PodIndex, PodIndex> = new Int32Array(pods.length).fill(-1);
  owners.ofPod.forEach((owner, pod) => {
    if (owner >= 0) {
      next[pod] = at(first, owner);
      first[owner] = pod;
    }
  });
  return (owner) => {
    const found: PodInfo[] = [];
    for (let place = atOrNone(first, places.get(owner) ?? -1); place >= 0; place = at(next, place)) {
      found.push(itemAt(pods, place));
    }
    return found;
  };
}

function measured({ phase, unavailable }: PastMove): readonly number[] {
  return unavailable !== undefined && phase !== 'Failed' ? [unavailable] : [];
}

function started({ ready, createdAt, readySince }: PodInfo): readonly number[] {
  return !ready || readySince === undefined ? [] : [elapsed(createdAt, readySince)];
}

/** The middle one, the lower of two; `undefined` when nothing counts. */
function lowerMedian(values: readonly number[]): Seconds | undefined {
  const sane = values.filter((value) => value >= 0 && value <= LONGEST_STARTUP).sort((left, right) => left - right);
  const middle = sane[Math.floor((sane.length - 1) / 2)];
  return middle === undefined ? undefined : seconds(middle);
}
