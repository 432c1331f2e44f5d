import { nearest } from '../api/nearest.ts';
import type { RebalancePolicy } from '../api/v1alpha1/rebalance-policy.ts';
import { Failure } from '../app/failure.ts';
import type { AppGraphInfo } from '../model/app-graph.ts';
import { type PodInfo, podKey } from '../model/pod.ts';
import type { ClusterSnapshot } from '../model/snapshot.ts';
import { explainApplication } from '../plan/explain/application.ts';
import { explainNode } from '../plan/explain/node.ts';
import { explainPod } from '../plan/explain/pod.ts';
import { explainWorkload, workloadsIn } from '../plan/explain/workload.ts';
import { type PolicyOptions, reducesTraffic } from '../plan/options.ts';
import { resolveOptions } from '../plan/resolve-options.ts';
import { applicationExplanationText } from '../report/application-explanation-text.ts';
import { nodeExplanationText, podExplanationText } from '../report/explanation-text.ts';
import type { Look } from '../report/table.ts';
import { workloadExplanationText } from '../report/workload-explanation-text.ts';
import type { CommandResult } from './command.ts';
import { type InputFlags, readInput } from './input.ts';
import { renderObject } from './output.ts';
import type { ViewOutput } from './output-formats.ts';
import type { Screen } from './screen.ts';
import { suggestion } from './suggestion.ts';

/** Flags of `evenkeel explain`. */
export interface ExplainFlags extends InputFlags {
  /** Namespace of the pod, workload or AppGraph; `undefined`: whichever has one of that name. */
  readonly namespace: string | undefined;
  readonly output: ViewOutput;
}

/** Kinds of workloads whose pods can be explained together. */
type WorkloadKind =
  | 'CronJob'
  | 'DaemonSet'
  | 'Deployment'
  | 'Job'
  | 'ReplicaSet'
  | 'ReplicationController'
  | 'StatefulSet';

/** What is to be explained. */
export interface ExplainTarget {
  readonly kind: 'pod' | 'node' | 'app' | WorkloadKind;
  /** `undefined`: not said. */
  readonly namespace: string | undefined;
  readonly name: string;
}

/** Names of the kinds, as kubectl has them. */
const KINDS: ReadonlyMap<string, ExplainTarget['kind']> = new Map([
  ['node', 'node'],
  ['nodes', 'node'],
  ['no', 'node'],
  ['pod', 'pod'],
  ['pods', 'pod'],
  ['po', 'pod'],
  ['app', 'app'],
  ['apps', 'app'],
  ['appgraph', 'app'],
  ['appgraphs', 'app'],
  ['appg', 'app'],
  ...namesOf('CronJob', 'cj'),
  ...namesOf('DaemonSet', 'ds'),
  ...namesOf('Deployment', 'deploy'),
  ...namesOf('Job'),
  ...namesOf('ReplicaSet', 'rs'),
  ...namesOf('ReplicationController', 'rc'),
  ...namesOf('StatefulSet', 'sts'),
]);

function namesOf(kind: WorkloadKind, ...short: readonly string[]): readonly (readonly [string, WorkloadKind])[] {
  const singular = kind.toLowerCase();
  return [singular, `${singular}s`, ...short].map((name) => [name, kind] as const);
}

/** Parses `pod/NAME`, `pod/NAMESPACE/NAME`, `node/NAME`, `app/NAME`, `pod NAME` or `deploy/NAME`, and so on. Throws a Failure that says what to write. */
export function parseTarget(words: readonly string[]): ExplainTarget {
  const [kindText = '', ...names] = words.join('/').split('/');
  const kind = KINDS.get(kindText.toLowerCase());
  if (kind === undefined) {
    const meant = nearest(kindText, [...KINDS.keys()]);
    const hint = meant === undefined ? '' : `: ${meant}?`;
    throw new Failure(
      `cannot explain "${words.join(' ')}": write pod/NAME, node/NAME, app/NAME or a workload such as deploy/NAME${hint}`,
    );
  }
  const [name, ...before] = names.toReversed();
  if (name === undefined || names.includes('') || before.length > (kind === 'node' ? 0 : 1)) {
    const forms = kind === 'node' ? 'node/NAME' : `${kindText}/NAME or ${kindText}/NAMESPACE/NAME`;
    throw new Failure(`cannot explain "${words.join(' ')}": write ${forms}`);
  }
  return { kind, namespace: before[0], name };
}

/** Says what every filter, score and budget makes of a pod or node, or why the pods of a workload or application stay or go. Throws Failure, InputError or ApiError for people. */
export async function explainCommand(
  words: readonly string[],
  flags: ExplainFlags,
  screen: Screen,
  signal: AbortSignal,
): Promise<CommandResult> {
  const target = parseTarget(words);
  const { output } = flags;
  const { snapshot, policy } = await readInput(flags, screen, signal);
  const { text, data } = describe(snapshot, policy, target, flags.namespace);
  return {
    stdout:
      output === 'table' || output === 'wide'
        ? text(output === 'wide', screen.look)
        : renderObject(withNulls(data), '', output),
    stderr: snapshot.problems.map((problem) => `warning: ${problem}\n`).join(''),
    exitCode: 0,
  };
}

interface Explained {
  readonly data: object;
  readonly text: (wide: boolean, look: Look) => string;
}

function describe(
  snapshot: ClusterSnapshot,
  policy: RebalancePolicy,
  { kind, namespace, name }: ExplainTarget,
  flag: string | undefined,
): Explained {
  const options = resolveOptions(policy.spec);
  if (namespace !== undefined && flag !== undefined && namespace !== flag) {
    const word = kind.toLowerCase();
    throw new Failure(`${word}/${namespace}/${name} is not in namespace ${flag}: drop -n, or write ${word}/${name}`);
  }
  switch (kind) {
    case 'node':
      return describeNode(snapshot, options, name);
    case 'pod':
      return describePod(snapshot, options, name, namespace ?? flag);
    case 'app':
      return describeApplication(snapshot, policy, name, namespace ?? flag);
    default:
      return describeWorkload(snapshot, options, { kind, name, namespace: namespace ?? flag });
  }
}

function describeWorkload(
  snapshot: ClusterSnapshot,
  options: PolicyOptions,
  { kind, name, namespace }: ExplainTarget,
): Explained {
  const ofKind = workloadsIn(snapshot).filter(
    (each) => each.kind === kind && (namespace === undefined || each.namespace === namespace),
  );
  const [workload, ...others] = ofKind.filter((each) => each.name === name);
  const where = namespace === undefined ? '' : ` in namespace ${namespace}`;
  if (workload === undefined) {
    const names = ofKind.map((each) => each.name);
    throw new Failure(`there is no ${kind} ${name}${where}${suggestion(name, names)}`);
  }
  if (others.length > 0) {
    const all = [workload, ...others].map(podKey).join(', ');
    throw new Failure(`there are several ${kind}s ${name} (${all}): choose one with -n NAMESPACE`);
  }
  const explained = explainWorkload(snapshot, options, workload);
  return { data: explained, text: (wide, look) => workloadExplanationText(explained, wide, look) };
}

/** Throws a Failure for a policy that does not look at traffic. */
function describeApplication(
  snapshot: ClusterSnapshot,
  { metadata, spec }: RebalancePolicy,
  name: string,
  namespace: string | undefined,
): Explained {
  const options = resolveOptions(spec);
  const { strategy } = options;
  if (!reducesTraffic(strategy)) {
    throw new Failure(
      `RebalancePolicy ${metadata.name} is of type ${strategy.type}, which does not look at AppGraphs: choose a policy of type TrafficAware with -p`,
    );
  }
  const graph = findGraph(snapshot, name, namespace);
  const explained = explainApplication(snapshot, options, strategy, graph);
  return { data: explained, text: (wide, look) => applicationExplanationText(explained, wide, look) };
}

function findGraph({ appGraphs = [] }: ClusterSnapshot, name: string, namespace: string | undefined): AppGraphInfo {
  const inScope = appGraphs.filter((graph) => namespace === undefined || graph.namespace === namespace);
  const [graph, ...others] = inScope.filter((each) => each.name === name);
  if (graph === undefined) {
    const where = namespace === undefined ? '' : ` in namespace ${namespace}`;
    const names = inScope.map((each) => each.name);
    throw new Failure(`there is no AppGraph ${name}${where}${suggestion(name, names)}`);
  }
  if (others.length > 0) {
    const all = [graph, ...others].map(podKey).join(', ');
    throw new Failure(`there are several AppGraphs ${name} (${all}): choose one with -n NAMESPACE`);
  }
  return graph;
}

function describePod(
  snapshot: ClusterSnapshot,
  options: PolicyOptions,
  name: string,
  namespace: string | undefined,
): Explained {
  const { uid } = findPod(snapshot, name, namespace);
  const pod = explainPod(snapshot, options, uid);
  if (pod === undefined) {
    throw new RangeError(`pod ${uid} is not in the snapshot that it was found in`);
  }
  return { data: pod, text: (wide, look) => podExplanationText(pod, wide, look) };
}

function findPod({ pods, failedPods = [] }: ClusterSnapshot, name: string, namespace: string | undefined): PodInfo {
  const inScope = [...pods, ...failedPods].filter((pod) => namespace === undefined || pod.namespace === namespace);
  const found = inScope.filter((pod) => pod.name === name);
  const [pod] = found;
  if (pod === undefined) {
    const where = namespace === undefined ? '' : ` in namespace ${namespace}`;
    const names = inScope.map((candidate) => candidate.name);
    throw new Failure(`there is no pod ${name}${where}${suggestion(name, names)}`);
  }
  if (found.length > 1) {
    throw new Failure(`there are several pods ${name} (${found.map(podKey).join(', ')}): choose one with -n NAMESPACE`);
  }
  return pod;
}

function describeNode(snapshot: ClusterSnapshot, options: PolicyOptions, name: string): Explained {
  const names = snapshot.nodes.map((candidate) => candidate.name);
  const node = explainNode(snapshot, options, fullName(name, names));
  if (node === undefined) {
    throw new Failure(`there is no node ${name}${suggestion(name, names)}`);
  }
  return { data: node, text: (wide, look) => nodeExplanationText(node, wide, look) };
}

/** The node that has this name, or this name before its domain, as tables show it. Throws a Failure where several have. */
function fullName(name: string, names: readonly string[]): string {
  const [found = name, ...others] = names.includes(name) ? [name] : names.filter((each) => each.startsWith(`${name}.`));
  if (others.length > 0) {
    throw new Failure(`there are several nodes ${name} (${[found, ...others].join(', ')}): write the full name`);
  }
  return found;
}

/** What is not known is null, so that every object of one kind has the same fields. */
function withNulls(data: object): unknown {
  return JSON.parse(JSON.stringify(data, (_key, value: unknown) => (value === undefined ? null : value)));
}
