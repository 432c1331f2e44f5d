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
import { type Cluster, type ClusterFlags, connect } from './cluster.ts';
import { Failure } from './failure.ts';
import { readPolicy } from './policy-file.ts';

/** What the planner is asked about. */
export interface InputFlags extends ClusterFlags {
  /** Snapshot files, `-` for standard input; empty: the live cluster. */
  readonly files: readonly string[];
  /** File of a policy, or the name of one on the cluster or in the snapshot. */
  readonly policy: string | undefined;
}

/** A snapshot, and the policy to plan by. */
export interface Input {
  readonly snapshot: ClusterSnapshot;
  readonly policy: RebalancePolicy;
}

/**
 * Reads what a command plans from; without a policy anywhere, one of defaults. Throws Failure, InputError or ApiError for
 * people to read.
 */
export async function readInput(flags: InputFlags, signal: AbortSignal): Promise<Input> {
  const filePolicy = isFile(flags.policy) ? await readPolicy(flags.policy) : undefined;
  const source = flags.files.length > 0 ? await fromFiles(flags.files) : await fromCluster(flags, signal);
  return { snapshot: source.snapshot, policy: filePolicy ?? scheduled(choosePolicy(source.policies, flags.policy)) };
}

interface Source {
  readonly snapshot: ClusterSnapshot;
  readonly policies: readonly RebalancePolicy[];
}

function isFile(policy: string | undefined): policy is string {
  return policy !== undefined && (policy === '-' || /[/\\]|\.(ya?ml|json)$/.test(policy));
}

async function fromFiles(files: readonly string[]): Promise<Source> {
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

function choosePolicy(policies: readonly RebalancePolicy[], name: string | undefined): RebalancePolicy {
  const names = policies.map(({ metadata }) => metadata.name).join(', ');
  if (name !== undefined) {
    const named = policies.find(({ metadata }) => metadata.name === name);
    if (named === undefined) {
      const there = policies.length === 0 ? 'there are none' : `there are ${names}`;
      throw new Failure(`there is no RebalancePolicy ${name}; ${there}. For a file, write a path that ends in .yaml`);
    }
    return named;
  }
  const [only, ...others] = policies;
  if (others.length > 0) {
    throw new Failure(`there are several RebalancePolicies (${names}): choose one with -p NAME`);
  }
  return only ?? defaultPolicy();
}

/** The policy of somebody who has written none: every default. */
function defaultPolicy(): RebalancePolicy {
  return validOrFail({ apiVersion: API_VERSION, kind: 'RebalancePolicy', metadata: { name: 'default' }, spec: {} });
}
