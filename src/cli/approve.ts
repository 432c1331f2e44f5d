import { nearest } from '../api/nearest.ts';
import type { ClusterFlags } from '../app/cluster.ts';
import { Failure } from '../app/failure.ts';
import type { CommandResult } from './command.ts';
import { done, withCluster } from './with-cluster.ts';

/** `evenkeel approve PLAN`: lets the operator carry out a plan that waits for approval. */
export async function approveCommand(name: string, flags: ClusterFlags, signal: AbortSignal): Promise<CommandResult> {
  return withCluster(flags, async (cluster) => {
    const plan = await cluster.plans.get(name, signal);
    if (plan === undefined) {
      const waiting = (await cluster.plans.list(signal)).filter(({ status }) => status?.phase === 'AwaitingApproval');
      const names = waiting.map(({ metadata }) => metadata.name);
      const list = names.length === 0 ? 'none' : names.join(', ');
      const meant = nearest(name, names);
      const hint = meant === undefined ? '' : `: ${meant}?`;
      throw new Failure(`there is no RebalancePlan ${name}${hint}; waiting for approval: ${list}`);
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
