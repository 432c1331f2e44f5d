import type { SchedulingConstraints } from '../model/pod.ts';
import { nodesToScore } from '../plan/hit-ratio.ts';
import { NO_NEEDS } from '../plan/topology/needs.ts';
import type { Cluster } from './cluster.ts';
import { nominate } from './preemption.ts';
import type { Random } from './random.ts';
import type { SchedulingView, SchedulingViews } from './scheduling-view.ts';
import type { SimulatedPod } from './world.ts';

interface SchedulerSettings {
  /** Whether it makes room by preemption (plugin DefaultPreemption). */
  readonly preempts: boolean;
  /** Breaks ties between nodes of the same score. */
  readonly random: Random;
  /** Seconds from when a pod can be scheduled, or room was made, until it is looked at. */
  readonly latency: number;
  /** A pod was preempted. */
  readonly preempted: (pod: SimulatedPod) => void;
}

/**
 * kube-scheduler with its default profile: pods without a gate by priority, then by age (QueueSort PrioritySort), each on one
 * of the nodes with the highest score among those that all filters allow. Watches the world from now on.
 */
export function startScheduler(cluster: Cluster, views: SchedulingViews, settings: SchedulerSettings): void {
  const { world } = cluster;
  const { queue } = world;
  const waiting = new Set<SimulatedPod>();
  const victims = new WeakSet<SimulatedPod>();
  let isAsked = false;
  let next = 0;

  const ask = (): void => {
    if (!isAsked && waiting.size > 0) {
      isAsked = true;
      queue.at(queue.now() + settings.latency, cycle);
    }
  };

  world.observe((pod) => {
    const { info, exists } = pod;
    const isPending = exists && info.nodeName === undefined && info.waiting?.gated === false && !info.terminating;
    if (isPending && !waiting.has(pod)) {
      waiting.add(pod);
      ask();
    } else if (!isPending) {
      waiting.delete(pod);
    }
    if (!exists) {
      ask();
    }
  });
  world.observeNodes(ask);

  function cycle(): void {
    isAsked = false;
    const hopeless = new Map<SchedulingConstraints, Set<string>>();
    let bound = 0;
    for (const pod of [...waiting].sort(byPriority)) {
      const alike = hopeless.get(pod.info.constraints);
      if (!waiting.has(pod) || alike?.has(likeness(pod)) === true) {
        continue;
      }
      const site = select(views.current(), pod);
      if (site !== undefined) {
        bind(views.current(), pod, site);
        bound += 1;
      } else if (!preempt(pod) && isPlain(views.current(), pod)) {
        hopeless.set(pod.info.constraints, (alike ?? new Set()).add(likeness(pod)));
      }
    }
    if (bound > 0 && [...waiting].some((pod) => !isPlain(views.current(), pod))) {
      ask(); // the pods that were bound may be what others want to be near
    }
  }

  function bind(current: SchedulingView, pod: SimulatedPod, site: number): void {
    current.assume(pod, site);
    waiting.delete(pod);
    cluster.bind(pod, current.nodeNames[site] ?? '');
    views.keep();
  }

  /** One of the best nodes; where the scheduler keeps room for the pod, that one first (schedule_one evaluateNominatedNode). */
  function select(current: SchedulingView, pod: SimulatedPod): number | undefined {
    const nominated = current.nodeNames.indexOf(pod.info.nominatedNode ?? '');
    if (nominated >= 0 && current.fits(pod, nominated)) {
      return nominated;
    }
    const feasible = findFeasible(current, pod);
    if (feasible.length === 0) {
      return undefined;
    }
    const scores = current.rank(pod, feasible);
    const best = scores.reduce((most, score) => Math.max(most, score), 0);
    const tied = feasible.filter((_, place) => scores[place] === best);
    return tied[tied.length === 1 ? 0 : settings.random.below(tied.length)];
  }

  /** In a large cluster no more than it scores, from where the last pod's search ended (schedule_one findNodesThatPassFilters). */
  function findFeasible(current: SchedulingView, pod: SimulatedPod): Int32Array {
    const count = current.nodeNames.length;
    const most = nodesToScore(count);
    const found: number[] = [];
    let looked = 0;
    for (; looked < count && found.length < most; looked += 1) {
      const site = (next + looked) % count;
      if (current.fits(pod, site)) {
        found.push(site);
      }
    }
    next = count === 0 ? 0 : (next + looked) % count;
    return Int32Array.from(found).sort();
  }

  /** True when room is being made, or is about to be. */
  function preempt(pod: SimulatedPod): boolean {
    if (pod.info.waiting?.unschedulable === false) {
      world.change(pod, { waiting: { ...pod.info.waiting, unschedulable: true } });
    }
    if (!settings.preempts) {
      return false;
    }
    if (isServedAlready(pod)) {
      return true;
    }
    const current = views.current();
    const podsOn = (site: number): readonly SimulatedPod[] =>
      world.pods.filter(({ info }) => info.nodeName === current.nodeNames[site]);
    const found = nominate(current, pod, podsOn, world.pdbs());
    if (found === undefined) {
      giveUp(pod);
      return false;
    }
    const node = current.nodeNames[found.site] ?? '';
    for (const other of waiting) {
      if (other.info.nominatedNode === node && other.info.priority < pod.info.priority) {
        world.change(other, { nominatedNode: undefined });
      }
    }
    world.change(pod, { nominatedNode: node });
    for (const victim of found.victims.filter(({ info }) => !info.terminating)) {
      victims.add(victim);
      settings.preempted(victim);
      cluster.terminate(victim);
    }
    return true;
  }

  /** No node can be made to hold the pod: the room that was kept for it is free again (preemption Evaluator.Preempt). */
  function giveUp(pod: SimulatedPod): void {
    if (pod.info.nominatedNode !== undefined) {
      world.change(pod, { nominatedNode: undefined });
    }
  }

  /** Pods that the scheduler preempted on its node are still going: it asks for no more (PodEligibleToPreemptOthers). */
  function isServedAlready({ info }: SimulatedPod): boolean {
    const { nominatedNode, priority } = info;
    return (
      nominatedNode !== undefined &&
      world.pods.some(
        (other) => other.info.nodeName === nominatedNode && victims.has(other) && other.info.priority < priority,
      )
    );
  }
}

/** Nothing but its constraints and what `likeness` holds decides whether the pod fits somewhere. */
function isPlain(view: SchedulingView, pod: SimulatedPod): boolean {
  const { nominatedNode, claims, placement } = pod.info;
  return (
    placement === undefined &&
    nominatedNode === undefined &&
    claims.length === 0 &&
    view.subjectOf(pod).topology === NO_NEEDS
  );
}

/** What decides where plain pods of the same constraints fit, and whom they may preempt. */
function likeness({ info, workload }: SimulatedPod): string {
  return `${info.priority} ${info.nominatedNode ?? ''} ${info.waiting?.pinnedTo ?? ''} ${workload.info.pinnedNode ?? ''}`;
}

function byPriority(a: SimulatedPod, b: SimulatedPod): number {
  const [left, right] = [a.info, b.info];
  return right.priority - left.priority || left.createdAt - right.createdAt || a.sequence - b.sequence;
}
