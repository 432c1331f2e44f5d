import type { RebalancePlan } from '../api/v1alpha1/rebalance-plan.ts';
import type { Plan } from '../plan/plan.ts';
import { Failure } from './failure.ts';

/** What a --fail-on expression can speak of. */
export const GATE_FIGURES = ['imbalance', 'planned', 'moves', 'rejections', 'coverage'] as const;
type GateFigure = (typeof GATE_FIGURES)[number];

const OPERATORS = {
  '>': (a: number, b: number) => a > b,
  '>=': (a: number, b: number) => a >= b,
  '<': (a: number, b: number) => a < b,
  '<=': (a: number, b: number) => a <= b,
} as const;

/** A parsed --fail-on expression. */
export interface Gate {
  readonly text: string;
  readonly figure: GateFigure;
  readonly operator: keyof typeof OPERATORS;
  readonly bound: number;
}

/** Parses `imbalance>0.2`. Throws a Failure that says what to write. */
export function parseGate(text: string): Gate {
  const [, figure, operator, bound] = /^\s*([a-z]+)\s*(>=|<=|>|<)\s*(\d+(?:\.\d+)?)\s*$/.exec(text) ?? [];
  const known = GATE_FIGURES.find((name) => name === figure);
  if (known === undefined || operator === undefined) {
    throw new Failure(
      `--fail-on "${text}" is not understood: write one of ${GATE_FIGURES.join(', ')}, then >, >=, < or <=, then a number, such as 'imbalance>0.2'`,
    );
  }
  return { text, figure: known, operator: operator as Gate['operator'], bound: Number(bound) };
}

/** Whether the gate fails for a plan, with the figure that it looked at. */
export function gateFails({ figure, operator, bound }: Gate, plan: Plan, { spec }: RebalancePlan): number | undefined {
  const figures: Record<GateFigure, number> = {
    imbalance: plan.spread.before,
    planned: plan.spread.planned,
    moves: spec.moves.length,
    rejections: plan.rejections.pods.length,
    coverage: plan.coverage.ratio,
  };
  return OPERATORS[operator](figures[figure], bound) ? figures[figure] : undefined;
}
