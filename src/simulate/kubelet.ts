import type { NodeInfo, Taint } from '../model/node.ts';
import { bytes } from '../model/units.ts';
import type { Random } from './random.ts';
import type { Delay } from './scenario.ts';
import type { SimulatedNode, SimulatedPod, World } from './world.ts';

/** Starts and ends pods on nodes. */
export interface Kubelets {
  /** A pod was bound: it becomes Ready after its start-up time. */
  readonly bound: (pod: SimulatedPod) => void;
  /** A pod is to go: `gone` is called when it has. Nothing ends on a node that is down until it is back. */
  readonly terminate: (pod: SimulatedPod, gone: () => void) => void;
  readonly fail: (name: string) => void;
  readonly restore: (name: string) => void;
}

/** What kubelets tell controllers. */
export interface KubeletEvents {
  /** A pod has become Ready. */
  readonly ready: (pod: SimulatedPod) => void;
  /** The node of a pod has been away for so long that the pod is deleted (taint-based eviction). */
  readonly lost: (pod: SimulatedPod) => void;
}

/** Taints of a node whose kubelet has fallen silent (node lifecycle controller). */
const UNREACHABLE: readonly Taint[] = [
  { key: 'node.kubernetes.io/unreachable', value: '', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/unreachable', value: '', effect: 'NoExecute' },
];

/** Kubelets of all nodes. `random` draws start-up and termination times. */
export function createKubelets(world: World, random: Random, events: KubeletEvents): Kubelets {
  const { queue, scenario } = world;
  const { timing } = scenario;
  const waiting = new Map<SimulatedPod, () => void>();

  const start = (pod: SimulatedPod, node: SimulatedNode): void => {
    const isHot = pod.info.constraints.images.every((image) => node.info.images.has(image));
    const turn = node.turns;
    queue.at(queue.now() + draw(isHot ? timing.startup.hot : timing.startup.cold, random), () => {
      const isGoing = pod.info.terminating || pod.info.phase === 'Failed';
      if (pod.exists && !isGoing && !node.down && node.turns === turn) {
        keepImages(world, node, pod);
        world.change(pod, { phase: 'Running', ready: true, readySince: world.serverTime() });
        events.ready(pod);
      }
    });
  };

  const nodeOf = (pod: SimulatedPod): SimulatedNode | undefined => world.nodes.get(pod.info.nodeName ?? '');

  const end = (pod: SimulatedPod): void => {
    const gone = waiting.get(pod);
    waiting.delete(pod);
    if (pod.exists) {
      world.remove(pod);
      gone?.();
    }
  };

  const podsOn = (node: SimulatedNode): readonly SimulatedPod[] =>
    world.pods.filter(({ info }) => info.nodeName === node.info.name);

  const expire = (node: SimulatedNode, turn: number): void => {
    if (node.down && node.turns === turn) {
      for (const pod of podsOn(node)) {
        events.lost(pod);
      }
    }
  };

  const declareUnready = (node: SimulatedNode, turn: number): void => {
    if (!node.down || node.turns !== turn) {
      return;
    }
    world.changeNode(node, { ...node.info, ready: false, taints: [...node.info.taints, ...UNREACHABLE] });
    for (const pod of podsOn(node)) {
      world.change(pod, { ready: false, readySince: world.serverTime() });
    }
    queue.at(queue.now() + timing.nodeToleration, () => expire(node, turn));
  };

  return {
    bound: (pod) => {
      const node = nodeOf(pod);
      if (node !== undefined) {
        start(pod, node);
      }
    },
    terminate: (pod, gone) => {
      waiting.set(pod, gone);
      const node = nodeOf(pod);
      if (node === undefined) {
        end(pod);
        return;
      }
      queue.at(queue.now() + draw(timing.termination, random), () => {
        if (!node.down) {
          end(pod);
        }
      });
    },
    fail: (name) => {
      const node = world.nodes.get(name);
      if (node === undefined || node.down) {
        return;
      }
      node.down = true;
      node.turns += 1;
      const turn = node.turns;
      for (const pod of podsOn(node)) {
        pod.starved = false;
        world.touch(pod);
      }
      queue.at(queue.now() + timing.nodeGrace, () => declareUnready(node, turn));
    },
    restore: (name) => {
      const node = world.nodes.get(name);
      if (node === undefined || !node.down) {
        return;
      }
      node.down = false;
      node.turns += 1;
      world.changeNode(node, withoutUnreachable(node.info));
      for (const pod of podsOn(node)) {
        comeBack(pod, node);
      }
    },
  };

  /** What was to go has gone; what stays starts again. */
  function comeBack(pod: SimulatedPod, node: SimulatedNode): void {
    if (pod.info.terminating) {
      end(pod);
      return;
    }
    world.change(pod, { ready: false, readySince: undefined, phase: 'Pending' });
    start(pod, node);
  }
}

function withoutUnreachable(info: NodeInfo): NodeInfo {
  return { ...info, ready: true, taints: info.taints.filter((taint) => !UNREACHABLE.includes(taint)) };
}

/** Images of a pod that has started are on its node from then on. */
function keepImages(world: World, node: SimulatedNode, { info }: SimulatedPod): void {
  const missing = info.constraints.images.filter((image) => !node.info.images.has(image));
  if (missing.length > 0) {
    const size = bytes(world.scenario.imageSize);
    const images = new Map([...node.info.images, ...missing.map((image) => [image, size] as const)]);
    world.changeNode(node, { ...node.info, images });
  }
}

/** 95 % of a standard normal lie below. */
const Z95 = 1.6448536269514722;

/** Seconds of one occurrence of a delay. */
export function draw(delay: Delay, random: Random): number {
  switch (delay.kind) {
    case 'Fixed':
      return delay.value;
    case 'LogNormal': {
      const { mu, sigma } = logNormal(delay.mean, delay.p95);
      return Math.exp(mu + sigma * random.normal());
    }
    default:
      return delay satisfies never;
  }
}

/**
 * Parameters of the log-normal distribution with this mean and 95th percentile: mean = exp(mu + sigma^2 / 2) and
 * p95 = exp(mu + z sigma), so that sigma^2 / 2 - z sigma + ln(p95 / mean) = 0, of which the smaller root is taken. A p95 that
 * no such distribution has (beyond exp(z^2 / 2) times the mean) gets the widest one.
 */
function logNormal(mean: number, p95: number): { readonly mu: number; readonly sigma: number } {
  const sigma = Z95 - Math.sqrt(Math.max(0, Z95 ** 2 - 2 * Math.log(p95 / mean)));
  return { mu: Math.log(mean) - sigma ** 2 / 2, sigma };
}
