import { nearest } from '../api/nearest.ts';
import { Failure } from '../app/failure.ts';
import type { ClusterSnapshot } from '../model/snapshot.ts';
import type { PolicyOptions } from '../plan/options.ts';
import type { Plan } from '../plan/plan.ts';
import { serviceReport } from '../plan/service-report.ts';
import { type Check, gateCheck } from '../report/checks.ts';
import { GATE_FIGURES } from './gate-figures.ts';

type GateFigure = (typeof GATE_FIGURES)[number]['name'];

const OPERATORS = {
  '>': (a: number, b: number) => a > b,
  '>=': (a: number, b: number) => a >= b,
  '<': (a: number, b: number) => a < b,
  '<=': (a: number, b: number) => a <= b,
} as const;

interface Gate {
  readonly text: string;
  readonly figure: GateFigure;
  readonly operator: keyof typeof OPERATORS;
  readonly bound: number;
}

/** Parses `imbalance>0.2`. Throws a Failure that says what to write. */
export function parseGate(text: string): Gate {
  const [, figure = '', operator, bound] = /^\s*([a-z-]+)\s*(>=|<=|>|<)\s*(\d+(?:\.\d+)?)\s*$/.exec(text) ?? [];
  const known = GATE_FIGURES.find(({ name }) => name === figure)?.name;
  if (known === undefined || operator === undefined) {
    const names = GATE_FIGURES.map(({ name }) => name);
    const meant = nearest(figure === '' ? (/^\s*([\w-]+)/.exec(text)?.[1] ?? '') : figure, names);
    const hint = meant === undefined || meant === figure ? '' : `; ${meant}?`;
    throw new Failure(
      `--fail-on "${text}" is not understood: write one of ${names.join(', ')}, then >, >=, < or <=, then a number, such as 'imbalance>0.2'${hint}`,
    );
  }
  return { text, figure: known, operator: operator as Gate['operator'], bound: Number(bound) };
}

/** How a gate stands for a plan that was made from the snapshot by these options. */
export function checkGate(
  { text, figure, operator, bound }: Gate,
  plan: Plan,
  snapshot: ClusterSnapshot,
  options: PolicyOptions,
): Check {
  const value = FIGURES[figure](plan, snapshot, options);
  return gateCheck(text, value, OPERATORS[operator](value, bound));
}

const FIGURES: Readonly<Record<GateFigure, (plan: Plan, snapshot: ClusterSnapshot, options: PolicyOptions) => number>> =
  {
    imbalance: ({ spread }) => spread.before,
    planned: ({ spread }) => spread.planned,
    moves: ({ moves }) => moves.length,
    rejections: ({ rejections }) => rejections.pods.length,
    coverage: ({ coverage }) => coverage.ratio,
    cost: ({ moves }) => moves.reduce((sum, { cost }) => sum + cost, 0),
    'slo-missed': (_plan, snapshot, { scope }) =>
      serviceReport(snapshot, scope).classes.reduce((sum, { missed }) => sum + missed, 0),
  };
