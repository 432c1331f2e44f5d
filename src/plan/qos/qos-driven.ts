import { MAX_MOVES } from '../../api/v1alpha1/rebalance-plan.ts';
import type { Budget } from '../budgets/budget.ts';
import { latestPeriod } from '../cron.ts';
import type { PodIndex } from '../indices.ts';
import { toLoad } from '../load.ts';
import type { PolicyOptions, StrategyOptions } from '../options.ts';
import type { Move, PlanOutcome, Reason } from '../plan.ts';
import type { PlanningInput } from '../planning-input.ts';
import { isBudgetCode } from '../rejection-codes.ts';
import { rejectAll, type Stays } from '../rejections.ts';
import type { State } from '../state.ts';
import { describeSteps } from './describe.ts';
import { whyItRunsOn, whyTheyWait } from './explain.ts';
import { type MeasuredLoads, measureLoads } from './measured-loads.ts';
import { NO_RELIEF, type Relief, relieve } from './overload-relief.ts';
import {
  type PreemptionPassInput,
  type PreemptionPassResult,
  preemptionPass,
  promisedPlaces,
} from './preemption-pass.ts';
import { type PreemptionRules, PUBLISHED } from './rules.ts';
import { createServicePositions } from './service-position.ts';
import { STANDARD } from './standard.ts';

/** Settings of QoSDriven. */
export type QosOptions = Extract<StrategyOptions, { type: 'QoSDriven' }>;

/** What QoSDriven came to. */
export interface QosFindings {
  readonly moves: readonly Move[];
  readonly stays: Stays;
  readonly outcome: PlanOutcome;
  /** After the moves. */
  readonly end: State;
}

/**
 * Lets in who waits at the gate, and evicts whom the rules allow for that; then moves pods under pressure off overloaded nodes.
 * `start` is not changed; `budgets` are spent.
 */
export function qosDriven(
  planningInput: PlanningInput,
  start: State,
  budgets: Budget,
  strategy: QosOptions,
  policy: PolicyOptions,
): QosFindings {
  const { pods, holds, queue } = planningInput;
  const rules = rulesOf(strategy);
  const state = start.fork();
  for (const [pod, node] of promisedPlaces(start.cluster)) {
    state.place(pod, node);
  }
  const standings = createServicePositions(planningInput, rules);
  const input = { state, queue, budgets, holds, standings, rules, maxSteps: MAX_MOVES };
  const result = preemptionPass(input);
  const waits = whyTheyWait(input, result, state);
  const relief = relieveNodes(planningInput, input, result, strategy, policy);
  const steps = [...result.steps, ...relief.steps];
  const moved = new Set(steps.map(({ pod }) => pod));
  const queued = new Set(queue);
  const isHeld = {
    inScope: holds.inScope,
    all: holds.all,
    of: (pod: PodIndex) => (queued.has(pod) || relief.stays.has(pod) ? undefined : holds.of(pod)),
  };
  const explain = (pod: PodIndex): Reason => waits.get(pod) ?? relief.stays.get(pod) ?? whyItRunsOn(pod, standings);
  const stays = rejectAll(pods, isHeld, (pod) => moved.has(pod), explain);
  return {
    moves: describeSteps(start.cluster, steps),
    stays,
    outcome: outcomeOf(result, queue.length, waits, relief),
    end: state,
  };
}

function rulesOf({ refinements }: QosOptions): PreemptionRules {
  return refinements === 'Standard' ? STANDARD : PUBLISHED;
}

function relieveNodes(
  planningInput: PlanningInput,
  input: PreemptionPassInput,
  { steps }: PreemptionPassResult,
  { pressure }: QosOptions,
  policy: PolicyOptions,
): Relief {
  const { cluster } = input.state;
  const loads =
    pressure === undefined || planningInput.mobile.length === 0
      ? undefined
      : measureLoads(planningInput, cluster, policy);
  if (pressure === undefined || loads === undefined) {
    return NO_RELIEF;
  }
  catchUp(loads, input.state);
  const period = latestPeriod(pressure.runs, planningInput.snapshot.takenAt);
  return relieve({ ...input, planningInput, loads, limit: toLoad(pressure.overload), period }, steps);
}

/** Takes the loads from where the snapshot has the pods to where they are in the state. */
function catchUp(loads: MeasuredLoads, { cluster, nodeOf }: State): void {
  cluster.home.forEach((home, pod) => {
    const node = nodeOf(pod);
    if (node !== home && home >= 0) {
      loads.remove(home, pod);
    }
    if (node !== home && node >= 0) {
      loads.add(node, pod);
    }
  });
}

function outcomeOf(
  { steps, unplaced, refusals }: PreemptionPassResult,
  waiting: number,
  waits: ReadonlyMap<PodIndex, Reason>,
  relief: Relief,
): PlanOutcome {
  const obstacle = obstacleOf(unplaced.length, waiting, unplaced[0] && waits.get(unplaced[0].pod), relief);
  if (steps.length + relief.steps.length > 0) {
    return { kind: 'Moves', obstacle };
  }
  if (obstacle === undefined) {
    return { kind: 'Balanced', message: 'no pod waits at the gate' };
  }
  const refusal = [...refusals.values()][0] ?? relief.blocked.find(({ code }) => isBudgetCode(code));
  return refusal === undefined
    ? { kind: 'NoBeneficialMove', message: obstacle }
    : { kind: 'BudgetExhausted', message: `${refusal.code} keeps pods from being evicted: ${refusal.message}` };
}

/** Who waits on, and who stays under pressure; `undefined` when nobody does. */
function obstacleOf(
  unplaced: number,
  waiting: number,
  first: Reason | undefined,
  { blocked }: Relief,
): string | undefined {
  const waits =
    first === undefined ? [] : [`${unplaced} of ${waiting} that wait have to wait on; the first ${first.message}`];
  const [worst] = blocked;
  const stays =
    worst === undefined ? [] : [`${blocked.length} under pressure cannot be moved; the first: ${worst.message}`];
  return first === undefined && worst === undefined ? undefined : [...waits, ...stays].join('; ');
}
