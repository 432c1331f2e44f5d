import type { RebalancePlan } from '../api/v1alpha1/rebalance-plan.ts';
import { LOAD_RESOURCES } from '../model/resources.ts';
import { percent } from '../plan/format.ts';
import { renderMarkdownTable, renderTable } from './table.ts';

type Table = readonly [header: readonly string[], rows: readonly (readonly string[])[]];

const NUMBERS = new Set(['LOAD', 'GAIN', 'COST', 'PODS', 'MEAN', 'EMA', 'STDDEV', 'RANGE', 'MAX']);

/** The plan for a terminal; `wide` adds owner and reason of each move and every listed rejection. */
export function planTable(plan: RebalancePlan, wide: boolean): string {
  const sections = [`${plan.spec.strategy}: ${plan.spec.message}.`, ...measured(plan, text)];
  if (plan.spec.moves.length > 0) {
    sections.push(text(moveRows(plan, wide)), ...unsteered(plan));
  }
  sections.push(...stays(plan, wide));
  return `${sections.join('\n\n')}\n`;
}

/** The plan for a pull request or a wiki. */
export function planMarkdown(plan: RebalancePlan): string {
  const sections = [
    `## Rebalancing plan of ${plan.spec.policy.name}`,
    `**${plan.spec.strategy}**: ${plan.spec.message}.`,
    ...measured(plan, (table) => renderMarkdownTable(...table)),
  ];
  if (plan.spec.moves.length > 0) {
    sections.push('### Moves', renderMarkdownTable(...moveRows(plan, true)), ...unsteered(plan));
  }
  if (Object.keys(plan.spec.rejectionCounts).length > 0) {
    sections.push('### Pods that stay', renderMarkdownTable(...countRows(plan)));
  }
  return `${sections.join('\n\n')}\n`;
}

function text([header, rows]: Table): string {
  return renderTable(header, rows, NUMBERS);
}

function measured(plan: RebalancePlan, render: (table: Table) => string): readonly string[] {
  const table = imbalanceRows(plan);
  return table[1].length === 0 ? [] : [render(table)];
}

/** How far the scheduler would carry the plan out by itself. */
function unsteered({ spec }: RebalancePlan): readonly string[] {
  const { expectedHitRatio } = spec;
  return expectedHitRatio === undefined
    ? []
    : [`Without steering, ${percent(Number(expectedHitRatio))} of the replacements are expected to land as planned.`];
}

function stays(plan: RebalancePlan, wide: boolean): readonly string[] {
  if (Object.keys(plan.spec.rejectionCounts).length === 0) {
    return [];
  }
  return wide ? [text(countRows(plan)), text(rejectionRows(plan))] : [text(countRows(plan))];
}

function imbalanceRows({ status }: RebalancePlan): Table {
  const rows = LOAD_RESOURCES.flatMap((resource) =>
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

function moveRows({ spec }: RebalancePlan, wide: boolean): Table {
  const header = ['POD', 'FROM', 'TO', 'LOAD', 'GAIN', ...(wide ? ['COST', 'OWNER', 'REASON'] : [])];
  const rows = spec.moves.map(({ pod, owner, from, to, load, gain, cost = '-', reason }) => [
    `${pod.namespace}/${pod.name}`,
    from ?? QUEUE,
    to ?? QUEUE,
    load,
    gain,
    ...(wide ? [cost, `${owner.kind}/${owner.name}`, reason] : []),
  ]);
  return [header, rows];
}

function countRows({ spec }: RebalancePlan): Table {
  return [
    ['STAYS BECAUSE OF', 'PODS'],
    Object.entries(spec.rejectionCounts).map(([code, count]) => [code, String(count)]),
  ];
}

function rejectionRows({ spec }: RebalancePlan): Table {
  const rows = spec.rejections.map(({ pod, code, message }) => [`${pod.namespace}/${pod.name}`, code, message]);
  return [['POD', 'STAYS BECAUSE OF', 'MESSAGE'], rows];
}
