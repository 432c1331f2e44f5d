import { MAX_SCORE, type Score } from './score.ts';
import { podAt } from './score-index.ts';

/**
 * kube-scheduler's NodeResourcesBalancedAllocation over cpu and memory: by how much the pod brings the requested shares of
 * both closer together or further apart, around 75. Pods that request neither are not scored (PreScore skips them).
 */
export const nodeResourcesBalancedAllocation: Score = (pod, feasible, { index, freeCapacityOf }) => {
  const { constraints } = podAt(index, pod);
  const { cpu, memory } = constraints.requests;
  if (cpu === 0 && memory === 0) {
    return new Int32Array(feasible.length);
  }
  return feasible.map((site) => {
    const { allocatable } = index.nodes[site] ?? NOTHING;
    const room = freeCapacityOf(site);
    const usedCpu = allocatable.cpu - room.cpu;
    const usedMemory = allocatable.memory - room.memory;
    const before = evenness(usedCpu, allocatable.cpu, usedMemory, allocatable.memory);
    const after = evenness(usedCpu + cpu, allocatable.cpu, usedMemory + memory, allocatable.memory);
    return MAX_SCORE / 2 + Math.trunc((MAX_SCORE / 2 + after - before) / 2);
  });
};

const NOTHING = { allocatable: { cpu: 0, memory: 0 } };

/** 100 when both shares are the same, 50 when they are as far apart as can be; what the node does not offer does not count. */
function evenness(cpu: number, cpuCapacity: number, memory: number, memoryCapacity: number): number {
  if (cpuCapacity <= 0 || memoryCapacity <= 0) {
    return MAX_SCORE;
  }
  const deviation = Math.abs((Math.min(1, cpu / cpuCapacity) - Math.min(1, memory / memoryCapacity)) / 2);
  return Math.trunc((1 - deviation) * MAX_SCORE);
}
