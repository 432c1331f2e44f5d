import { planIsFull } from '../budgets/max-moves.ts';
import { count, inSeconds } from '../format.ts';
import type { PodIndex } from '../indices.ts';
import type { Reason } from '../plan.ts';
import { BUDGET_NAMES } from '../rejection-codes.ts';
import { shared } from '../rejections.ts';
import { classOf } from '../shapes.ts';
import type { StateView } from '../state.ts';
import type { Preemptor } from './guesses.ts';
import type { HeldBack, PreemptionPassInput, PreemptionPassResult } from './preemption-pass.ts';
import type { ServicePosition } from './rules.ts';
import type { ServicePositions } from './service-position.ts';

const UNPROMISED = 'neither its label, its namespace nor its PriorityClass names a ServiceClass';
const UNKNOWN = 'what it got so far is not known: its workload has no QoSLedger, or one from the future';

const TOGETHER =
  'time counts only while all replicas of its workload run (mode Concurrent), so they are let in together';

const RUNS_UNPROMISED: Reason = { code: 'NoServiceClass', message: `runs on: ${UNPROMISED}`, numbers: {} };
const RUNS_UNKNOWN: Reason = { code: 'NoLedger', message: `runs on: ${UNKNOWN}`, numbers: {} };
const RUNS_ON: Reason = { code: 'NotNeeded', message: 'runs on: nobody who waits takes its place', numbers: {} };

/** Why a pod that runs, and that nothing protects, is not evicted. */
export function whyItRunsOn(pod: PodIndex, standings: ServicePositions): Reason {
  if (standings.classOf(pod) === undefined) {
    return RUNS_UNPROMISED;
  }
  return standings.isKnown(pod) ? RUNS_ON : RUNS_UNKNOWN;
}

/** Why those who wait were not placed, by place of the pod. `end` is the state after the pass. */
export function whyTheyWait(
  input: PreemptionPassInput,
  { steps, unplaced, heldBack, refusals }: PreemptionPassResult,
  end: StateView,
): ReadonlyMap<PodIndex, Reason> {
  const { shapes } = end.cluster;
  const nodesFor = shared(
    (pod) => classOf(shapes, pod),
    (_, pod) => allowedNodes(end, pod),
  );
  const isFull = steps.length >= input.maxSteps;
  const refusal = BUDGET_NAMES.flatMap((code) => refusals.get(code) ?? [])[0];
  const reasonFor = ({ pod, standing }: Preemptor): Reason => {
    const nodes = nodesFor(pod);
    if (nodes.code === 'NoFeasibleNode') {
      return nodes;
    }
    const held = heldBack.get(pod);
    if (held !== undefined) {
      return allOrNone(held);
    }
    if (isFull) {
      const message = `waits: ${planIsFull(input.maxSteps)}`;
      return { code: 'MaxMoves', message, numbers: { limit: input.maxSteps } };
    }
    return standing === undefined
      ? withoutStanding(pod, input.standings)
      : (mayWait(standing) ?? refusal ?? noVictim(standing, nodes));
  };
  return new Map(unplaced.map((claimant) => [claimant.pod, reasonFor(claimant)]));
}

/** How many nodes the filters that look at the node alone leave: as a reason, since there may be none. */
function allowedNodes({ cluster }: StateView, pod: PodIndex): Reason {
  const { shapes, nodes } = cluster;
  const shapeClass = classOf(shapes, pod);
  const refused = new Map<string, number>();
  for (const node of nodes.keys()) {
    const filter = shapes.refusedBy(shapeClass, node);
    if (filter !== undefined) {
      refused.set(filter, (refused.get(filter) ?? 0) + 1);
    }
  }
  const open = [...refused.values()].reduce((rest, closed) => rest - closed, nodes.length);
  const filters = [...refused].map(([filter, closed]) => `${filter} ${closed}`).join(', ');
  const message = `waits: it may run on none of the ${count(nodes.length, 'node')} that take part${filters === '' ? '' : `: ${filters}`}`;
  return open === 0
    ? { code: 'NoFeasibleNode', message, numbers: { nodes: nodes.length } }
    : { code: 'NoEligibleVictim', message: '', numbers: { nodes: open } };
}

function withoutStanding(pod: PodIndex, standings: ServicePositions): Reason {
  const isPromised = standings.classOf(pod) !== undefined;
  const why = isPromised ? UNKNOWN : UNPROMISED;
  const message = `waits until a node has room, and nobody is evicted for it: ${why}`;
  return { code: isPromised ? 'NoLedger' : 'NoServiceClass', message, numbers: {} };
}

function allOrNone({ lacking, waiting }: HeldBack): Reason {
  if (!Number.isFinite(lacking)) {
    return { code: 'NoLedger', message: `waits: ${TOGETHER}, and ${UNKNOWN}`, numbers: {} };
  }
  const obstacle =
    waiting < lacking
      ? `${waiting} of the ${lacking} without a node have come to the gate`
      : `there is no place for all ${waiting} that wait`;
  const message = `waits: ${TOGETHER}, and ${obstacle}`;
  return { code: 'AllOrNone', message, numbers: { lacking, waiting } };
}

function mayWait(standing: ServicePosition): Reason | undefined {
  const { safetyMargin, metric } = standing;
  if (metric < safetyMargin) {
    return undefined;
  }
  const message = `waits: it can wait ${span(standing)}, its safety margin is ${inSeconds(safetyMargin)}, and nobody can wait so much longer that it is worth an eviction`;
  return { code: 'MayWait', message, numbers: numbersOf(standing) };
}

function noVictim(standing: ServicePosition, { numbers }: Reason): Reason {
  const { nodes = 0 } = numbers;
  const where = `none of the ${count(nodes, 'node')} that it may run on`;
  const message = `waits: it can wait ${span(standing)}, and ${where} has room, or gets it by evicting pods that can wait longer or matter less`;
  return { code: 'NoEligibleVictim', message, numbers: { nodes, ...numbersOf(standing) } };
}

/** A metric for people. */
export function span({ metric }: Pick<ServicePosition, 'metric'>): string {
  return Number.isFinite(metric) ? inSeconds(metric) : 'for good';
}

/** Best effort has no time to violate, which is not a number. */
function numbersOf({ metric, safetyMargin }: ServicePosition): Readonly<Record<string, number>> {
  return Number.isFinite(metric) ? { timeToViolate: metric, safetyMargin } : { safetyMargin };
}
