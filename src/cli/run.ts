import type { RebalancePolicy } from '../api/v1alpha1/rebalance-policy.ts';
import type { Cluster, ClusterFlags } from '../app/cluster.ts';
import { Failure } from '../app/failure.ts';
import { escapeText } from '../model/escape.ts';
import { count } from '../plan/format.ts';
import type { StoredPolicy } from '../ports.ts';
import type { CommandResult } from './command.ts';
import { planEnd } from './plan-end.ts';
import type { Screen } from './screen.ts';
import { resumeCommand, storedPolicy } from './stored-policy.ts';
import { type Look, waitFor } from './wait.ts';
import { done, withCluster } from './with-cluster.ts';

/** Flags of `evenkeel run`. */
export interface RunFlags extends ClusterFlags {
  /** Seconds to wait for the run, and for the end of a plan that is carried out; `undefined`: do not wait. */
  readonly timeout: number | undefined;
}

/** Asks the operator for a run of a policy now. Throws Failure or ApiError for people to read. */
export async function runCommand(
  name: string,
  flags: RunFlags,
  screen: Screen,
  signal: AbortSignal,
): Promise<CommandResult> {
  return withCluster(flags, async (cluster) => {
    checkRunnable(await storedPolicy(name, cluster, signal));
    const request = await cluster.requestRun(name, signal);
    const requested = done([`rebalancepolicy.evenkeel.dev/${name} run requested`]);
    if (flags.timeout === undefined) {
      return requested;
    }
    await screen.write(requested.stdout);
    return runEnd(name, request, flags.timeout, cluster, screen, signal);
  });
}

/** Throws a Failure for a policy that the operator does not run. */
function checkRunnable({ policy: { metadata, spec, status }, invalid }: StoredPolicy): void {
  if (spec.suspend) {
    throw new Failure(
      `policy ${metadata.name} is suspended, so it does not run: resume it with ${resumeCommand(metadata.name)}`,
    );
  }
  const accepted = status?.conditions?.find(({ type }) => type === 'Accepted');
  // A policy that shares pods with an older one runs on its other pods.
  const isRefused = accepted?.status === 'False' && accepted.reason !== 'Conflicting';
  const problem = invalid.length > 0 ? invalid.join('; ') : isRefused ? accepted.message : undefined;
  if (problem !== undefined) {
    throw new Failure(`policy ${metadata.name} is not accepted, so it does not run: ${problem}`);
  }
}

async function runEnd(
  name: string,
  request: string,
  timeout: number,
  cluster: Cluster,
  screen: Screen,
  signal: AbortSignal,
): Promise<CommandResult> {
  const wait = { otherwise: `policy ${name} has not run`, timeout };
  const policy = await waitFor(wait, screen, signal, async () =>
    lookAt((await storedPolicy(name, cluster, signal)).policy, request),
  );
  const result = resultOf(policy);
  const plan = policy.status?.history?.[0]?.plan;
  const phase = plan === undefined ? undefined : (await cluster.plans.get(plan, signal))?.status?.phase;
  if (plan !== undefined && phase === 'AwaitingApproval') {
    return { ...result, stderr: `to carry it out: evenkeel approve ${plan}\n` };
  }
  if (plan === undefined || phase === 'Proposed') {
    return result;
  }
  await screen.write(result.stdout);
  return planEnd(plan, cluster, timeout, screen, signal);
}

function lookAt(policy: RebalancePolicy, request: string): Look<RebalancePolicy> {
  const { metadata, spec, status } = policy;
  if (status?.lastRunRequest === request) {
    return { kind: 'Done', result: policy };
  }
  if (spec.suspend) {
    throw new Failure(`policy ${metadata.name} was suspended before it ran`);
  }
  return { kind: 'Waiting', why: whyNotYet(policy) };
}

function whyNotYet({ status }: RebalancePolicy): string {
  const of = (wanted: string) => status?.conditions?.find(({ type }) => type === wanted);
  if (of('Executing')?.status === 'True') {
    return 'it waits for the plan that is carried out';
  }
  const fresh = of('MetricsFresh');
  return fresh?.status === 'False'
    ? (fresh.message ?? fresh.reason)
    : 'the operator has not answered yet: is it running?';
}

/** What a run came to; exit code 4 when it could not see the load. */
function resultOf({ metadata, status }: RebalancePolicy): CommandResult {
  const run = status?.history?.[0];
  const isBlind = run?.outcome === 'MetricsUnavailable' || run?.outcome === 'MetricsIncomplete';
  const why = status?.conditions?.find(({ type }) => type === (isBlind ? 'MetricsFresh' : 'PlanReady'))?.message;
  const found = run === undefined || run.moves === 0 ? 'no moves' : count(run.moves, 'move');
  const plan = run?.plan === undefined ? '' : `, plan ${run.plan}`;
  return {
    ...done([`rebalancepolicy.evenkeel.dev/${metadata.name} ran: ${found}${plan}`]),
    stderr: run?.plan !== undefined || why === undefined ? '' : `${escapeText(why)}\n`,
    exitCode: isBlind ? 4 : 0,
  };
}
