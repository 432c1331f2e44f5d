import { MAX_SCORE, type Score } from './score.ts';
import { podAt } from './score-index.ts';

/**
 * kube-scheduler's NodeResourcesFit with its default strategy LeastAllocated over cpu and memory: the mean of what is left of
 * each with the pod, in percent. A pod that requests none of a resource counts as if it requested a little; the scheduler
 * assumes that per container, and here it is per pod, since the model knows a pod's requests only as a whole.
 */
export const nodeResourcesFit: Score = (pod, feasible, { index, assumed, freeCapacityOf }) => {
  const { constraints } = podAt(index, pod);
  const cpu = constraints.requests.cpu || assumed.cpu;
  const memory = constraints.requests.memory || assumed.memory;
  return feasible.map((site) => {
    const { allocatable } = index.nodes[site] ?? NOTHING;
    const room = freeCapacityOf(site);
    const cpuLeft = room.cpu - room.withoutCpu * assumed.cpu - cpu;
    const memoryLeft = room.memory - room.withoutMemory * assumed.memory - memory;
    const offered = (allocatable.cpu > 0 ? 1 : 0) + (allocatable.memory > 0 ? 1 : 0);
    const sum = share(cpuLeft, allocatable.cpu) + share(memoryLeft, allocatable.memory);
    return offered === 0 ? 0 : Math.trunc(sum / offered);
  });
};

const NOTHING = { allocatable: { cpu: 0, memory: 0 } };

function share(left: number, capacity: number): number {
  return capacity <= 0 || left < 0 ? 0 : Math.trunc((left * MAX_SCORE) / capacity);
}
