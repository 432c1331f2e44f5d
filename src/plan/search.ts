import type { Budgets } from './budgets/index.ts';
import { count, percent } from './format.ts';
import type { IndexTable, NodeIndex, PodIndex } from './indices.ts';
import { type AcceptedMove, createJudge, type Judge } from './judge.ts';
import { toFraction, toLoad } from './load.ts';
import type { BalancingOptions, PolicyOptions } from './options.ts';
import type { Reason } from './plan.ts';
import { type SequencedMove, sequence, withNeeds } from './sequence.ts';
import { isImprovement, type State, type StateView } from './state.ts';
import { explainStay } from './stay-reason.ts';
import { strategyFor } from './strategies/index.ts';
import type { Proposals, Strategy } from './strategies/strategy.ts';

/** What a strategy came to. */
export interface SearchResult {
  /** In sequence; empty when there are none, or when they are not worth it together. */
  readonly moves: readonly SequencedMove[];
  readonly movedPods: ReadonlySet<PodIndex>;
  /** After the moves. */
  readonly state: StateView;
  /** Node by place of the pod, after the moves. */
  readonly placement: IndexTable<PodIndex, NodeIndex>;
  /** Why a movable pod stays. */
  readonly explain: (pod: PodIndex) => Reason;
  /** Why moves that were found are not made. */
  readonly discarded: string | undefined;
}

/**
 * Lets the strategy propose until it has nothing more to say, and disposes of every proposal. Moves that are not
 * worth it together are discarded. `start` is not changed; `budgets` are spent.
 */
export function search(
  start: State,
  budgets: Budgets,
  balancing: BalancingOptions,
  options: PolicyOptions,
): SearchResult {
  const strategy = strategyFor(balancing);
  const minGain = toLoad(options.thresholds.minGain);
  const state = start.fork();
  const judge = createJudge(state, budgets, strategy.judgedBy, minGain);
  converse(strategy.propose(state, judge.terms), judge);
  const bounds = strategy.bounds(state);
  const explain = explainStay({ state, bounds, minGain, budgets, refused: judge.refused });
  const discarded = judge.accepted.length === 0 ? undefined : shortfall(start, state, judge, strategy, options);
  const moved = new Set(judge.accepted.map(({ pod }) => pod));
  if (discarded === undefined) {
    const { mayLeave } = strategy;
    const worth = strategy.judgedBy === 'EachMove' ? { minGain, mayLeave } : undefined;
    const ordered = strategy.keepsOrder ? judge.accepted : sequence(start, judge.accepted, minGain, mayLeave);
    return {
      moves: withNeeds(start, ordered, worth),
      movedPods: moved,
      state,
      placement: state.placement,
      explain,
      discarded,
    };
  }
  const worthless: Reason = { code: 'GainTooSmall', message: discarded.message, numbers: discarded.numbers };
  return {
    moves: [],
    movedPods: new Set(),
    state: start,
    placement: start.placement,
    explain: (pod) => (moved.has(pod) ? worthless : explain(pod)),
    discarded: discarded.message,
  };
}

function converse(proposals: Proposals, { judge }: Judge): void {
  for (let step = proposals.next(); step.done !== true; ) {
    step = proposals.next(judge(step.value));
  }
}

interface Shortfall {
  readonly message: string;
  readonly numbers: Readonly<Record<string, number>>;
}

/** Why the moves are not worth it together; `undefined` when they are. */
function shortfall(
  start: State,
  end: State,
  judge: Judge,
  { judgedBy }: Strategy,
  { thresholds }: PolicyOptions,
): Shortfall | undefined {
  const { minImprovement } = thresholds;
  const moves = judge.accepted.length;
  if (judgedBy === 'WholePlan' && !isImprovement(end.objective() - start.objective())) {
    return {
      message: `the ${count(moves, 'move')} of the plan would leave the cluster no better balanced`,
      numbers: { moves },
    };
  }
  const improvement = judgedBy === 'WholePlan' ? fallOfHighest(start, end) : sumOfGains(judge.accepted);
  if (improvement >= toLoad(minImprovement)) {
    return tooSmallReduction(start, end, judge, thresholds);
  }
  const gain = toFraction(improvement);
  const text = `the ${count(moves, 'move')} of the plan would gain ${percent(gain)} together`;
  return {
    message: `${text}, thresholds.minImprovement is ${percent(minImprovement)}`,
    numbers: { moves, gain, minImprovement },
  };
}

/**
 * Some clusters keep a wide spread whatever is planned, and churn always leaves a few moves that gain `minGain`. This rule lets such a
 * cluster come to rest. It does not apply while budgets block moves: the moves that are left may be the first of many.
 */
function tooSmallReduction(
  start: State,
  end: State,
  { accepted, refused, terms }: Judge,
  { trigger, minReduction }: PolicyOptions['thresholds'],
): Shortfall | undefined {
  const isHeldBack = refused.size > 0 || terms.movesLeft() <= 0;
  const reduction = Math.max(0, 1 - Math.sqrt(end.objective() / start.objective()));
  if (isHeldBack || reduction >= minReduction || largestFall(start, end) >= toLoad(trigger)) {
    return undefined;
  }
  const moves = accepted.length;
  const text = `the ${count(moves, 'move')} of the plan would lower the standard deviation by ${percent(reduction)} of itself, and no node by thresholds.trigger ${percent(trigger)}`;
  return {
    message: `${text}; thresholds.minReduction is ${percent(minReduction)}`,
    numbers: { moves, reduction, minReduction },
  };
}

/** By how much the node falls that falls most: a load. */
function largestFall(start: StateView, end: StateView): number {
  return start.cluster.nodes.reduce((most, _, node) => Math.max(most, start.load(node) - end.load(node)), 0);
}

function sumOfGains(moves: readonly AcceptedMove[]): number {
  return moves.reduce((sum, { gain }) => sum + gain, 0);
}

/** Gains of single moves mean nothing in a plan that passes through worse states: what counts is the highest node. */
function fallOfHighest(start: StateView, end: StateView): number {
  const highest = (state: StateView): number =>
    state.cluster.nodes.reduce((most, _, node) => Math.max(most, state.load(node)), 0);
  return highest(start) - highest(end);
}
