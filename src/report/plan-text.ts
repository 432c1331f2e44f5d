import type { RebalancePlan } from '../api/v1alpha1/rebalance-plan.ts';
import { escapeText } from '../model/escape.ts';
import { count, percent } from '../plan/format.ts';
import { resourcesIn } from './imbalance.ts';
import { type Look, PLAIN, renderTable } from './table.ts';

/** Header and rows of a table. */
export type Table = readonly [header: readonly string[], rows: readonly (readonly string[])[]];

const NUMBERS = new Set(['LOAD', 'GAIN', 'COST', 'PODS', 'MEAN', 'EMA', 'STDDEV', 'RANGE', 'MAX']);

/** The plan for a terminal; `wide` adds owner and reason of each move and every listed rejection. */
export function planTable(plan: RebalancePlan, wide: boolean, look: Look = PLAIN): string {
  const text = ([header, rows]: Table): string => renderTable(header, rows, NUMBERS, look);
  const imbalance = imbalanceRows(plan);
  const sections = [
    `${look.paint('heading', `${plan.spec.strategy}:`)} ${escapeText(plan.spec.message)}.`,
    ...(imbalance[1].length === 0 ? [] : [text(imbalance)]),
  ];
  if (plan.spec.moves.length > 0) {
    sections.push(text(moveRows(plan, wide)), ...unsteered(plan));
  }
  if (Object.keys(plan.spec.rejectionCounts).length > 0) {
    sections.push(text(countRows(plan)), ...(wide ? [text(rejectionRows(plan))] : []));
  }
  return `${sections.join('\n\n')}\n`;
}

/** How far the scheduler would carry the plan out by itself, in one sentence; none without moves. */
export function unsteered({ spec }: RebalancePlan): readonly string[] {
  const { expectedHitRatio } = spec;
  return expectedHitRatio === undefined
    ? []
    : [`Without steering, ${percent(Number(expectedHitRatio))} of the replacements are expected to land as planned.`];
}

/** How uneven each resource is, before, as planned and as measured afterwards. */
export function imbalanceRows({ status }: RebalancePlan): Table {
  const rows = resourcesIn(status?.imbalance).flatMap((resource) =>
    (['before', 'planned', 'actual'] as const).flatMap((phase) => {
      const measured = status?.imbalance?.[phase]?.[resource];
      return measured === undefined
        ? []
        : [[resource, phase, measured.mean, measured.ema, measured.stddev, measured.range, measured.max]];
    }),
  );
  return [['LOAD OF', 'WHEN', 'MEAN', 'EMA', 'STDDEV', 'RANGE', 'MAX'], rows];
}

/** Where pods wait at our scheduling gate. */
const QUEUE = '(queue)';

/** The moves in their order, with what they repair if any of them does; `wide` adds cost, owner and reason. */
export function moveRows({ spec }: RebalancePlan, wide: boolean): Table {
  const repairing = spec.moves.some(({ repairs }) => repairs !== undefined);
  const more = [...(repairing ? ['REPAIRS'] : []), ...(wide ? ['COST', 'OWNER', 'REASON'] : [])];
  const header = ['POD', 'FROM', 'TO', 'LOAD', 'GAIN', ...more];
  const rows = spec.moves.map(({ pod, owner, from, to, load, gain, cost = '-', reason, repairs = [] }) => [
    `${pod.namespace}/${pod.name}`,
    from ?? QUEUE,
    to ?? QUEUE,
    load,
    gain,
    ...(repairing ? [repairs.join(', ') || '-'] : []),
    ...(wide ? [cost, `${owner.kind}/${owner.name}`, reason] : []),
  ]);
  return [header, rows];
}

/** Pods that stay, counted by what stops them. */
export function countRows({ spec }: RebalancePlan): Table {
  return [
    ['STAYS BECAUSE OF', 'PODS'],
    Object.entries(spec.rejectionCounts).map(([code, number]) => [code, String(number)]),
  ];
}

function rejectionRows({ spec }: RebalancePlan): Table {
  const rows = spec.rejections.map(({ pod, code, message }) => [`${pod.namespace}/${pod.name}`, code, message]);
  return [['POD', 'STAYS BECAUSE OF', 'MESSAGE'], rows];
}

/** `3 moves`. */
export function movesOf({ spec }: RebalancePlan): string {
  return count(spec.moves.length, 'move');
}
