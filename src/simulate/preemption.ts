import { matches } from '../model/selector.ts';
import type { PdbInfo } from '../model/workload.ts';
import { capacityRefusal, clusterRefusal } from '../plan/filters/index.ts';
import { copyCapacity, occupy, vacate } from '../plan/free-capacity.ts';
import { itemAt } from '../plan/indices.ts';
import { crowdOn, nomineesBefore } from '../plan/verdicts.ts';
import type { SchedulingView } from './scheduling-view.ts';
import type { SimulatedPod } from './world.ts';

/** A node on which a pod fits once its victims are gone. */
export interface Nomination {
  readonly site: number;
  readonly victims: readonly SimulatedPod[];
  /** Victims whose PodDisruptionBudget does not allow it. */
  readonly violations: number;
}

/**
 * Where the scheduler would make room for a pod, and at whose cost (plugin DefaultPreemption): on each node the pods of lower
 * priority leave, and as many as possible are taken back, the most important first; `undefined` when that helps on no node.
 */
export function nominate(
  view: SchedulingView,
  pod: SimulatedPod,
  podsOn: (site: number) => readonly SimulatedPod[],
  pdbs: readonly PdbInfo[],
): Nomination | undefined {
  let best: Nomination | undefined;
  for (let site = 0; site < view.nodeNames.length; site += 1) {
    const candidate = view.suits(pod, site) ? victimsOn(view, pod, site, podsOn(site), pdbs) : undefined;
    if (candidate !== undefined && (best === undefined || compare(candidate, best) < 0)) {
      best = candidate;
    }
  }
  return best;
}

function victimsOn(
  view: SchedulingView,
  pod: SimulatedPod,
  site: number,
  there: readonly SimulatedPod[],
  pdbs: readonly PdbInfo[],
): Nomination | undefined {
  const lower = there.filter(({ info }) => info.priority < pod.info.priority);
  if (lower.length === 0) {
    return undefined;
  }
  const trial = createTrial(view, pod, site);
  lower.forEach(trial.leave);
  if (!trial.fits()) {
    return undefined;
  }
  const { violating, others } = split(lower.toSorted(byImportance), pdbs);
  const reprieve = (each: SimulatedPod): boolean => {
    trial.stay(each);
    const isSpared = trial.fits();
    if (!isSpared) {
      trial.leave(each);
    }
    return isSpared;
  };
  const violations = violating.filter((each) => !reprieve(each));
  const victims = [...violations, ...others.filter((each) => !reprieve(each))].toSorted(byImportance);
  return { site, victims, violations: violations.length };
}

/** Tries out who would have to leave a node so that a pod fits there; nothing of it lasts. */
interface Trial {
  readonly leave: (other: SimulatedPod) => void;
  readonly stay: (other: SimulatedPod) => void;
  /** With those for whom the scheduler keeps room there, and without (schedule_one RunFilterPluginsWithNominatedPods). */
  readonly fits: () => boolean;
}

function createTrial(view: SchedulingView, pod: SimulatedPod, site: number): Trial {
  const { sites } = view.at;
  const node = itemAt(sites.nodes, site);
  const room = copyCapacity(view.at.freeCapacityOf(site));
  const counts = view.at.counts.fork();
  const subject = view.subjectOf(pod);
  const nominees = nomineesBefore(sites, view.placeOf(pod), site);
  const attachments = (other: SimulatedPod) => sites.attachmentsOf(view.placeOf(other));
  const fitsIn = (at: ReturnType<typeof crowdOn>): boolean =>
    capacityRefusal(subject, node, at.room) === undefined &&
    clusterRefusal(subject, { counts: at.counts, site, home: -1 }) === undefined;
  return {
    leave: (other) => {
      vacate(room, other.info.constraints, attachments(other));
      counts.remove(view.placeOf(other), site);
    },
    stay: (other) => {
      occupy(room, other.info.constraints, attachments(other));
      counts.add(view.placeOf(other), site);
    },
    fits: () =>
      (nominees.length === 0 || fitsIn(crowdOn({ sites, counts }, site, nominees, room))) && fitsIn({ room, counts }),
  };
}

/** Higher priority first, then what has run longest (util.MoreImportantPod). */
function byImportance(left: SimulatedPod, right: SimulatedPod): number {
  const byPriority = right.info.priority - left.info.priority;
  return byPriority || startOf(left.info) - startOf(right.info) || left.sequence - right.sequence;
}

function startOf({ readySince, createdAt }: SimulatedPod['info']): number {
  return readySince ?? createdAt;
}

/** Pods whose budgets are spent once those before them have gone (filterPodsWithPDBViolation). */
function split(
  pods: readonly SimulatedPod[],
  pdbs: readonly PdbInfo[],
): { readonly violating: readonly SimulatedPod[]; readonly others: readonly SimulatedPod[] } {
  const left = pdbs.map(({ disruptionsAllowed }) => disruptionsAllowed);
  const violating: SimulatedPod[] = [];
  const others: SimulatedPod[] = [];
  for (const pod of pods) {
    const places = pdbs.flatMap(({ namespace, selector }, place) =>
      namespace === pod.info.namespace && selector !== undefined && matches(selector, pod.info.labels) ? [place] : [],
    );
    for (const place of places) {
      left[place] = (left[place] ?? 0) - 1;
    }
    (places.some((place) => (left[place] ?? 0) < 0) ? violating : others).push(pod);
  }
  return { violating, others };
}

/**
 * Which node is the better one (preemption.pickOneNodeForPreemption): fewer violated budgets, a lower highest priority among
 * the victims, a lower sum of priorities, fewer victims, and a most important victim that started later.
 */
function compare(left: Nomination, right: Nomination): number {
  const highest = ({ victims }: Nomination): number => victims[0]?.info.priority ?? Number.NEGATIVE_INFINITY;
  const sum = ({ victims }: Nomination): number =>
    victims.reduce((total, { info }) => total + info.priority + 2 ** 31, 0);
  const start = ({ victims }: Nomination): number =>
    Math.min(
      ...victims.filter(({ info }) => info.priority === victims[0]?.info.priority).map(({ info }) => startOf(info)),
    );
  return (
    left.violations - right.violations ||
    highest(left) - highest(right) ||
    sum(left) - sum(right) ||
    left.victims.length - right.victims.length ||
    start(right) - start(left)
  );
}
