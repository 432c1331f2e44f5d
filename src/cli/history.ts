import type { RebalancePlan } from '../api/v1alpha1/rebalance-plan.ts';
import type { ClusterFlags } from '../app/cluster.ts';
import { Failure } from '../app/failure.ts';
import { historyText } from '../report/history-text.ts';
import type { CommandResult } from './command.ts';
import { renderObject } from './output.ts';
import type { HistoryOutput } from './output-formats.ts';
import { withProgress } from './progress.ts';
import type { Screen } from './screen.ts';
import { suggestion } from './suggestion.ts';
import { withCluster } from './with-cluster.ts';

/** Flags of `evenkeel history`. */
export interface HistoryFlags extends ClusterFlags {
  /** Name of a policy; `undefined`: all. */
  readonly policy: string | undefined;
  readonly output: HistoryOutput;
}

/** `evenkeel history [POLICY]`: plans with what they predicted and what was measured, newest first. */
export async function historyCommand(flags: HistoryFlags, screen: Screen, signal: AbortSignal): Promise<CommandResult> {
  const { policy } = flags;
  return withCluster(flags, async (cluster) => {
    const all = await withProgress(screen, 'reading the cluster', () => cluster.plans.list(signal));
    const plans = all
      .filter(({ spec }) => policy === undefined || spec.policy.name === policy)
      .sort((a, b) => b.spec.takenAt.localeCompare(a.spec.takenAt));
    if (policy !== undefined && plans.length === 0) {
      const known = (await cluster.policies.list(signal)).map((stored) => stored.policy.metadata.name);
      checkPolicy(policy, known);
    }
    return { stdout: render(plans, flags.output, screen), exitCode: 0 };
  });
}

function checkPolicy(name: string, known: readonly string[]): void {
  if (!known.includes(name)) {
    throw new Failure(`there is no RebalancePolicy ${name}${suggestion(name, known)}`);
  }
}

function render(plans: readonly RebalancePlan[], output: HistoryOutput, { look }: Screen): string {
  switch (output) {
    case 'table':
    case 'wide':
      return historyText(plans, output === 'wide', look);
    case 'name':
      return plans.map(({ metadata }) => `rebalanceplan.evenkeel.dev/${metadata.name}\n`).join('');
    default:
      return renderObject({ apiVersion: 'v1', kind: 'List', items: plans }, '', output);
  }
}
