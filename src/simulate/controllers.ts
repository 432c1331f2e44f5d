import { isAvailable } from '../execute/availability.ts';
import type { Placement } from '../model/placement.ts';
import type { PodInfo, SchedulingConstraints } from '../model/pod.ts';
import { canBeNarrowed } from '../steer/constraints.ts';
import { createKubelets, type Kubelets } from './kubelet.ts';
import type { PlacementPolicy } from './placement-policy.ts';
import type { Random } from './random.ts';
import type { WorkloadSpec } from './scenario.ts';
import type { SimulatedPod, SimulatedWorkload, World } from './world.ts';

/** The controllers of all workloads, with what they act through. */
export interface Controllers {
  readonly world: World;
  readonly kubelets: Kubelets;
  readonly hints: PlacementPolicy;
  /** Whether pods keep our scheduling gate. */
  readonly gates: boolean;
  /** Pods made so far. */
  made: number;
}

/** Controllers without a workload. `random` draws start-up and termination times. */
export function createControllers(
  world: World,
  hints: PlacementPolicy,
  { gates, random }: { readonly gates: boolean; readonly random: Random },
): Controllers {
  const controllers: Controllers = {
    world,
    hints,
    gates,
    made: 0,
    kubelets: createKubelets(world, random, {
      ready: (pod) => noteReady(controllers, pod),
      lost: (pod) => terminate(controllers, pod),
    }),
  };
  return controllers;
}

/** A pod has become Ready: it counts, later as available, and a Job's begins to run towards its end. */
function noteReady(controllers: Controllers, pod: SimulatedPod): void {
  const { queue } = controllers.world;
  refresh(controllers, pod.workload);
  const { minReadySeconds } = pod.workload.info;
  if (minReadySeconds > 0) {
    queue.at(queue.now() + minReadySeconds, () => refresh(controllers, pod.workload));
  }
  completeLater(controllers, pod);
}

function completeLater(controllers: Controllers, pod: SimulatedPod): void {
  const { world } = controllers;
  const { runTime } = pod.workload.spec;
  const since = pod.info.readySince;
  if (runTime !== undefined) {
    world.queue.at(world.queue.now() + runTime, () => {
      if (world.isServing(pod) && pod.info.readySince === since) {
        complete(controllers, pod);
      }
    });
  }
}

function complete(controllers: Controllers, pod: SimulatedPod): void {
  const { world } = controllers;
  const { workload, instance } = pod;
  workload.completed.add(instance);
  workload.instances[instance] = undefined;
  workload.ended = workload.completed.size >= workload.replicas;
  world.remove(pod);
  refresh(controllers, workload);
}

function create(controllers: Controllers, workload: SimulatedWorkload, instance: number): void {
  const { world, hints, gates } = controllers;
  const { template, info } = workload.spec;
  workload.made += 1;
  const mark = suffix(workload.made);
  const placement = hints.placementOf(info.uid);
  const pinnedTo = keptTo(template.constraints, placement);
  const pod = newPod(controllers, workload, instance, {
    ...template,
    name: info.kind === 'StatefulSet' ? `${info.name}-${instance}` : `${info.name}-${mark}`,
    uid: `${info.uid}-${mark}`,
    createdAt: world.serverTime(),
    placement,
    waiting: { gated: gates && template.waiting?.gated === true, pinnedTo, unschedulable: false },
  });
  workload.instances[instance] = pod;
  world.add(pod);
  refresh(controllers, workload);
}

/** The planned node of a pod that is kept to alternatives. */
function keptTo(constraints: SchedulingConstraints, placement: Placement | undefined): string | undefined {
  return placement?.alternatives !== undefined && canBeNarrowed(constraints) ? placement.target : undefined;
}

function newPod(controllers: Controllers, workload: SimulatedWorkload, instance: number, info: PodInfo): SimulatedPod {
  controllers.made += 1;
  return { workload, instance, sequence: controllers.made, exists: true, starved: false, info };
}

/** Evicts or deletes a pod: its controller makes another, at once, or, of a StatefulSet, when it is gone. */
export function terminate(controllers: Controllers, pod: SimulatedPod): void {
  const { world, kubelets } = controllers;
  if (!pod.exists || pod.info.terminating) {
    return;
  }
  const { workload, instance } = pod;
  const isOrdered = workload.info.kind === 'StatefulSet';
  workload.instances[instance] = undefined;
  world.change(pod, { terminating: true });
  kubelets.terminate(pod, () => {
    if (isOrdered) {
      recreateLater(controllers, workload, instance);
    }
  });
  if (!isOrdered) {
    recreateLater(controllers, workload, instance);
  }
  refresh(controllers, workload);
}

function recreateLater(controllers: Controllers, workload: SimulatedWorkload, instance: number): void {
  const { world } = controllers;
  const { recreation } = world.scenario.timing;
  if (recreation === 0) {
    recreate(controllers, workload, instance);
  } else {
    world.queue.at(world.queue.now() + recreation, () => recreate(controllers, workload, instance));
  }
}

function recreate(controllers: Controllers, workload: SimulatedWorkload, instance: number): void {
  const isWanted = !workload.ended && instance < workload.replicas && !workload.completed.has(instance);
  if (workload.spec.recreates && isWanted && workload.instances[instance] === undefined) {
    create(controllers, workload, instance);
  }
}

/** Counts the pods of a workload anew, as its controller does for its status. */
export function refresh(controllers: Controllers, workload: SimulatedWorkload): void {
  const { world } = controllers;
  const { info, instances, replicas } = workload;
  if (info.rollout === undefined) {
    return;
  }
  let [current, ready, available] = [0, 0, 0];
  for (const pod of instances) {
    if (pod !== undefined) {
      current += 1;
      ready += pod.info.ready ? 1 : 0;
      available += isAvailable(pod.info, info.minReadySeconds, world.serverTime()) ? 1 : 0;
    }
  }
  const rollout = { observed: true, updated: current, toUpdate: replicas, current, ready, available };
  world.changeWorkload(workload, { ...info, replicas, rollout });
}

/** A workload comes, with the pods that stand already. */
export function admit(controllers: Controllers, spec: WorkloadSpec): void {
  const { world } = controllers;
  const replicas = spec.info.replicas ?? spec.standing.length;
  const workload: SimulatedWorkload = {
    spec,
    info: { ...spec.info, changedAt: spec.standing.length > 0 ? spec.info.changedAt : world.serverTime() },
    replicas,
    instances: [],
    completed: new Set(),
    ended: false,
    made: 0,
  };
  world.addWorkload(workload);
  spec.standing.forEach((info, instance) => {
    adopt(controllers, workload, info, instance);
  });
  for (let instance = spec.standing.length; spec.recreates && instance < replicas; instance += 1) {
    create(controllers, workload, instance);
  }
  refresh(controllers, workload);
  if (spec.endsAfter !== undefined) {
    world.queue.at(world.queue.now() + spec.endsAfter, () => finish(controllers, workload));
  }
}

/** A pod that is there from the beginning. */
export function adopt(controllers: Controllers, workload: SimulatedWorkload, info: PodInfo, instance: number): void {
  const { world, kubelets } = controllers;
  const pod = newPod(controllers, workload, instance, info);
  if (!info.terminating) {
    workload.instances[instance] = pod;
  }
  world.add(pod);
  if (info.terminating) {
    kubelets.terminate(pod, () => recreateLater(controllers, workload, instance));
  } else if (info.nodeName !== undefined && !info.ready) {
    kubelets.bound(pod);
  } else if (info.ready) {
    completeLater(controllers, pod);
  }
}

function finish(controllers: Controllers, workload: SimulatedWorkload): void {
  const { world } = controllers;
  workload.ended = true;
  world.removeWorkload(workload);
  for (const pod of workload.instances.filter((each) => each !== undefined)) {
    terminate(controllers, pod);
  }
}

/** Its controller makes pods more, or takes the newest ones away. */
export function scale(controllers: Controllers, workload: SimulatedWorkload, replicas: number): void {
  const { world } = controllers;
  const before = workload.replicas;
  workload.replicas = replicas;
  world.changeWorkload(workload, { ...workload.info, replicas });
  for (let instance = replicas; instance < before; instance += 1) {
    const pod = workload.instances[instance];
    if (pod !== undefined) {
      terminate(controllers, pod);
    }
  }
  for (let instance = before; instance < replicas; instance += 1) {
    recreate(controllers, workload, instance);
  }
  refresh(controllers, workload);
}

/** Five letters and digits, as controllers append them, but counted, so that equal histories are equal. */
function suffix(made: number): string {
  return made.toString(36).padStart(5, '0');
}
