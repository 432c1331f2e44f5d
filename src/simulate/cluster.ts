import type { Taint } from '../model/node.ts';
import type { PodInfo } from '../model/pod.ts';
import type { GateOpening } from '../ports.ts';
import { admit, adopt, type Controllers, createControllers, refresh, scale, terminate } from './controllers.ts';
import type { EventQueue } from './event-queue.ts';
import { createPlacementPolicy, type PlacementPolicy } from './placement-policy.ts';
import type { Random } from './random.ts';
import type { Incident, Scenario, WorkloadSpec } from './scenario.ts';
import { createWorld, type SimulatedPod, type SimulatedWorkload, type World } from './world.ts';

/** A cluster with its controllers and kubelets. What is scheduled where is the scheduler's business. */
export interface Cluster {
  readonly world: World;
  /** Evicts or deletes a pod: its controller makes another, of a StatefulSet when it is gone. */
  readonly terminate: (pod: SimulatedPod) => void;
  /** Somebody scales a workload. */
  readonly scale: (workload: SimulatedWorkload, replicas: number) => void;
  /** Begins a workload with the pods that it has already. */
  readonly admit: (spec: WorkloadSpec) => void;
  /** A pod that something else has made becomes an instance of a workload. */
  readonly adopt: (workload: SimulatedWorkload, info: PodInfo, instance: number) => void;
  readonly bind: (pod: SimulatedPod, node: string) => void;
  /** Opens our gate. */
  readonly openGate: (pod: SimulatedPod, opening: GateOpening) => void;
  /** Steers the next pods of a controller, under the uid of the evicted pod. */
  readonly placeHint: PlacementPolicy['place'];
  readonly removeHint: (podUid: string) => void;
  /** The readiness probes of a pod that runs fail for want of CPU, or succeed again. */
  readonly starve: (pod: SimulatedPod, starved: boolean) => void;
}

interface ClusterSettings {
  /** Whether pods keep our scheduling gate. */
  readonly gates: boolean;
  /** Draws start-up and termination times. */
  readonly random: Random;
}

/**
 * The cluster of a scenario, with everything that will happen to it in the queue. Observers of the world that are to see the
 * first pods have to be there before the queue runs.
 */
export function createCluster(scenario: Scenario, queue: EventQueue, { gates, random }: ClusterSettings): Cluster {
  const world = createWorld(scenario, queue);
  const hints = createPlacementPolicy(queue);
  const controllers = createControllers(world, hints, { gates, random });
  scenario.nodes.forEach(world.addNode);
  for (const spec of scenario.workloads) {
    queue.at(spec.arrivesAt, () => admit(controllers, spec));
  }
  for (const incident of scenario.incidents) {
    queue.at(incident.at, () => befall(incident, controllers));
  }
  return {
    world,
    terminate: (pod) => terminate(controllers, pod),
    scale: (workload, replicas) => scale(controllers, workload, replicas),
    admit: (spec) => admit(controllers, spec),
    adopt: (workload, info, instance) => adopt(controllers, workload, info, instance),
    bind: (pod, node) => {
      world.change(pod, { nodeName: node, waiting: undefined, nominatedNode: undefined });
      controllers.kubelets.bound(pod);
    },
    openGate: (pod, opening) => {
      world.change(pod, opened(opening));
    },
    placeHint: hints.place,
    removeHint: hints.remove,
    starve: (pod, starved) => {
      pod.starved = starved;
      world.change(pod, { ready: !starved, readySince: world.serverTime() });
      refresh(controllers, pod.workload);
    },
  };
}

/** What opening its gate changes of a pod; `suits` in scheduling-view.ts goes by a pin without alternatives. */
function opened(opening: GateOpening): Partial<PodInfo> {
  const waiting = { gated: false, pinnedTo: undefined, unschedulable: false };
  switch (opening.kind) {
    case 'Anywhere':
      return { waiting };
    case 'Pinned':
      return { waiting: { ...waiting, pinnedTo: opening.node } };
    case 'Steered':
      return { waiting: { ...waiting, pinnedTo: opening.placement.target }, placement: opening.placement };
    default:
      return opening satisfies never;
  }
}

/** Lets an incident happen now. */
function befall(incident: Incident, controllers: Controllers): void {
  const { world, kubelets } = controllers;
  switch (incident.kind) {
    case 'NodeFails':
      kubelets.fail(incident.node);
      break;
    case 'NodeReturns':
      kubelets.restore(incident.node);
      break;
    case 'NodeJoins':
      world.addNode(incident.node);
      break;
    case 'Cordon':
    case 'Uncordon':
      cordon(world, incident.node, incident.kind === 'Cordon');
      break;
    case 'Taint':
    case 'Untaint':
      taint(world, incident.node, incident.taint, incident.kind === 'Taint');
      break;
    case 'Scale': {
      const { workload: name, replicas } = incident;
      const workload = [...world.workloads.values()].find(({ info }) => info.name === name);
      if (workload !== undefined) {
        scale(controllers, workload, replicas);
      }
      break;
    }
    default:
      incident satisfies never;
  }
}

function cordon(world: World, name: string, unschedulable: boolean): void {
  const node = world.nodes.get(name);
  if (node !== undefined) {
    world.changeNode(node, { ...node.info, unschedulable });
  }
}

/** A node has a taint once for each key and effect. */
function taint(world: World, name: string, added: Taint, isAdded: boolean): void {
  const node = world.nodes.get(name);
  if (node !== undefined) {
    const others = node.info.taints.filter(({ key, effect }) => key !== added.key || effect !== added.effect);
    world.changeNode(node, { ...node.info, taints: isAdded ? [...others, added] : others });
  }
}
