import { matches } from '../model/selector.ts';
import type { PdbInfo } from '../model/workload.ts';
import { capacityRefusal, clusterRefusal } from '../plan/filters/index.ts';
import { copyCapacity, occupy, vacate } from '../plan/free-capacity.ts';
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
  const node = view.at.sites.nodes[site];
  if (lower.length === 0 || node === undefined) {
    return undefined;
  }
  const room = copyCapacity(view.at.freeCapacityOf(site));
  const counts = view.at.counts.fork();
  const subject = view.subjectOf(pod);
  const attachments = (each: SimulatedPod) => view.at.sites.attachmentsOf(view.placeOf(each));
  const leave = (each: SimulatedPod): void => {
    vacate(room, each.info.constraints, attachments(each));
    counts.remove(view.placeOf(each), site);
  };
  const fits = (): boolean =>
    capacityRefusal(subject, node, room) === undefined &&
    clusterRefusal(subject, { counts, site, home: -1 }) === undefined;
  lower.forEach(leave);
  if (!fits()) {
    return undefined;
  }
  const { violating, others } = split(lower.toSorted(byImportance), pdbs);
  const reprieve = (each: SimulatedPod): boolean => {
    occupy(room, each.info.constraints, attachments(each));
    counts.add(view.placeOf(each), site);
    if (fits()) {
      return true;
    }
    leave(each);
    return false;
  };
  const violations = violating.filter((each) => !reprieve(each));
  const victims = [...violations, ...others.filter((each) => !reprieve(each))].toSorted(byImportance);
  return { site, victims, violations: violations.length };
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
