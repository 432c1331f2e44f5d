import type { RebalancePlan } from '../api/v1alpha1/rebalance-plan.ts';
import type { JsonObject } from '../observe/json.ts';
import { renderTable } from '../report/table.ts';
import { type Cluster, type ClusterFlags, connect } from './cluster.ts';
import { Failure } from './failure.ts';
import { type Output, renderObject } from './output.ts';
import type { CommandResult } from './plan.ts';
import { formatFileProblem, readResources } from './policy-file.ts';

/** `evenkeel lint FILE...`: every problem of every file; exit code 1 when there is one. */
export async function lintCommand(files: readonly string[]): Promise<CommandResult> {
  const read = await Promise.all(files.map((file) => readResources(file)));
  const problems = read.flatMap((file) => file.problems);
  const count = read.flatMap((file) => file.resources).length;
  return problems.length > 0
    ? { stdout: `${problems.map(formatFileProblem).join('\n')}\n`, exitCode: 1 }
    : { stdout: `${count} resources, no problems\n`, exitCode: 0 };
}

/** `evenkeel apply -f FILE`: server-side apply of valid resources of ours, all or none of a file. */
export async function applyCommand(
  files: readonly string[],
  flags: ClusterFlags,
  signal: AbortSignal,
): Promise<CommandResult> {
  const read = await Promise.all(files.map((file) => readResources(file)));
  const problems = read.flatMap((file) => file.problems);
  if (problems.length > 0) {
    throw new Failure(problems.map(formatFileProblem).join('\n'));
  }
  const resources = read.flatMap((file) => file.resources);
  return withCluster(flags, async (cluster) => {
    const lines: string[] = [];
    for (const { value } of resources) {
      lines.push(await cluster.apply(value as JsonObject, signal));
    }
    return done(lines);
  });
}

/** `evenkeel approve PLAN`: lets the operator carry out a plan that waits for approval. */
export async function approveCommand(name: string, flags: ClusterFlags, signal: AbortSignal): Promise<CommandResult> {
  return withCluster(flags, async (cluster) => {
    const plan = await cluster.plans.get(name, signal);
    if (plan === undefined) {
      const waiting = (await cluster.plans.list(signal)).filter(({ status }) => status?.phase === 'AwaitingApproval');
      const names = waiting.map(({ metadata }) => metadata.name).join(', ');
      throw new Failure(`there is no RebalancePlan ${name}; waiting for approval: ${names === '' ? 'none' : names}`);
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

/** `evenkeel stop POLICY`: suspends it; moves in flight are verified to their end. */
export async function stopCommand(name: string, flags: ClusterFlags, signal: AbortSignal): Promise<CommandResult> {
  return withCluster(flags, async (cluster) => {
    await cluster.suspend(name, signal);
    const hint = `to go on: kubectl patch rbp ${name} --type=merge -p '{"spec":{"suspend":false}}'`;
    return { ...done([`rebalancepolicy.evenkeel.dev/${name} suspended`]), stderr: `${hint}\n` };
  });
}

/** `evenkeel history [POLICY]`: plans with what they predicted and what was measured, newest first. */
export async function historyCommand(
  policy: string | undefined,
  output: Output,
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

function renderHistory(plans: readonly RebalancePlan[], output: Output): string {
  switch (output) {
    case 'table':
    case 'wide':
      return plans.length === 0 ? 'no plans\n' : `${historyTable(plans, output === 'wide')}\n`;
    case 'name':
      return plans.map(({ metadata }) => `rebalanceplan.evenkeel.dev/${metadata.name}\n`).join('');
    case 'markdown':
      throw new Failure('history has no markdown output: write -o table, wide, json, yaml or name');
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

/** `evenkeel snapshot`: what `evenkeel plan -f` needs, as ordinary Kubernetes objects. */
export async function snapshotCommand(flags: ClusterFlags, signal: AbortSignal): Promise<CommandResult> {
  return withCluster(flags, async (cluster) => ({ stdout: await cluster.snapshotText(signal), exitCode: 0 }));
}

async function withCluster(
  flags: ClusterFlags,
  work: (cluster: Cluster) => Promise<CommandResult>,
): Promise<CommandResult> {
  const cluster = await connect(flags);
  try {
    return await work(cluster);
  } finally {
    await cluster.close();
  }
}

function done(lines: readonly string[]): CommandResult {
  return { stdout: lines.map((line) => `${line}\n`).join(''), exitCode: 0 };
}
