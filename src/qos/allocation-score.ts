/** A capacity and what is allocated of it. */
export interface Allocation {
  readonly capacity: number;
  readonly allocated: number;
}

/**
 * The mean of least-requested and balanced-allocation, 0 to 10 (algorithms.md 6): how much of cpu and memory is free, and how
 * alike their shares are. A resource that the node does not offer counts as full. Allocated is what pods on the node request.
 */
export function allocationScore(cpu: Allocation, memory: Allocation): number {
  const [cpuShare, memoryShare] = [shareOf(cpu), shareOf(memory)];
  const leastRequested = 10 * ((1 - cpuShare + (1 - memoryShare)) / 2);
  const balanced = 10 * (1 - Math.abs(cpuShare - memoryShare));
  return (leastRequested + balanced) / 2;
}

function shareOf({ capacity, allocated }: Allocation): number {
  return capacity > 0 ? Math.min(1, Math.max(0, allocated / capacity)) : 1;
}
