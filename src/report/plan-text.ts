import type { RebalancePlan } from '../api/v1alpha1/rebalance-plan.ts';
import { escapeText } from '../model/escape.ts';
import type { Route } from '../model/move.ts';
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
  const nodes = nodeRows(plan);
  if (nodes[1].length > 0) {
    sections.push(text(nodes));
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
export const QUEUE = '(queue)';

/** Node that a move leads to, the queue, or that it leads nowhere. */
export function targetText({ to, removal = false }: Pick<Route, 'to' | 'removal'>): string {
  return to ?? (removal ? '(removed)' : QUEUE);
}

/** A repair that makes the load no more even is worth it all the same, so that it has no gain instead of a gain of nothing. */
function gainText({ gain, repairs = [] }: Pick<RebalancePlan['spec']['moves'][number], 'gain' | 'repairs'>): string {
  return repairs.length > 0 && Number(gain) === 0 ? '-' : gain;
}

/** The moves in their order, with what they repair if any of them does; `wide` adds cost, owner and reason. */
export function moveRows({ spec }: RebalancePlan, wide: boolean): Table {
  const repairing = spec.moves.some(({ repairs }) => repairs !== undefined);
  const more = [...(repairing ? ['REPAIRS'] : []), ...(wide ? ['COST', 'OWNER', 'REASON'] : [])];
  const header = ['POD', 'FROM', 'TO', 'LOAD', 'GAIN', ...more];
  const rows = spec.moves.map((move) => {
    const { pod, owner, from, load, cost = '-', reason, repairs = [] } = move;
    return [
      `${pod.namespace}/${pod.name}`,
      from ?? QUEUE,
      targetText(move),
      load,
      gainText(move),
      ...(repairing ? [repairs.join(', ') || '-'] : []),
      ...(wide ? [cost, `${owner.kind}/${owner.name}`, reason] : []),
    ];
  });
  return [header, rows];
}

/** Nodes that can be removed, and why others keep their pods. */
export function nodeRows({ spec: { packing } }: RebalancePlan): Table {
  const header = ['NODE', 'AFTERWARDS', 'BECAUSE'];
  if (packing === undefined) {
    return [header, []];
  }
  const { emptied, removable, removableTotal, kept } = packing;
  const more = removableTotal - removable.length;
  return [
    header,
    [
      ...removable.map((name) => [name, 'removable', emptied.includes(name) ? 'the plan empties it' : 'it is empty']),
      ...(more > 0 ? [[`and ${more} more`, 'removable', '']] : []),
      ...kept.map(({ node, pod, message }) => [
        node,
        'keeps its pods',
        pod === undefined ? message : `${pod.namespace}/${pod.name} ${message}`,
      ]),
    ],
  ];
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
