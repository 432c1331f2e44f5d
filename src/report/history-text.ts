import type { RebalancePlan } from '../api/v1alpha1/rebalance-plan.ts';
import { describeMisses } from '../steer/explain-miss.ts';
import { type Look, PLAIN, renderTable, type Tone } from './table.ts';

const NUMBERS = new Set(['MOVES', 'REPAIRS', 'LANDED', 'BEFORE', 'PLANNED', 'ACTUAL']);
const TONES: Readonly<Record<string, Tone>> = {
  Completed: 'good',
  Aborted: 'bad',
  AwaitingApproval: 'notice',
  Executing: 'notice',
  Superseded: 'quiet',
};

/**
 * Plans with what they predicted beside what was measured, for a terminal: a row for each plan and resource. How many moves repair
 * something is said where any does.
 */
export function historyText(plans: readonly RebalancePlan[], wide: boolean, look: Look = PLAIN): string {
  const repairing = plans.some((plan) => repairsIn(plan) > 0);
  const header = [
    'PLAN',
    'POLICY',
    'TAKEN',
    'PHASE',
    'MOVES',
    ...(repairing ? ['REPAIRS'] : []),
    'LANDED',
    'MISSED',
    'STDDEV OF',
    'BEFORE',
    'PLANNED',
    'ACTUAL',
  ];
  const rows = plans.flatMap((plan) => rowsOf(plan, wide, repairing));
  return plans.length === 0
    ? 'no plans\n'
    : `${renderTable(wide ? [...header, 'MESSAGE'] : header, rows, NUMBERS, look, toneOf)}\n`;
}

function repairsIn({ spec }: RebalancePlan): number {
  return spec.moves.filter(({ repairs = [] }) => repairs.length > 0).length;
}

function rowsOf(plan: RebalancePlan, wide: boolean, repairing: boolean): readonly (readonly string[])[] {
  const { metadata, spec, status } = plan;
  const measured = Object.keys(status?.imbalance?.before ?? {});
  const { total = spec.moves.length, landed = 0 } = status?.summary ?? {};
  const repaired = repairing ? [String(repairsIn(plan))] : [];
  const moved = [String(total), ...repaired, String(landed)];
  const head = [metadata.name, spec.policy.name, spec.takenAt, status?.phase ?? '-', ...moved];
  const misses = describeMisses(status?.moves ?? []) || '-';
  const tail = wide ? [status?.message ?? ''] : [];
  if (measured.length === 0) {
    return [[...head, misses, '-', '-', '-', '-', ...tail]];
  }
  return measured.map((resource) => {
    const stddev = (phase: 'before' | 'planned' | 'actual'): string =>
      status?.imbalance?.[phase]?.[resource]?.stddev ?? '-';
    return [...head, misses, resource, stddev('before'), stddev('planned'), stddev('actual'), ...tail];
  });
}

function toneOf(column: string, cell: string): Tone | undefined {
  return column === 'PHASE' ? TONES[cell] : undefined;
}
