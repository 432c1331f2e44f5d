import { nearest } from '../../api/nearest.ts';
import type { Cluster, ClusterFlags } from '../../app/cluster.ts';
import { Failure } from '../../app/failure.ts';
import type { AddCommand, CommandResult } from '../command.ts';
import { clusterFlags, examples, type RawClusterFlags, withClusterFlags } from '../flags.ts';

/** `evenkeel approve PLAN`: lets the operator carry out a plan that waits for approval. */
export const addApprove: AddCommand = (program, { signal, print }) => {
  withClusterFlags(program.command('approve'))
    .description('let the operator carry out a plan that waits for approval')
    .argument('<plan>', 'name of a RebalancePlan')
    .addHelpText('after', examples('evenkeel approve default-4f1c2a9b03'))
    .action(async (name: string, raw: RawClusterFlags) => print(await approve(name, clusterFlags(raw), signal)));
};

async function approve(name: string, flags: ClusterFlags, signal: AbortSignal): Promise<CommandResult> {
  const { done, withCluster } = await import('../with-cluster.ts');
  return withCluster(flags, async (cluster) => {
    const plan = await cluster.plans.get(name, signal);
    if (plan === undefined) {
      throw await noSuchPlan(name, cluster, signal);
    }
    if (plan.status?.phase !== 'AwaitingApproval') {
      const phase = plan.status?.phase ?? 'without a phase';
      throw new Failure(
        `plan ${name} is ${phase}: only a plan in phase AwaitingApproval can be approved (policies with mode: Approve)`,
      );
    }
    await cluster.plans.approve(name, signal);
    return done([`rebalanceplan.evenkeel.dev/${name} approved`]);
  });
}

async function noSuchPlan(name: string, { plans }: Cluster, signal: AbortSignal): Promise<Failure> {
  const waiting = (await plans.list(signal)).filter(({ status }) => status?.phase === 'AwaitingApproval');
  const names = waiting.map(({ metadata }) => metadata.name);
  const list = names.length === 0 ? 'none' : names.join(', ');
  const meant = nearest(name, names);
  const hint = meant === undefined ? '' : `: ${meant}?`;
  return new Failure(`there is no RebalancePlan ${name}${hint}; waiting for approval: ${list}`);
}
