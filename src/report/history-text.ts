import type { RebalancePlan } from '../api/v1alpha1/rebalance-plan.ts';
import { escapeText } from '../model/escape.ts';
import { roundPercent } from '../plan/format.ts';
import { describeMisses } from '../steer/explain-miss.ts';
import { type Look, PLAIN, renderTable, type Tone } from './table.ts';

const NUMBERS = new Set(['REPAIRS', 'LANDED', 'BEFORE', 'PLANNED', 'ACTUAL']);
const TONES: Readonly<Record<string, Tone>> = {
  Completed: 'good',
  Aborted: 'bad',
  AwaitingApproval: 'notice',
  Executing: 'notice',
  Superseded: 'quiet',
};

/**
 * Plans with what they predicted beside what was measured, for a terminal: a row for each plan and resource. `wide` adds the policy,
 * repairs, why replacements missed their node, and the message.
 */
export function historyText(plans: readonly RebalancePlan[], wide: boolean, look: Look = PLAIN): string {
  const only = (...columns: readonly string[]): readonly string[] => (wide ? columns : []);
  const header = [
    ...['PLAN', ...only('POLICY'), 'TAKEN', 'PHASE', ...only('REPAIRS'), 'LANDED', ...only('MISSED')],
    ...['SPREAD OF', 'BEFORE', 'PLANNED', 'ACTUAL', ...only('MESSAGE')],
  ];
  const rows = plans.flatMap((plan) => rowsOf(plan, wide));
  return plans.length === 0 ? 'no plans\n' : `${renderTable(header, rows, NUMBERS, look, toneOf)}\n`;
}

/** A line that says which replica leads a policy, to go above its plans; empty where none is known. */
export function leaderText(policy: string, leader: string | undefined): string {
  return leader === undefined ? '' : `${escapeText(`policy ${policy} is led by ${leader}`)}\n\n`;
}

function repairsIn({ spec }: RebalancePlan): number {
  return spec.moves.filter(({ repairs = [] }) => repairs.length > 0).length;
}

function rowsOf(plan: RebalancePlan, wide: boolean): readonly (readonly string[])[] {
  const { metadata, spec, status } = plan;
  const only = (cell: string): readonly string[] => (wide ? [cell] : []);
  const { total = spec.moves.length, landed = 0 } = status?.summary ?? {};
  const taken = spec.takenAt.replace('T', ' ').replace(/\.\d+Z$/, 'Z');
  const moved = [...only(String(repairsIn(plan))), `${landed} of ${total}`];
  const misses = only(describeMisses(status?.moves ?? []) || '-');
  const head = [metadata.name, ...only(spec.policy.name), taken, status?.phase ?? '-', ...moved, ...misses];
  const tail = only(status?.message ?? '');
  const measured = Object.keys(status?.imbalance?.before ?? {});
  if (measured.length === 0) {
    return [[...head, '-', '-', '-', '-', ...tail]];
  }
  return measured.map((resource) => {
    const spreads = (['before', 'planned', 'actual'] as const).map((phase) => {
      const spread = status?.imbalance?.[phase]?.[resource]?.range;
      return spread === undefined ? '-' : roundPercent(Number(spread));
    });
    return [...head, resource, ...spreads, ...tail];
  });
}

function toneOf(column: string, cell: string): Tone | undefined {
  return column === 'PHASE' ? TONES[cell] : undefined;
}
