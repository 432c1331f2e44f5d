import { nearest } from '../api/nearest.ts';
import type { RebalancePlan } from '../api/v1alpha1/rebalance-plan.ts';
import type { Cluster, ClusterFlags } from '../app/cluster.ts';
import { Failure } from '../app/failure.ts';
import { count } from '../plan/format.ts';
import { planTable } from '../report/plan-text.ts';
import type { CommandResult } from './command.ts';
import { confirm, type Keyboard } from './confirm.ts';
import { planEnd } from './plan-end.ts';
import type { Screen } from './screen.ts';
import { done, withCluster } from './with-cluster.ts';

/** Flags of `evenkeel approve`. */
export interface ApproveFlags extends ClusterFlags {
  /** Ask nobody. */
  readonly yes: boolean;
  /** Seconds to wait for the end of the plan; `undefined`: do not wait. */
  readonly timeout: number | undefined;
}

/** Shows a plan that waits for approval, asks, and approves it. Throws Failure or ApiError for people to read. */
export async function approveCommand(
  name: string,
  flags: ApproveFlags,
  keyboard: Keyboard,
  screen: Screen,
  signal: AbortSignal,
): Promise<CommandResult> {
  return withCluster(flags, async (cluster) => {
    const plan = await waitingPlan(name, cluster, signal);
    await screen.writeError(planTable(plan, false, screen.look));
    if (!flags.yes) {
      await confirm(`Approve ${count(plan.spec.moves.length, 'move')}?`, keyboard, screen, signal);
    }
    await cluster.plans.approve(name, signal);
    const approved = done([`rebalanceplan.evenkeel.dev/${name} approved`]);
    if (flags.timeout === undefined) {
      return approved;
    }
    await screen.write(approved.stdout);
    return planEnd(name, cluster, flags.timeout, screen, signal);
  });
}

async function waitingPlan(name: string, cluster: Cluster, signal: AbortSignal): Promise<RebalancePlan> {
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
  return plan;
}

async function noSuchPlan(name: string, { plans }: Cluster, signal: AbortSignal): Promise<Failure> {
  const waiting = (await plans.list(signal)).filter(({ status }) => status?.phase === 'AwaitingApproval');
  const names = waiting.map(({ metadata }) => metadata.name);
  const list = names.length === 0 ? 'none' : names.join(', ');
  const meant = nearest(name, names);
  const hint = meant === undefined ? '' : `: ${meant}?`;
  return new Failure(`there is no RebalancePlan ${name}${hint}; waiting for approval: ${list}`);
}
