import type { PastMove } from '../../model/past-move.ts';
import type { UsageSample } from '../../model/snapshot.ts';
import type { Cluster } from '../cluster.ts';
import type { NodeIndex } from '../indices.ts';
import { loadModel, tabulate } from '../load.ts';
import { emptyLedger, type LoadLedger } from '../load-ledger.ts';
import { coverageOf, gateMessage, judgeNodes, type NodeSample } from '../metrics-gate.ts';
import type { PolicyOptions } from '../options.ts';
import type { PlanningInput } from '../planning-input.ts';
import { measurePods } from '../pod-usage.ts';

/** What nodes are measured to carry, while pods are thought of elsewhere. Nodes and pods are named by their place. */
export interface MeasuredLoads extends Omit<LoadLedger, 'fork'> {
  /** Whether the load of a node is known: others are neither left nor gone to for the sake of their load. */
  readonly isKnown: (node: NodeIndex) => boolean;
}

/**
 * The loads of the nodes that take part as the Metrics API has them, whatever the policy plans by. A node whose sample was
 * begun before the last move from or to it had ended is not known: pods would leave it for a load that has left already.
 * `undefined` without metrics, or with fewer valid samples than `load.minCoverage` asks for.
 */
export function measureLoads(
  planningInput: PlanningInput,
  cluster: Cluster,
  policy: PolicyOptions,
): MeasuredLoads | undefined {
  const options: PolicyOptions = { ...policy, load: { ...policy.load, source: 'Measured' } };
  const { snapshot, subjects, pods } = planningInput;
  const { nodes, home } = cluster;
  const { usage, takenAt } = snapshot;
  const samples = usage === undefined ? [] : judgeNodes(nodes, subjects.pods, usage, takenAt, options.load.maxAge);
  if (gateMessage(snapshot, coverageOf(samples, takenAt), options.load.minCoverage) !== undefined) {
    return undefined;
  }
  const participants = nodes.map((node, place) => ({ node, sample: sampleOf(samples[place]) }));
  const tables = tabulate(participants, pods, home, measurePods(subjects, snapshot, options));
  const ledger = emptyLedger(loadModel(tables, home, options), nodes.length, pods.length);
  home.forEach((node, pod) => {
    if (node >= 0) {
      ledger.add(node, pod);
    }
  });
  const settledAt = lastTurns(snapshot.pastMoves);
  return {
    ...ledger,
    isKnown: (node) => isSettled(samples[node], settledAt.get(nodes[node]?.name ?? '')),
  };
}

function sampleOf(judged: NodeSample | undefined): UsageSample | undefined {
  return judged?.kind === 'Valid' ? judged.sample : undefined;
}

/** Ends of moves are on record in whole seconds, rounded down. */
const ROUNDING = 1;

/** When the last move from or to each node ended, at the latest; infinite while one is under way. */
function lastTurns(moves: readonly PastMove[]): ReadonlyMap<string, number> {
  const turns = new Map<string, number>();
  for (const { from, to, replacement, endedAt = Number.POSITIVE_INFINITY } of moves) {
    const reached = replacement?.node ?? to;
    for (const node of reached === undefined ? [from] : [from, reached]) {
      turns.set(node, Math.max(turns.get(node) ?? 0, endedAt + ROUNDING));
    }
  }
  return turns;
}

function isSettled(judged: NodeSample | undefined, lastTurn = 0): boolean {
  switch (judged?.kind) {
    case 'Valid': {
      const { timestamp, window } = judged.sample;
      return timestamp - (Number.isNaN(window) ? 0 : window) >= lastTurn;
    }
    case 'Idle':
      return Number.isFinite(lastTurn);
    case 'Unusable':
    case undefined:
      return false;
    default:
      return judged satisfies never;
  }
}
