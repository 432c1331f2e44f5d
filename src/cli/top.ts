import { Failure } from '../app/failure.ts';
import {
  NODE_SORTS,
  sortNodes,
  sortWorkloads,
  type TopNode,
  type TopWorkload,
  topNodes,
  topWorkloads,
  WORKLOAD_SORTS,
} from '../report/top.ts';
import { topNodesText, topViolationsText, topWorkloadsText } from '../report/top-text.ts';
import { sortViolations, type TopViolation, topViolations, VIOLATION_SORTS } from '../report/top-violations.ts';
import type { CommandResult } from './command.ts';
import { defaultPolicy, readPolicies, readSource, type SnapshotFlags } from './input.ts';
import { renderObject } from './output.ts';
import type { ViewOutput } from './output-formats.ts';
import type { Screen } from './screen.ts';
import { checkNamespace, suggestion } from './suggestion.ts';

/** What `evenkeel top` can show. */
const TOP_SUBJECTS = ['nodes', 'workloads', 'violations'] as const;

/** Flags of `evenkeel top`. */
export interface TopFlags extends SnapshotFlags {
  /** `undefined`: nodes and workloads. */
  readonly subject: string | undefined;
  /** File of a policy, or the name of one, whose scope violations are shown of; `undefined`: the default scope. */
  readonly policy: string | undefined;
  /** Of workloads and violations. */
  readonly namespace: string | undefined;
  readonly sortBy: string | undefined;
  /** Most rows of each table; `undefined`: all. */
  readonly limit: number | undefined;
  readonly output: ViewOutput;
}

interface Shown {
  readonly nodes?: readonly TopNode[];
  readonly workloads?: readonly TopWorkload[];
  readonly violations?: readonly TopViolation[];
}

/** Shows what nodes and workloads have, use and were promised, or what pods violate. Throws Failure, InputError or ApiError for people to read. */
export async function topCommand(flags: TopFlags, screen: Screen, signal: AbortSignal): Promise<CommandResult> {
  const subject = subjectOf(flags.subject);
  if (subject === 'violations') {
    return violationsCommand(flags, screen, signal);
  }
  if (flags.policy !== undefined) {
    throw new Failure('-p chooses the policy of violations: write evenkeel top violations, or drop -p');
  }
  const wants = (each: 'nodes' | 'workloads'): boolean => subject === undefined || subject === each;
  const nodeSort = sortOf(flags.sortBy, NODE_SORTS, subject === 'nodes');
  const workloadSort = sortOf(flags.sortBy, WORKLOAD_SORTS, subject !== 'nodes');
  const { snapshot } = await readSource(flags, screen, signal);
  checkNamespace(flags.namespace, snapshot);
  const some = <Row>(rows: readonly Row[]): readonly Row[] => rows.slice(0, flags.limit);
  const shown: Shown = {
    ...(wants('nodes') ? { nodes: some(sortNodes(topNodes(snapshot), nodeSort)) } : {}),
    ...(wants('workloads')
      ? { workloads: some(sortWorkloads(topWorkloads(snapshot, flags.namespace), workloadSort)) }
      : {}),
  };
  const isUnmeasured = flags.files.length > 0 && snapshot.usage === undefined;
  const unmeasured = isUnmeasured
    ? ['the files hold no metrics: add what kubectl get nodes.metrics.k8s.io,pods.metrics.k8s.io -A -o yaml prints']
    : [];
  return {
    stdout: render(shown, flags.output, screen),
    stderr: [...unmeasured, ...snapshot.problems].map((problem) => `warning: ${problem}\n`).join(''),
    exitCode: 0,
  };
}

/** Violations need no metrics, so none are missed. */
async function violationsCommand(flags: TopFlags, screen: Screen, signal: AbortSignal): Promise<CommandResult> {
  const sort = sortOf(flags.sortBy, VIOLATION_SORTS, true);
  const { snapshot, policies } = await readPolicies(flags, screen, signal);
  checkNamespace(flags.namespace, snapshot);
  const [only] = policies;
  const base = flags.policy === undefined || only === undefined ? defaultPolicy() : only;
  const unseen = snapshot.nodes.length === 0 ? ['there are no nodes, so no violation can be found'] : [];
  const violations = sortViolations(topViolations(snapshot, base, policies, flags.namespace), sort);
  return {
    stdout: render({ violations: violations.slice(0, flags.limit) }, flags.output, screen),
    stderr: [...unseen, ...snapshot.problems].map((problem) => `warning: ${problem}\n`).join(''),
    exitCode: 0,
  };
}

function subjectOf(text: string | undefined): (typeof TOP_SUBJECTS)[number] | undefined {
  const singular = new Map(TOP_SUBJECTS.map((subject) => [subject.slice(0, -1), subject]));
  const known = TOP_SUBJECTS.find((subject) => subject === text) ?? singular.get(text ?? '');
  if (text !== undefined && known === undefined) {
    throw new Failure(`top knows no ${text}${suggestion(text, TOP_SUBJECTS)}`);
  }
  return known;
}

/** The sort key; the first, where the flag means another table. Throws a Failure when a key `isMeant` for here is none. */
function sortOf<Key extends string>(text: string | undefined, keys: readonly [Key, ...Key[]], isMeant: boolean): Key {
  const known = keys.find((key) => key === text);
  if (text !== undefined && known === undefined && isMeant) {
    throw new Failure(`--sort-by ${text} is not a column: write one of ${keys.join(', ')}`);
  }
  return known ?? keys[0];
}

function render(shown: Shown, output: ViewOutput, { look }: Screen): string {
  if (output === 'json' || output === 'yaml') {
    return renderObject(shown, '', output);
  }
  const { nodes, workloads, violations } = shown;
  return [
    ...(nodes === undefined ? [] : [topNodesText(nodes, output === 'wide', look)]),
    ...(workloads === undefined ? [] : [topWorkloadsText(workloads, output === 'wide', look)]),
    ...(violations === undefined ? [] : [topViolationsText(violations, output === 'wide', look)]),
  ].join('\n');
}

/** Parses --limit. Throws a Failure that says what to write. */
export function parseLimit(text: string): number {
  if (!/^[1-9]\d{0,6}$/.test(text)) {
    throw new Failure(`--limit ${text} is not a number of rows: write a whole number such as 20`);
  }
  return Number(text);
}
