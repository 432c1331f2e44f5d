import { parse } from 'yaml';
import { logNormalOf, uniformOf } from './log-normal.ts';
import {
  type Amount,
  type NamespaceEntry,
  type NodeEntry,
  parseScenarioFile,
  type ScenarioFile,
  type WorkloadEntry,
} from './scenario-schema.ts';

/** A cluster to set up, with everything that was drawn at random decided. */
export interface Scenario {
  /** The file's name without its ending. */
  readonly name: string;
  readonly namespaces: readonly NamespaceEntry[];
  readonly nodes: readonly ScenarioNode[];
  readonly workloads: readonly ScenarioWorkload[];
  readonly manifests: readonly object[];
}

/** One node. */
export interface ScenarioNode {
  readonly name: string;
  readonly cpu: string;
  readonly memory: string;
  readonly pods: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: NonNullable<NodeEntry['taints']>;
  readonly startEmpty: boolean;
}

/** One Deployment, StatefulSet or DaemonSet. */
export interface ScenarioWorkload {
  readonly name: string;
  readonly namespace: string;
  readonly kind: NonNullable<WorkloadEntry['kind']>;
  readonly replicas: number;
  readonly requests: Readonly<Record<string, string>>;
  /** What each pod uses, as quantities. */
  readonly usage: { readonly cpu: string; readonly memory: string };
  readonly startup: string | undefined;
  readonly termination: string | undefined;
  readonly pdb: WorkloadEntry['pdb'];
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly podSpec: Readonly<Record<string, unknown>>;
  readonly startOn: readonly string[] | undefined;
}

/** The scenario in YAML text; throws with what is wrong and where, `name` first. See scenario-schema.ts for the fields. */
export function parseScenario(text: string, name: string): Scenario {
  const file = parseScenarioFile(parse(text), name);
  const workloads = (file.workloads ?? []).flatMap((entry) => expandWorkload(entry, file.seed ?? 1));
  const scenario: Scenario = {
    name,
    namespaces: namespacesOf(file, workloads),
    nodes: file.nodes.flatMap(expandNode),
    workloads,
    manifests: file.manifests ?? [],
  };
  const problems = contradictions(scenario, file);
  if (problems.length > 0) {
    throw new Error([`${name} is not a scenario:`, ...problems].join('\n  '));
  }
  return scenario;
}

function namespacesOf(file: ScenarioFile, workloads: readonly ScenarioWorkload[]): readonly NamespaceEntry[] {
  const listed = (file.namespaces ?? []).map((entry) => (typeof entry === 'string' ? { name: entry } : entry));
  const names = new Set([...listed.map((entry) => entry.name), 'default']);
  const others = new Set(workloads.map((workload) => workload.namespace).filter((name) => !names.has(name)));
  return [...listed, ...[...others].map((name) => ({ name }))];
}

function expandNode(entry: NodeEntry): readonly ScenarioNode[] {
  const count = entry.count ?? 1;
  return Array.from({ length: count }, (_, index) => {
    const zone = entry.zones?.[index % entry.zones.length];
    return {
      name: entry.name ?? numbered(entry.prefix ?? '', index, count),
      cpu: String(entry.cpu),
      memory: String(entry.memory),
      pods: entry.pods ?? 110,
      labels: { ...(zone === undefined ? {} : { 'topology.kubernetes.io/zone': zone }), ...entry.labels },
      taints: entry.taints ?? [],
      startEmpty: entry.startEmpty ?? false,
    };
  });
}

function expandWorkload(entry: WorkloadEntry, seed: number): readonly ScenarioWorkload[] {
  const names =
    entry.count === undefined
      ? [entry.name]
      : Array.from({ length: entry.count }, (_, index) => numbered(`${entry.name}-`, index, entry.count ?? 1));
  return names.map((name) => oneWorkload(entry, name, seed));
}

function oneWorkload(entry: WorkloadEntry, name: string, seed: number): ScenarioWorkload {
  const namespace = entry.namespace ?? 'default';
  const key = `${seed}/${namespace}/${name}`;
  const { priorityClassName, tolerations } = entry;
  return {
    name,
    namespace,
    kind: entry.kind ?? 'Deployment',
    replicas: replicasOf(entry.replicas ?? 1, key),
    requests: stringValues(entry.requests ?? {}),
    usage: {
      cpu: amountOf(entry.usage?.cpu ?? '1m', `${key}/cpu`, 'm'),
      memory: amountOf(entry.usage?.memory ?? '1Mi', `${key}/memory`, 'Mi'),
    },
    startup: entry.startup,
    termination: entry.termination,
    pdb: entry.pdb,
    labels: entry.labels ?? {},
    annotations: entry.annotations ?? {},
    podSpec: {
      ...(priorityClassName === undefined ? {} : { priorityClassName }),
      ...(tolerations === undefined ? {} : { tolerations }),
      ...entry.podSpec,
    },
    startOn: entry.startOn,
  };
}

function replicasOf(replicas: NonNullable<WorkloadEntry['replicas']>, key: string): number {
  if (typeof replicas === 'number') {
    return replicas;
  }
  return replicas.min + Math.floor(uniformOf(`${key}/replicas`) * (replicas.max - replicas.min + 1));
}

function amountOf(amount: Amount, key: string, unit: string): string {
  return typeof amount === 'object'
    ? `${Math.max(1, Math.round(logNormalOf(key, amount.logNormal)))}${unit}`
    : String(amount);
}

function stringValues(values: Readonly<Record<string, string | number>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]));
}

function numbered(prefix: string, index: number, count: number): string {
  return `${prefix}${String(index + 1).padStart(String(count).length, '0')}`;
}

/** What the schema cannot say. */
function contradictions(scenario: Scenario, file: ScenarioFile): readonly string[] {
  const nodeNames = new Set(scenario.nodes.map((node) => node.name));
  return [
    ...file.nodes.flatMap(namingProblem),
    ...duplicates(scenario.nodes.map((node) => node.name)).map((name) => `two nodes are called ${name}`),
    ...duplicates(scenario.workloads.map(({ kind, namespace, name }) => `${kind} ${namespace}/${name}`)).map(
      (workload) => `${workload} is there twice`,
    ),
    ...scenario.workloads.flatMap((workload) => placementProblems(workload, nodeNames)),
  ];
}

function namingProblem(entry: NodeEntry, index: number): readonly string[] {
  const one = entry.name !== undefined && entry.prefix === undefined && entry.count === undefined;
  const several = entry.name === undefined && entry.prefix !== undefined && entry.count !== undefined;
  return one || several ? [] : [`nodes.${index} must have either a name, or a prefix and a count`];
}

function placementProblems(workload: ScenarioWorkload, nodeNames: ReadonlySet<string>): readonly string[] {
  const { kind, name, startOn = [] } = workload;
  const unknown = startOn.filter((node) => !nodeNames.has(node));
  return [
    ...unknown.map((node) => `${kind} ${name} starts on ${node}, which is not a node of the scenario`),
    ...(kind === 'DaemonSet' && startOn.length > 0 ? [`DaemonSet ${name} runs on every node: remove its startOn`] : []),
  ];
}

function duplicates(names: readonly string[]): readonly string[] {
  return [...new Set(names.filter((name, index) => names.indexOf(name) !== index))];
}
