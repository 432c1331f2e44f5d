import type { PodInfo } from '../../src/model/pod.ts';
import type { ClusterSnapshot } from '../../src/model/snapshot.ts';
import type { Plan } from '../../src/plan/plan.ts';
import { plan } from '../../src/plan/planner.ts';
import { someOptions } from './builders/options.ts';
import { aNode, aPod, aSnapshot } from './builders.ts';
import { createRandom } from './random.ts';

const SMALL = { pool: 'small' };
const SMALL_NODES = 10;

/**
 * PHARE's chains A - B - C of 1, 1 and 4 cores in a cluster that is full in the wrong way: ten small nodes of 8 cores, which alone
 * may run A, and ten of 48. B and C run anywhere at random, and A where they have left room; all others wait.
 */
export function wronglyFull(seed: number, chains: number): ClusterSnapshot {
  const random = createRandom(seed);
  const nodes = Array.from({ length: 20 }, (_, place) =>
    aNode(`node-${String(place).padStart(2, '0')}`, {
      labels: place < SMALL_NODES ? SMALL : { pool: 'large' },
      allocatable: { cpu: place < SMALL_NODES ? 8000 : 48_000 },
    }),
  );
  const free = nodes.map(({ allocatable }) => allocatable.cpu as number);
  const somewhere = (cpu: number, upTo: number): string | undefined => {
    const open = [...free.keys()].filter((place) => place < upTo && (free[place] ?? 0) >= cpu);
    const place = open[random.below(Math.max(1, open.length))];
    if (place !== undefined) {
      free[place] = (free[place] ?? 0) - cpu;
    }
    return place === undefined ? undefined : nodes[place]?.name;
  };
  const members = [
    { name: 'c', cpu: 4000, upTo: nodes.length },
    { name: 'b', cpu: 1000, upTo: nodes.length },
    { name: 'a', cpu: 1000, upTo: SMALL_NODES },
  ];
  const pods = members.flatMap(({ name, cpu, upTo }) =>
    Array.from({ length: chains }, (_, chain): PodInfo => {
      const nodeSelector = new Map(name === 'a' ? Object.entries(SMALL) : []);
      const pod = aPod(`${name}-${String(chain).padStart(2, '0')}`, {
        owner: name,
        nodeName: somewhere(cpu, upTo),
        constraints: { requests: { cpu, memory: 0 }, nodeSelector },
      });
      const waiting = { gated: false, pinnedTo: undefined, unschedulable: true };
      return pod.nodeName === undefined ? { ...pod, phase: 'Pending', ready: false, waiting } : pod;
    }),
  );
  return aSnapshot({ nodes, pods, usage: undefined });
}

/** Pinned pods that run, and those that wait and have room: all need one core, and small nodes are all the same to them. */
export function pinnedThatFit({ nodes, pods }: ClusterSnapshot): number {
  const room = nodes.slice(0, SMALL_NODES).reduce((sum, { name, allocatable }) => {
    const used = pods.filter(({ nodeName }) => nodeName === name).reduce((total, pod) => total + cpuOf(pod), 0);
    return sum + Math.floor((allocatable.cpu - used) / 1000);
  }, 0);
  const pinned = pods.filter(({ owner }) => owner?.name === 'a');
  const running = pinned.filter(({ nodeName }) => nodeName !== undefined).length;
  return running + Math.min(room, pinned.length - running);
}

function cpuOf({ constraints }: PodInfo): number {
  return constraints.requests.cpu;
}

/** The plan that makes room for all that wait, without budgets. */
export function roomFor(snapshot: ClusterSnapshot): Plan {
  return plan(snapshot, someOptions({ strategy: { type: 'None' }, makesRoom: true, load: { source: 'Requests' } }));
}

/** Moves without which the pinned pods cannot all run: the largest of the others leave the small nodes. */
export function fewestMovesFor({ nodes, pods }: ClusterSnapshot): number {
  const small = new Set(nodes.slice(0, SMALL_NODES).map(({ name }) => name));
  const there = pods.filter(({ nodeName = '' }) => small.has(nodeName));
  const lack = pods.filter(({ nodeName }) => nodeName === undefined).reduce((sum, pod) => sum + cpuOf(pod), 0);
  const free = 80_000 - there.reduce((sum, pod) => sum + cpuOf(pod), 0);
  const sizes = there.filter(({ owner }) => owner?.name !== 'a').map(cpuOf);
  let open = lack - free;
  return sizes
    .sort((left, right) => right - left)
    .filter((size) => {
      const isNeeded = open > 0;
      open -= size;
      return isNeeded;
    }).length;
}
