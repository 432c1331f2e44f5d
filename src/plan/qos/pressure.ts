import type { PodInfo } from '../../model/pod.ts';
import { type EpochSeconds, elapsed, type Seconds } from '../../model/units.ts';
import { imagesOn } from '../../qos/startup.ts';
import { itemAt, type NodeIndex, type PodIndex } from '../indices.ts';
import type { PlanningInput } from '../planning-input.ts';
import type { State } from '../state.ts';
import type { MeasuredLoads } from './measured-loads.ts';
import { compareNumbers, type PreemptionRules, type ServicePosition } from './rules.ts';
import type { ServicePositions } from './service-position.ts';

/** A pod on an overloaded node that violates its SLO, or will before it could still be moved. */
export interface Sufferer {
  readonly pod: PodIndex;
  readonly node: NodeIndex;
  readonly standing: ServicePosition;
  readonly ready: boolean;
  /** By how much the load of its node falls when it leaves. */
  readonly relief: number;
}

/** Why a pod on an overloaded node that would be moved otherwise runs on. */
export type Reluctance = 'CannotAfford' | 'MinRunTime';

/** What pressure is looked for in: where pods are after those who wait got their places. */
export interface PressureInput {
  readonly planningInput: PlanningInput;
  readonly state: State;
  readonly standings: ServicePositions;
  readonly rules: PreemptionRules;
  /** Of the same moment as `state`. */
  readonly loads: MeasuredLoads;
  /** A node is overloaded above this load (see load.ts). */
  readonly limit: number;
  /** What is to be moved before it violates must be moved now when this is all the time until the next run. */
  readonly period: Seconds;
}

/** Who suffers from overload, the most urgent first, and who would be moved if it were not for itself. */
export interface Pressure {
  readonly sufferers: readonly Sufferer[];
  readonly reluctant: ReadonlyMap<PodIndex, Reluctance>;
}

/**
 * Under pressure is who cannot wait for the next run and still keep its margin. A pod that is not Ready for longer than its
 * start takes loses service anyway. One that is Ready loses it by the move: it must be able to afford that, so that nobody is
 * made to violate in order not to; a class of SLO 1 never can. Of equally urgent ones that comes first whose leaving relieves
 * its node most, so that few have to; then the one that starts sooner.
 */
export function pressureIn(input: PressureInput): Pressure {
  const { planningInput, state, rules, loads, limit } = input;
  const sufferers: Sufferer[] = [];
  const reluctant = new Map<PodIndex, Reluctance>();
  for (const pod of planningInput.mobile) {
    const node = state.nodeOf(pod);
    if (node < 0 || !loads.isKnown(node) || loads.load(node) <= limit) {
      continue;
    }
    const found = judge(input, pod, node);
    if (typeof found === 'string') {
      reluctant.set(pod, found);
    } else if (found !== undefined) {
      sufferers.push(found);
    }
  }
  return { sufferers: sufferers.sort((left, right) => compare(rules, left, right)), reluctant };
}

function judge(
  { planningInput, state, standings, loads, period }: PressureInput,
  pod: PodIndex,
  node: NodeIndex,
): Sufferer | Reluctance | undefined {
  const [info, standing] = [itemAt(planningInput.pods, pod), standings.of(pod)];
  if (standing === undefined || !(standing.metric < standing.safetyMargin + period)) {
    return undefined;
  }
  const { ready } = info;
  const sufferer = { pod, node, standing, ready, relief: loads.load(node) - loads.without(node, pod) };
  if (!ready) {
    const start = standings.startOf(pod, standing, imagesOn(itemAt(state.cluster.nodes, node), info));
    return isStuck(info, start, planningInput.snapshot.takenAt) ? sufferer : undefined;
  }
  if (!affordsStart(standing, standings.startOf(pod, standing, 'Present'), 0)) {
    return 'CannotAfford';
  }
  return standings.isFresh(pod, standing) ? 'MinRunTime' : sufferer;
}

/**
 * Whether a pod could still wait after a start of its own, and so many others of its workload. Its metric has alpha in it: a start
 * on a node of which nothing is known.
 */
export function affordsStart({ metric, alpha }: ServicePosition, start: Seconds, others: number): boolean {
  return metric + alpha - start > others * alpha;
}

/** Without an instant its kubelet has not said anything yet: it may just have been bound. */
function isStuck({ readySince }: PodInfo, start: Seconds, now: EpochSeconds): boolean {
  return readySince !== undefined && elapsed(readySince, now) > start;
}

function compare(rules: PreemptionRules, left: Sufferer, right: Sufferer): number {
  return (
    rules.compare(left.standing, right.standing) ||
    right.relief - left.relief ||
    compareNumbers(left.standing.alpha, right.standing.alpha) ||
    left.pod - right.pod
  );
}
