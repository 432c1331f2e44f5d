import { isApiError } from '../adapters/kubernetes/api-error.ts';
import { readObjectFiles } from '../adapters/snapshot-file/read-files.ts';
import { isRecord } from '../api/json-schema.ts';
import type { RebalancePolicy } from '../api/v1alpha1/rebalance-policy.ts';
import { API_VERSION } from '../api/v1alpha1/schema.ts';
import { formatProblem, validatePolicy } from '../api/validate.ts';
import { scheduleProblems } from '../control/schedule.ts';
import type { ClusterSnapshot } from '../model/snapshot.ts';
import { expandLists } from '../observe/expand.ts';
import { buildSnapshot } from '../observe/snapshot-builder.ts';
import type { Cluster, ClusterFlags } from './cluster.ts';
import { Failure } from './failure.ts';
import { withProgress } from './progress.ts';
import type { Screen } from './screen.ts';
import { suggestion } from './suggestion.ts';

/** Where a snapshot comes from. */
export interface SnapshotFlags extends ClusterFlags {
  /** Snapshot files, `-` for standard input; empty: the live cluster. */
  readonly files: readonly string[];
}

/** What the planner is asked about. */
export interface InputFlags extends SnapshotFlags {
  /** File of a policy, or the name of one on the cluster or in the snapshot. */
  readonly policy: string | undefined;
}

/** A snapshot, and the policy to plan by. */
export interface Input {
  readonly snapshot: ClusterSnapshot;
  readonly policy: RebalancePolicy;
  /** File to which remarks on the policy belong; `undefined` when there is none. */
  readonly policyFile: string | undefined;
}

/** A snapshot with the policies that came with it. */
export interface Source {
  readonly snapshot: ClusterSnapshot;
  readonly policies: readonly RebalancePolicy[];
}

/**
 * Reads what a command plans from; without a policy anywhere, one of defaults. Throws Failure, InputError or ApiError for
 * people to read.
 */
export async function readInput(flags: InputFlags, screen: Screen, signal: AbortSignal): Promise<Input> {
  const fromFile = await readPolicyFile(flags.policy, flags.files);
  const source = await readSource(flags, screen, signal);
  return {
    snapshot: source.snapshot,
    policy: fromFile ?? scheduled(choosePolicy(source.policies, flags.policy)),
    policyFile: [flags.policy, ...flags.files].find((file) => isFile(file) && file !== '-'),
  };
}

/** A snapshot with two policies, which are both named. Throws as readInput does. */
export async function readPair(
  [left, right]: readonly [string, string],
  flags: SnapshotFlags,
  screen: Screen,
  signal: AbortSignal,
): Promise<{ readonly snapshot: ClusterSnapshot; readonly policies: readonly [RebalancePolicy, RebalancePolicy] }> {
  if (left === '-' && right === '-') {
    throw new Failure(
      '- is written twice, but standard input can be read only once: write a file name for one of them',
    );
  }
  const leftFile = await readPolicyFile(left, flags.files);
  const rightFile = await readPolicyFile(right, flags.files);
  const { snapshot, policies } = await readSource(flags, screen, signal);
  const pair = [
    leftFile ?? scheduled(choosePolicy(policies, left)),
    rightFile ?? scheduled(choosePolicy(policies, right)),
  ] as const;
  return { snapshot, policies: pair };
}

/** Reads a snapshot, and the policies that are with it. Throws Failure, InputError or ApiError for people to read. */
export function readSource(flags: SnapshotFlags, screen: Screen, signal: AbortSignal): Promise<Source> {
  return flags.files.length > 0
    ? withProgress(screen, 'reading', () => fromFiles(flags.files))
    : withProgress(screen, 'reading the cluster', () => fromCluster(flags, signal));
}

async function readPolicyFile(
  policy: string | undefined,
  files: readonly string[],
): Promise<RebalancePolicy | undefined> {
  if (policy === '-' && files.includes('-')) {
    throw new Failure('snapshot and policy cannot both be -, standard input: write a file name for one of them');
  }
  if (!isFile(policy)) {
    return undefined;
  }
  const { readPolicy } = await import('./policy-file.ts');
  return readPolicy(policy);
}

function isFile(policy: string | undefined): policy is string {
  return policy !== undefined && (policy === '-' || /[/\\]|\.(ya?ml|json)$/.test(policy));
}

async function fromFiles(files: readonly string[]): Promise<Source> {
  if (files.filter((file) => file === '-').length > 1) {
    throw new Failure('-f - is written twice, but standard input can be read only once: write it once');
  }
  const objects = await readObjectFiles(files, process.stdin);
  return { snapshot: buildSnapshot(objects), policies: policiesIn(objects) };
}

function policiesIn(objects: readonly unknown[]): readonly RebalancePolicy[] {
  const all = objects.flatMap((object) => [...expandLists(object)]);
  return all
    .filter(
      (object) => isRecord(object) && object['kind'] === 'RebalancePolicy' && object['apiVersion'] === API_VERSION,
    )
    .map(validOrFail);
}

async function fromCluster(flags: ClusterFlags, signal: AbortSignal): Promise<Source> {
  const { connect } = await import('./cluster.ts');
  const cluster = await connect(flags);
  try {
    const [snapshot, policies] = await Promise.all([cluster.reader.snapshot(signal), storedPolicies(cluster, signal)]);
    return { snapshot, policies };
  } finally {
    await cluster.close();
  }
}

/** Policies on the cluster; none where our kinds are not installed, since a plan only needs to read. */
async function storedPolicies(cluster: Cluster, signal: AbortSignal): Promise<readonly RebalancePolicy[]> {
  try {
    return (await cluster.policies.list(signal)).map(({ policy }) => policy);
  } catch (error) {
    if (isApiError(error, 'NotServed', 'Forbidden')) {
      return [];
    }
    throw error;
  }
}

function validOrFail(object: unknown): RebalancePolicy {
  const { value, problems } = validatePolicy(object);
  if (problems.length > 0) {
    throw new Failure(`RebalancePolicy ${value.metadata?.name}: ${problems.map(formatProblem).join('; ')}`);
  }
  return value;
}

/** Throws a Failure for a schedule that cannot be evaluated, as a policy file is refused for one. */
function scheduled(policy: RebalancePolicy): RebalancePolicy {
  const problems = scheduleProblems(policy.spec);
  if (problems.length > 0) {
    throw new Failure(`RebalancePolicy ${policy.metadata.name}: ${problems.map(formatProblem).join('; ')}`);
  }
  return policy;
}

/** The policy of this name, or the only one; the one of defaults when there is none. Throws a Failure that lists them. */
export function choosePolicy(policies: readonly RebalancePolicy[], name: string | undefined): RebalancePolicy {
  const names = policies.map(({ metadata }) => metadata.name);
  if (name !== undefined) {
    const named = policies.find(({ metadata }) => metadata.name === name);
    if (named === undefined) {
      throw new Failure(
        `there is no RebalancePolicy ${name}${suggestion(name, names)}. For a file, write a path that ends in .yaml`,
      );
    }
    return named;
  }
  const [only, ...others] = policies;
  if (others.length > 0) {
    throw new Failure(`there are several RebalancePolicies (${names.join(', ')}): choose one with -p NAME`);
  }
  return only ?? defaultPolicy();
}

/** The policy of somebody who has written none: every default. */
function defaultPolicy(): RebalancePolicy {
  return validOrFail({ apiVersion: API_VERSION, kind: 'RebalancePolicy', metadata: { name: 'default' }, spec: {} });
}
