import { nearest } from '../api/nearest.ts';
import { Failure } from '../app/failure.ts';
import { type PodInfo, podKey } from '../model/pod.ts';
import type { ClusterSnapshot } from '../model/snapshot.ts';
import { explainNode } from '../plan/explain/node.ts';
import { explainPod } from '../plan/explain/pod.ts';
import { type PolicyOptions, resolveOptions } from '../plan/options.ts';
import { nodeExplanationText, podExplanationText } from '../report/explanation-text.ts';
import type { Look } from '../report/table.ts';
import type { CommandResult } from './command.ts';
import { type InputFlags, readInput } from './input.ts';
import { renderObject } from './output.ts';
import type { ViewOutput } from './output-formats.ts';
import type { Screen } from './screen.ts';
import { suggestion } from './suggestion.ts';

/** Flags of `evenkeel explain`. */
export interface ExplainFlags extends InputFlags {
  /** Namespace of the pod; `undefined`: whichever has a pod of that name. */
  readonly namespace: string | undefined;
  readonly output: ViewOutput;
}

/** What is to be explained. */
export interface ExplainTarget {
  readonly kind: 'pod' | 'node';
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
]);

/** Parses `pod/NAME`, `pod/NAMESPACE/NAME`, `node/NAME` or `pod NAME`. Throws a Failure that says what to write. */
export function parseTarget(words: readonly string[]): ExplainTarget {
  const [kindText = '', ...names] = words.join('/').split('/');
  const kind = KINDS.get(kindText.toLowerCase());
  if (kind === undefined) {
    const meant = nearest(kindText, [...KINDS.keys()]);
    const hint = meant === undefined ? '' : `: ${meant}?`;
    throw new Failure(`cannot explain "${words.join(' ')}": write pod/NAME or node/NAME${hint}`);
  }
  const [name, ...before] = names.toReversed();
  if (name === undefined || names.includes('') || before.length > (kind === 'pod' ? 1 : 0)) {
    const forms = kind === 'pod' ? 'pod/NAME or pod/NAMESPACE/NAME' : 'node/NAME';
    throw new Failure(`cannot explain "${words.join(' ')}": write ${forms}`);
  }
  return { kind, namespace: before[0], name };
}

/** Says what every filter, score and budget makes of a pod or node. Throws Failure, InputError or ApiError for people. */
export async function explainCommand(
  words: readonly string[],
  flags: ExplainFlags,
  screen: Screen,
  signal: AbortSignal,
): Promise<CommandResult> {
  const target = parseTarget(words);
  const { output } = flags;
  const { snapshot, policy } = await readInput(flags, screen, signal);
  const options = resolveOptions(policy.spec);
  const { text, data } =
    target.kind === 'pod'
      ? describePod(snapshot, options, target, flags.namespace)
      : describeNode(snapshot, options, target.name);
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

function describePod(
  snapshot: ClusterSnapshot,
  options: PolicyOptions,
  { namespace, name }: ExplainTarget,
  flag: string | undefined,
): Explained {
  if (namespace !== undefined && flag !== undefined && namespace !== flag) {
    throw new Failure(`pod/${namespace}/${name} is not in namespace ${flag}: drop -n, or write pod/${name}`);
  }
  const { uid } = findPod(snapshot, name, namespace ?? flag);
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
  const node = explainNode(snapshot, options, name);
  if (node === undefined) {
    const names = snapshot.nodes.map((candidate) => candidate.name);
    throw new Failure(`there is no node ${name}${suggestion(name, names)}`);
  }
  return { data: node, text: (wide, look) => nodeExplanationText(node, wide, look) };
}

/** What is not known is null, so that every object of one kind has the same fields. */
function withNulls(data: object): unknown {
  return JSON.parse(JSON.stringify(data, (_key, value: unknown) => (value === undefined ? null : value)));
}
