import { MAX_MOVES } from '../../api/v1alpha1/rebalance-plan.ts';
import type { Budgets } from '../budgets/index.ts';
import type { StrategyOptions } from '../options.ts';
import type { Move, PlanOutcome, Reason } from '../plan.ts';
import { rejectAll, type Stays } from '../rejections.ts';
import type { State } from '../state.ts';
import type { Survey } from '../survey.ts';
import { type ContestResult, contest, promisedPlaces } from './contest.ts';
import { describeSteps } from './describe.ts';
import { whyItRunsOn, whyTheyWait } from './explain.ts';
import { type ContestRules, PUBLISHED } from './rules.ts';
import { STANDARD } from './standard.ts';
import { createStandings } from './standings.ts';

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

/** Lets in who waits at the gate, and evicts whom the rules allow for that. `start` is not changed; `budgets` are spent. */
export function qosDriven(survey: Survey, start: State, { budgets }: Budgets, options: QosOptions): QosFindings {
  const { pods, holds, queue } = survey;
  const rules = rulesOf(options);
  const state = start.fork();
  for (const [pod, node] of promisedPlaces(start.cluster)) {
    state.place(pod, node);
  }
  const standings = createStandings(survey, rules);
  const input = { state, queue, budgets, holds, standings, rules, maxSteps: MAX_MOVES };
  const result = contest(input);
  const waits = whyTheyWait(input, result, state);
  const moved = new Set(result.steps.map(({ pod }) => pod));
  const queued = new Set(queue);
  const isHeld = {
    inScope: holds.inScope,
    all: holds.all,
    of: (pod: number) => (queued.has(pod) ? undefined : holds.of(pod)),
  };
  const explain = (pod: number): Reason => waits.get(pod) ?? whyItRunsOn(pod, standings);
  const stays = rejectAll(pods, isHeld, (pod) => moved.has(pod), explain);
  return {
    moves: describeSteps(start.cluster, result.steps),
    stays,
    outcome: outcomeOf(result, queue.length, waits),
    end: state,
  };
}

function rulesOf({ refinements }: QosOptions): ContestRules {
  return refinements === 'Standard' ? STANDARD : PUBLISHED;
}

function outcomeOf(
  { steps, unplaced, refusals }: ContestResult,
  waiting: number,
  waits: ReadonlyMap<number, Reason>,
): PlanOutcome {
  const first = unplaced[0];
  const reason = waits.get(first?.pod ?? -1);
  if (steps.length > 0) {
    const obstacle = `${unplaced.length} of ${waiting} that wait have to wait on; the first ${reason?.message}`;
    return { kind: 'Moves', obstacle: reason === undefined ? undefined : obstacle };
  }
  if (reason === undefined) {
    return { kind: 'Balanced', message: 'no pod waits at the gate' };
  }
  const [refusal] = refusals.values();
  return refusal === undefined
    ? {
        kind: 'NoBeneficialMove',
        message: `all ${unplaced.length} that wait have to wait on; the first ${reason.message}`,
      }
    : { kind: 'BudgetExhausted', message: `${refusal.code} keeps pods from being evicted: ${refusal.message}` };
}
