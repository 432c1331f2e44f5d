import type { RebalancePlan } from '../../api/v1alpha1/rebalance-plan.ts';
import type { Cluster, ClusterFlags } from '../../app/cluster.ts';
import type { AddCommand, CommandResult } from '../command.ts';
import {
  clusterFlags,
  examples,
  outputOption,
  type RawClusterFlags,
  type RawWatchFlags,
  withClusterFlags,
  withWatchFlags,
} from '../flags.ts';
import { HISTORY_OUTPUTS, type HistoryOutput } from '../output-formats.ts';
import { withProgress } from '../progress.ts';
import type { Screen } from '../screen.ts';

interface HistoryFlags extends ClusterFlags {
  /** Name of a policy; `undefined`: all. */
  readonly policy: string | undefined;
  readonly output: HistoryOutput;
}

/** `evenkeel history [POLICY]`: plans with what they predicted and what was measured, newest first. */
export const addHistory: AddCommand = (program, { signal, print, screen }) => {
  withWatchFlags(withClusterFlags(program.command('history')))
    .description(
      'list plans with what they predicted and what was measured; with a policy, also the replica that leads it',
    )
    .argument('[policy]', 'name of a RebalancePolicy; default all')
    .addOption(outputOption(HISTORY_OUTPUTS))
    .addHelpText('after', examples('evenkeel history', 'evenkeel history default -o wide', 'evenkeel history -w'))
    .action(async (policy: string | undefined, raw: RawClusterFlags & RawWatchFlags & { output: HistoryOutput }) => {
      const { watched } = await import('../watch.ts');
      const watching = { output: raw.output, files: [], watch: raw.watch === true, interval: raw.interval };
      const flags = { ...clusterFlags(raw), policy, output: raw.output };
      print(await watched(watching, screen, signal, () => history(flags, screen, signal)));
    });
};

async function history(flags: HistoryFlags, screen: Screen, signal: AbortSignal): Promise<CommandResult> {
  const { policy } = flags;
  const [{ withCluster }, { storedPolicy }] = await Promise.all([
    import('../with-cluster.ts'),
    import('../stored-policy.ts'),
  ]);
  return withCluster(flags, async (cluster) => {
    const all = await withProgress(screen, 'reading the cluster', () => cluster.plans.list(signal));
    const plans = all
      .filter(({ spec }) => policy === undefined || spec.policy.name === policy)
      .sort((a, b) => b.spec.takenAt.localeCompare(a.spec.takenAt));
    if (policy !== undefined && plans.length === 0) {
      await storedPolicy(policy, cluster, signal); // throws where there is none of that name
    }
    return {
      stdout: (await leaderLine(flags, cluster, signal)) + (await render(plans, flags.output, screen)),
      exitCode: 0,
    };
  });
}

/** Above tables only. A policy that is gone has no leader, though plans of it may remain. */
async function leaderLine(
  { policy, output }: HistoryFlags,
  { policies }: Cluster,
  signal: AbortSignal,
): Promise<string> {
  if (policy === undefined || !(output === 'table' || output === 'wide')) {
    return '';
  }
  const { leaderText } = await import('../../report/history-text.ts');
  const stored = (await policies.list(signal)).find((each) => each.policy.metadata.name === policy);
  return leaderText(policy, stored?.policy.status?.leader);
}

async function render(plans: readonly RebalancePlan[], output: HistoryOutput, { look }: Screen): Promise<string> {
  const { historyText } = await import('../../report/history-text.ts');
  const { renderObject } = await import('../output.ts');
  switch (output) {
    case 'table':
    case 'wide':
      return historyText(plans, output === 'wide', look);
    case 'name':
      return plans
        .map(({ metadata }) => renderObject({}, `rebalanceplan.evenkeel.dev/${metadata.name}`, output))
        .join('');
    default:
      return renderObject({ apiVersion: 'v1', kind: 'List', items: plans }, '', output);
  }
}
