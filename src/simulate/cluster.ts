import { isAvailable } from '../execute/availability.ts';
import type { PodInfo, SchedulingConstraints } from '../model/pod.ts';
import type { EventQueue } from './event-queue.ts';
import { createKubelets, type Kubelets } from './kubelet.ts';
import type { Random } from './random.ts';
import type { Incident, Scenario, WorkloadSpec } from './scenario.ts';
import { createWorld, type SimulatedPod, type SimulatedWorkload, type World } from './world.ts';

/** Time until the API server sees a new hint (control-plane.md, steering). */
const HINT_DELAY = 1;

const HOSTNAME = 'kubernetes.io/hostname';

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
  /** Opens our gate; with a node, the pod is tied to it. */
  readonly openGate: (pod: SimulatedPod, target: string | undefined) => void;
  /** Makes the next pods of a controller prefer a node, under the uid of the evicted pod. */
  readonly placeHint: (podUid: string, owner: string, node: string) => void;
  readonly removeHint: (podUid: string) => void;
  /** The readiness probes of a pod that runs fail for want of CPU, or succeed again. */
  readonly starve: (pod: SimulatedPod, starved: boolean) => void;
}

interface Hint {
  readonly owner: string;
  readonly node: string;
  readonly seenAt: number;
}

/** What a cluster is made with. */
export interface ClusterSettings {
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
  const hints = new Map<string, Hint>();
  const hinted = new Map<SchedulingConstraints, Map<string, SchedulingConstraints>>();

  const kubelets: Kubelets = createKubelets(world, random, {
    ready: (pod) => {
      refresh(pod.workload);
      const { minReadySeconds } = pod.workload.info;
      if (minReadySeconds > 0) {
        queue.at(queue.now() + minReadySeconds, () => refresh(pod.workload));
      }
      completeLater(pod);
    },
    lost: (pod) => terminate(pod),
  });

  function completeLater(pod: SimulatedPod): void {
    const { runTime } = pod.workload.spec;
    const since = pod.info.readySince;
    if (runTime !== undefined) {
      queue.at(queue.now() + runTime, () => {
        if (world.isServing(pod) && pod.info.readySince === since) {
          complete(pod);
        }
      });
    }
  }

  function complete(pod: SimulatedPod): void {
    const { workload, instance } = pod;
    workload.completed.add(instance);
    workload.instances[instance] = undefined;
    workload.ended = workload.completed.size >= workload.replicas;
    world.remove(pod);
    refresh(workload);
  }

  let made = 0;

  function create(workload: SimulatedWorkload, instance: number): void {
    const { template, info } = workload.spec;
    workload.made += 1;
    const uid = `${info.uid}-${suffix(workload.made)}`;
    made += 1;
    const pod: SimulatedPod = {
      workload,
      instance,
      sequence: made,
      exists: true,
      version: 1,
      starved: false,
      info: {
        ...template,
        name: info.kind === 'StatefulSet' ? `${info.name}-${instance}` : `${info.name}-${suffix(workload.made)}`,
        uid,
        createdAt: world.serverTime(),
        constraints: steered(template.constraints, info.uid),
        waiting: { gated: gates && template.waiting?.gated === true, pinnedTo: undefined, unschedulable: false },
      },
    };
    workload.instances[instance] = pod;
    world.add(pod);
    refresh(workload);
  }

  /** The admission policy adds a preferred host name of the highest weight to what the template says. */
  function steered(constraints: SchedulingConstraints, owner: string): SchedulingConstraints {
    for (const hint of hints.values()) {
      if (hint.owner === owner && hint.seenAt <= queue.now()) {
        return withHint(constraints, hint.node, hinted);
      }
    }
    return constraints;
  }

  function terminate(pod: SimulatedPod): void {
    if (!pod.exists || pod.info.terminating) {
      return;
    }
    const { workload, instance } = pod;
    const isOrdered = workload.info.kind === 'StatefulSet';
    workload.instances[instance] = undefined;
    world.change(pod, { terminating: true });
    kubelets.terminate(pod, () => {
      if (isOrdered) {
        recreateLater(workload, instance);
      }
    });
    if (!isOrdered) {
      recreateLater(workload, instance);
    }
    refresh(workload);
  }

  function recreateLater(workload: SimulatedWorkload, instance: number): void {
    const { recreation } = scenario.timing;
    if (recreation === 0) {
      recreate(workload, instance);
    } else {
      queue.at(queue.now() + recreation, () => recreate(workload, instance));
    }
  }

  function recreate(workload: SimulatedWorkload, instance: number): void {
    const isWanted = !workload.ended && instance < workload.replicas && !workload.completed.has(instance);
    if (workload.spec.recreates && isWanted && workload.instances[instance] === undefined) {
      create(workload, instance);
    }
  }

  /** Counts the pods of a workload anew, as its controller does for its status. */
  function refresh(workload: SimulatedWorkload): void {
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

  function admit(spec: WorkloadSpec): void {
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
      adopt(workload, info, instance);
    });
    for (let instance = spec.standing.length; spec.recreates && instance < replicas; instance += 1) {
      create(workload, instance);
    }
    refresh(workload);
    if (spec.endsAfter !== undefined) {
      queue.at(queue.now() + spec.endsAfter, () => finish(workload));
    }
  }

  /** A pod that is there from the beginning. */
  function adopt(workload: SimulatedWorkload, info: PodInfo, instance: number): void {
    made += 1;
    const pod: SimulatedPod = { workload, instance, sequence: made, exists: true, version: 1, starved: false, info };
    if (!info.terminating) {
      workload.instances[instance] = pod;
    }
    world.add(pod);
    if (info.terminating) {
      kubelets.terminate(pod, () => recreateLater(workload, instance));
    } else if (info.nodeName !== undefined && !info.ready) {
      kubelets.bound(pod);
    } else if (info.ready) {
      completeLater(pod);
    }
  }

  function finish(workload: SimulatedWorkload): void {
    workload.ended = true;
    world.removeWorkload(workload);
    for (const pod of workload.instances.filter((each) => each !== undefined)) {
      terminate(pod);
    }
  }

  function scale(workload: SimulatedWorkload, replicas: number): void {
    const before = workload.replicas;
    workload.replicas = replicas;
    world.changeWorkload(workload, { ...workload.info, replicas });
    for (let instance = replicas; instance < before; instance += 1) {
      const pod = workload.instances[instance];
      if (pod !== undefined) {
        terminate(pod);
      }
    }
    for (let instance = before; instance < replicas; instance += 1) {
      recreate(workload, instance);
    }
    refresh(workload);
  }

  function befall(incident: Incident): void {
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
        cordon(incident.node, incident.kind === 'Cordon');
        break;
      case 'Scale': {
        const { workload: name, replicas } = incident;
        const workload = [...world.workloads.values()].find(({ info }) => info.name === name);
        if (workload !== undefined) {
          scale(workload, replicas);
        }
        break;
      }
      default:
        incident satisfies never;
    }
  }

  function cordon(name: string, unschedulable: boolean): void {
    const node = world.nodes.get(name);
    if (node !== undefined) {
      world.changeNode(node, { ...node.info, unschedulable });
    }
  }

  scenario.nodes.forEach(world.addNode);
  for (const spec of scenario.workloads) {
    queue.at(spec.arrivesAt, () => admit(spec));
  }
  for (const incident of scenario.incidents) {
    queue.at(incident.at, () => befall(incident));
  }
  return {
    world,
    terminate,
    scale,
    admit,
    adopt,
    bind: (pod, node) => {
      world.change(pod, { nodeName: node, waiting: undefined, nominatedNode: undefined });
      kubelets.bound(pod);
    },
    openGate: (pod, target) => {
      world.change(pod, { waiting: { gated: false, pinnedTo: target, unschedulable: false } });
    },
    placeHint: (podUid, owner, node) => {
      hints.set(podUid, { owner, node, seenAt: queue.now() + HINT_DELAY });
    },
    removeHint: (podUid) => {
      hints.delete(podUid);
    },
    starve: (pod, starved) => {
      pod.starved = starved;
      world.change(pod, { ready: !starved, readySince: world.serverTime() });
      refresh(pod.workload);
    },
  };
}

function withHint(
  constraints: SchedulingConstraints,
  node: string,
  known: Map<SchedulingConstraints, Map<string, SchedulingConstraints>>,
): SchedulingConstraints {
  const byNode = known.get(constraints) ?? new Map<string, SchedulingConstraints>();
  known.set(constraints, byNode);
  const term = { expressions: [{ key: HOSTNAME, operator: 'In' as const, values: [node] }], fields: [] };
  const preferred = [...constraints.preferredNodeAffinity, { weight: 100, term }];
  const steered = byNode.get(node) ?? { ...constraints, preferredNodeAffinity: preferred };
  byNode.set(node, steered);
  return steered;
}

/** Five letters and digits, as controllers append them, but counted, so that equal histories are equal. */
function suffix(made: number): string {
  return made.toString(36).padStart(5, '0');
}
