import { isApiError } from '../adapters/kubernetes/api-error.ts';
import { expandFolders } from '../adapters/snapshot-file/folders.ts';
import { readObjectFiles } from '../adapters/snapshot-file/read-files.ts';
import { isRecord } from '../api/json-schema.ts';
import type { RebalancePolicy } from '../api/v1alpha1/rebalance-policy.ts';
import { API_VERSION } from '../api/v1alpha1/schema.ts';
import { formatProblem, validatePolicy } from '../api/validate.ts';
import type { Cluster, ClusterFlags } from '../app/cluster.ts';
import { Failure } from '../app/failure.ts';
import type { PrometheusFlags } from '../app/usage-servers.ts';
import { scheduleProblems } from '../control/schedule.ts';
import type { ClusterSnapshot } from '../model/snapshot.ts';
import { expandLists } from '../observe/expand.ts';
import { buildSnapshot } from '../observe/snapshot-builder.ts';
import { resolveOptions } from '../plan/resolve-options.ts';
import { unknownNamespaces } from '../plan/scope.ts';
import type { FilePolicy } from './policy-file.ts';
import { withProgress } from './progress.ts';
import type { Screen } from './screen.ts';
import { suggestion } from './suggestion.ts';

/** Where a snapshot comes from. */
export interface SnapshotFlags extends ClusterFlags {
  /** Snapshot files, `-` for standard input; empty: the live cluster. */
  readonly files: readonly string[];
}

/** Where a snapshot comes from, and where policies may have its load measured. */
export interface MeasuredFlags extends SnapshotFlags {
  readonly prometheus: PrometheusFlags;
}

/** What the planner is asked about. */
export interface InputFlags extends MeasuredFlags {
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
  const policy = fromFile?.policy ?? scheduled(choosePolicy(source.policies, flags.policy));
  return {
    snapshot: await measuredFor(policy, source.snapshot, flags, signal),
    policy,
    policyFile: fromFile?.file ?? (await expandFolders(flags.files)).find((file) => file !== '-'),
  };
}

/**
 * Reads a snapshot and the policy that is named, or all that come with it. Throws Failure, InputError or ApiError for people to
 * read, also when files lack what a policy selects by.
 */
export async function readPolicies(
  flags: SnapshotFlags & Pick<InputFlags, 'policy'>,
  screen: Screen,
  signal: AbortSignal,
): Promise<Source> {
  const fromFile = await readPolicyFile(flags.policy, flags.files);
  const { snapshot, policies: all } = await readSource(flags, screen, signal);
  const named = fromFile?.policy ?? (flags.policy === undefined ? undefined : choosePolicy(all, flags.policy));
  const policies = named === undefined ? all : [named];
  for (const policy of flags.files.length > 0 ? policies : []) {
    checkNamespaces(policy, snapshot);
  }
  return { snapshot, policies };
}

/** Two policies, which are both named, on one snapshot, each with its load as that policy measures it. Throws as readInput does. */
export async function readPair(
  [left, right]: readonly [string, string],
  flags: MeasuredFlags,
  screen: Screen,
  signal: AbortSignal,
): Promise<readonly [PolicyOnSnapshot, PolicyOnSnapshot]> {
  if (left === '-' && right === '-') {
    throw new Failure(
      '- is written twice, but standard input can be read only once: write a file name for one of them',
    );
  }
  const leftFile = await readPolicyFile(left, flags.files);
  const rightFile = await readPolicyFile(right, flags.files);
  const { snapshot, policies } = await readSource(flags, screen, signal);
  const on = async (policy: RebalancePolicy): Promise<PolicyOnSnapshot> => ({
    policy,
    snapshot: await measuredFor(policy, snapshot, flags, signal),
  });
  return [
    await on(leftFile?.policy ?? scheduled(choosePolicy(policies, left))),
    await on(rightFile?.policy ?? scheduled(choosePolicy(policies, right))),
  ];
}

/** A policy, and what it is to plan from. */
export interface PolicyOnSnapshot {
  readonly policy: RebalancePolicy;
  readonly snapshot: ClusterSnapshot;
}

/** Throws a Failure when a policy selects namespaces by labels, and files with pods lack the namespaces. */
function checkNamespaces({ metadata, spec }: RebalancePolicy, snapshot: ClusterSnapshot): void {
  const missing = unknownNamespaces(resolveOptions(spec).scope, snapshot);
  if (missing.length > 0) {
    const shown =
      missing.length > 5 ? `${missing.slice(0, 5).join(', ')} and ${missing.length - 5} more` : missing.join(', ');
    throw new Failure(
      `RebalancePolicy ${metadata.name}: spec.scope.namespaceSelector selects by labels, and the files hold no Namespace ${shown}: add what kubectl get namespaces -o yaml prints`,
    );
  }
}

/** The snapshot of a live cluster with load and traffic from where the policy reads them; files have what is in them. */
async function measuredFor(
  policy: RebalancePolicy,
  snapshot: ClusterSnapshot,
  { files, prometheus }: MeasuredFlags,
  signal: AbortSignal,
): Promise<ClusterSnapshot> {
  const { metadata, spec } = policy;
  if (files.length > 0) {
    checkNamespaces(policy, snapshot);
  }
  const asksServers = spec.load.source === 'Prometheus' || snapshot.appGraphs?.some(({ query }) => query !== undefined);
  if (asksServers !== true || files.length > 0) {
    return snapshot;
  }
  const [{ openUsageServers }, { serverProblems, withUsage }, { withTraffic }] = await Promise.all([
    import('../app/usage-servers.ts'),
    import('../control/usage-source.ts'),
    import('../control/traffic-source.ts'),
  ]);
  const servers = openUsageServers(prometheus);
  const problems = serverProblems(spec, servers, 'add');
  if (problems.length > 0) {
    throw new Failure(`RebalancePolicy ${metadata.name}: ${problems.map(formatProblem).join('; ')}`);
  }
  return withTraffic(spec, await withUsage(spec, snapshot, servers, signal), servers, signal);
}

/** Reads a snapshot, and the policies that are with it. Throws Failure, InputError or ApiError for people to read. */
export function readSource(flags: SnapshotFlags, screen: Screen, signal: AbortSignal): Promise<Source> {
  return flags.files.length > 0
    ? withProgress(screen, 'reading', () => fromFiles(flags.files))
    : withProgress(screen, 'reading the cluster', () => fromCluster(flags, signal));
}

async function readPolicyFile(policy: string | undefined, files: readonly string[]): Promise<FilePolicy | undefined> {
  if (policy === '-' && files.includes('-')) {
    throw new Failure('snapshot and policy cannot both be -, standard input: write a file name for one of them');
  }
  if (!isPolicyFile(policy)) {
    return undefined;
  }
  const { readPolicy } = await import('./policy-file.ts');
  return readPolicy(policy);
}

/** Whether -p names a file or folder, and not a policy on the cluster or in the snapshot. */
export function isPolicyFile(policy: string | undefined): policy is string {
  return policy !== undefined && /^-$|^\.{1,2}$|[/\\]|\.(ya?ml|json)$/.test(policy);
}

async function fromFiles(files: readonly string[]): Promise<Source> {
  if (files.filter((file) => file === '-').length > 1) {
    throw new Failure('-f - is written twice, but standard input can be read only once: write it once');
  }
  const objects = await readObjectFiles(await expandFolders(files), process.stdin);
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
  const { connect } = await import('../app/cluster.ts');
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
export function defaultPolicy(): RebalancePolicy {
  return validOrFail({ apiVersion: API_VERSION, kind: 'RebalancePolicy', metadata: { name: 'default' }, spec: {} });
}
