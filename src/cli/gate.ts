import { nearest } from '../api/nearest.ts';
import { Failure } from '../app/failure.ts';
import type { ClusterSnapshot } from '../model/snapshot.ts';
import type { PolicyOptions } from '../plan/options.ts';
import type { Plan } from '../plan/plan.ts';
import { serviceReport } from '../plan/service-report.ts';
import { blindness, type Check, gateCheck } from '../report/checks.ts';
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
  readonly isShare: boolean;
  readonly operator: keyof typeof OPERATORS;
  readonly bound: number;
}

/** A figure, or why it is not known. */
type Figure = number | { readonly unknown: string };

/** Parses `imbalance>0.2` or `imbalance>20%`. Throws a Failure that says what to write. */
export function parseGate(text: string): Gate {
  const [, figure = '', operator, bound, percent] =
    /^\s*([a-z-]+)\s*(>=|<=|>|<)\s*(\d+(?:\.\d+)?)\s*(%?)\s*$/.exec(text) ?? [];
  const known = GATE_FIGURES.find(({ name }) => name === figure);
  if (known === undefined || operator === undefined) {
    const names = GATE_FIGURES.map(({ name }) => name);
    const meant = nearest(figure === '' ? (/^\s*([\w-]+)/.exec(text)?.[1] ?? '') : figure, names);
    const hint = meant === undefined || meant === figure ? '' : `; ${meant}?`;
    throw new Failure(
      `--fail-on "${text}" is not understood: write one of ${names.join(', ')}, then >, >=, < or <=, then a number, such as 'imbalance>0.2'${hint}`,
    );
  }
  if (percent === '%' && !known.isShare) {
    throw new Failure(`--fail-on "${text}": ${figure} is not a share: write '${figure}${operator}${bound}'`);
  }
  return {
    text,
    figure: known.name,
    isShare: known.isShare,
    operator: operator as Gate['operator'],
    bound: Number(bound) / (percent === '%' ? 100 : 1),
  };
}

/** How a gate stands for a plan that was made from the snapshot by these options. A figure that is not known never passes. */
export function checkGate(
  { text, figure, isShare, operator, bound }: Gate,
  plan: Plan,
  snapshot: ClusterSnapshot,
  options: PolicyOptions,
): Check {
  const value = FIGURES[figure](plan, snapshot, options);
  return typeof value === 'number'
    ? gateCheck(text, { name: figure, value, isShare }, OPERATORS[operator](value, bound))
    : gateCheck(text, { name: figure, unknown: value.unknown }, true);
}

const FIGURES: Readonly<Record<GateFigure, (plan: Plan, snapshot: ClusterSnapshot, options: PolicyOptions) => Figure>> =
  {
    imbalance: (plan) => ofPlan(plan, ({ spread }) => spread.before),
    planned: (plan) => ofPlan(plan, ({ spread }) => spread.planned),
    moves: (plan) => ofPlan(plan, ({ moves }) => moves.length),
    rejections: (plan) => ofPlan(plan, ({ rejections }) => rejections.pods.length),
    coverage: ({ coverage }) => (coverage.readyNodes === 0 ? { unknown: 'no node is Ready' } : coverage.ratio),
    cost: (plan) => ofPlan(plan, ({ moves }) => moves.reduce((sum, { cost }) => sum + cost, 0)),
    'slo-missed': (plan, snapshot, { scope }) =>
      plan.coverage.readyNodes === 0 ? { unknown: 'no node is Ready' } : missedSlos(snapshot, scope),
  };

function ofPlan(plan: Plan, read: (plan: Plan) => number): Figure {
  const unknown = blindness(plan);
  return unknown === undefined ? read(plan) : { unknown };
}

function missedSlos(snapshot: ClusterSnapshot, scope: PolicyOptions['scope']): Figure {
  const { classes, unkept, unknownClasses } = serviceReport(snapshot, scope);
  if (unknownClasses.length > 0) {
    return { unknown: `there is no ServiceClass ${unknownClasses.join(', ')}, which pods name` };
  }
  if (unkept.length > 0) {
    const [first] = unkept;
    return {
      unknown: `${first}${unkept.length === 1 ? '' : ` and ${unkept.length - 1} more`} have no QoSLedger that is up to date`,
    };
  }
  return classes.reduce((sum, { missed }) => sum + missed, 0);
}
