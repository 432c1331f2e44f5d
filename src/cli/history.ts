import type { RebalancePlan } from '../api/v1alpha1/rebalance-plan.ts';
import { renderTable } from '../report/table.ts';
import type { ClusterFlags } from './cluster.ts';
import type { CommandResult } from './command.ts';
import { renderObject } from './output.ts';
import type { HistoryOutput } from './output-formats.ts';
import { withCluster } from './with-cluster.ts';

/** `evenkeel history [POLICY]`: plans with what they predicted and what was measured, newest first. */
export async function historyCommand(
  policy: string | undefined,
  output: HistoryOutput,
  flags: ClusterFlags,
  signal: AbortSignal,
): Promise<CommandResult> {
  return withCluster(flags, async (cluster) => {
    const plans = (await cluster.plans.list(signal))
      .filter(({ spec }) => policy === undefined || spec.policy.name === policy)
      .sort((a, b) => b.spec.takenAt.localeCompare(a.spec.takenAt));
    return { stdout: renderHistory(plans, output), exitCode: 0 };
  });
}

function renderHistory(plans: readonly RebalancePlan[], output: HistoryOutput): string {
  switch (output) {
    case 'table':
    case 'wide':
      return plans.length === 0 ? 'no plans\n' : `${historyTable(plans, output === 'wide')}\n`;
    case 'name':
      return plans.map(({ metadata }) => `rebalanceplan.evenkeel.dev/${metadata.name}\n`).join('');
    default:
      return renderObject({ apiVersion: 'v1', kind: 'List', items: plans }, '', output);
  }
}

const HISTORY_NUMBERS = new Set(['MOVES', 'LANDED', 'BEFORE', 'PLANNED', 'ACTUAL']);

function historyTable(plans: readonly RebalancePlan[], wide: boolean): string {
  const header = ['PLAN', 'POLICY', 'TAKEN', 'PHASE', 'MOVES', 'LANDED', 'STDDEV OF', 'BEFORE', 'PLANNED', 'ACTUAL'];
  const rows = plans.flatMap(({ metadata, spec, status }) =>
    (['cpu', 'memory'] as const)
      .filter((resource) => status?.imbalance?.before?.[resource] !== undefined)
      .map((resource) => {
        const stddev = (phase: 'before' | 'planned' | 'actual'): string =>
          status?.imbalance?.[phase]?.[resource]?.stddev ?? '-';
        const { total = spec.moves.length, landed = 0 } = status?.summary ?? {};
        const figures = [
          String(total),
          String(landed),
          resource,
          stddev('before'),
          stddev('planned'),
          stddev('actual'),
        ];
        return [metadata.name, spec.policy.name, spec.takenAt, status?.phase ?? '-', ...figures, status?.message ?? ''];
      }),
  );
  return wide
    ? renderTable([...header, 'MESSAGE'], rows, HISTORY_NUMBERS)
    : renderTable(
        header,
        rows.map((row) => row.slice(0, header.length)),
        HISTORY_NUMBERS,
      );
}
