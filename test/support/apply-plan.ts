import type { ClusterSnapshot, UsageSample } from '../../src/model/snapshot.ts';
import { bytes, milliCpu } from '../../src/model/units.ts';
import type { Plan, Transfer } from '../../src/plan/plan.ts';
import { transfersOf } from './transfers.ts';

/** The snapshot as it would be right after the first `count` moves of a plan landed, measured at the same instant. */
export function applyPlan(snapshot: ClusterSnapshot, plan: Plan, count = plan.moves.length): ClusterSnapshot {
  const done = transfersOf(plan).slice(0, count);
  const targets = new Map(done.map(({ pod, to }) => [pod.uid, to]));
  const pods = snapshot.pods.map((pod) => ({ ...pod, nodeName: targets.get(pod.uid) ?? pod.nodeName }));
  return { ...snapshot, pods, usage: moveUsage(snapshot.usage, done) };
}

function moveUsage(usage: ClusterSnapshot['usage'], moves: readonly Transfer[]): ClusterSnapshot['usage'] {
  if (usage === undefined) {
    return undefined;
  }
  const nodes = new Map(usage.nodes);
  for (const { pod, from, to } of moves) {
    const sample = usage.pods.get(`${pod.namespace}/${pod.name}`);
    if (sample !== undefined) {
      shift(nodes, from, sample, -1);
      shift(nodes, to, sample, 1);
    }
  }
  return { nodes, pods: usage.pods };
}

function shift(nodes: Map<string, UsageSample>, name: string, { cpu, memory }: UsageSample, sign: 1 | -1): void {
  const node = nodes.get(name);
  if (node !== undefined) {
    nodes.set(name, {
      ...node,
      cpu: milliCpu(Math.max(0, node.cpu + sign * cpu)),
      memory: bytes(Math.max(0, node.memory + sign * memory)),
    });
  }
}

/** The snapshot before the plan, and after each of its moves. */
export function statesOf(snapshot: ClusterSnapshot, found: Plan): readonly ClusterSnapshot[] {
  return [snapshot, ...found.moves.map((_, index) => applyPlan(snapshot, found, index + 1))];
}
