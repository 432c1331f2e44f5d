import type { FieldProblem, Path } from '../api/json-schema.ts';
import type { RebalancePolicy } from '../api/v1alpha1/rebalance-policy.ts';
import type { AppGraphInfo, GraphMember } from '../model/app-graph.ts';
import { bitsPerSecond } from '../model/bandwidth.ts';
import { parseDuration } from '../model/duration.ts';
import { SCHEDULING_GATE } from '../model/gate.ts';
import { parseInstant } from '../model/instant.ts';
import { type JsonObject, MalformedField } from '../model/json.ts';
import type { NodeInfo, Taint } from '../model/node.ts';
import { quantityOf, toBytes, toFractionalMilliCpu } from '../model/quantity.ts';
import type { ServiceClass } from '../model/service-level.ts';
import type { ClusterSnapshot } from '../model/snapshot.ts';
import { NO_STORAGE } from '../model/storage.ts';
import { type EpochSeconds, seconds } from '../model/units.ts';
import { createInterner, type Interner } from '../observe/interner.ts';
import { projectPdb } from '../observe/project/pdb.ts';
import { CLASS_LABEL } from '../qos/class-of.ts';
import { DEFAULT_IMAGE_SIZE, DEFAULT_START, makeNode, makeWorkload } from './parts.ts';
import { classesIn, parseRequestLog, workloadsOf } from './request-log.ts';
import type {
  Delay,
  Incident,
  InstanceUsage,
  RequestLoad,
  Scenario,
  ScenarioTraffic,
  Variant,
  WorkloadSpec,
} from './scenario.ts';
import type { ScenarioResource, ScenarioSpec, WorkloadEntry } from './scenario-schema.ts';
import { snapshotWorkloads } from './snapshot-workloads.ts';
import { constant, resolveTrace, type Texts } from './trace.ts';

/** What a scenario refers to, read already. */
export interface References {
  /** Files of traces and the request log, by the names that the scenario uses. */
  readonly texts: Texts;
  readonly snapshot: ClusterSnapshot | undefined;
  readonly policies: readonly RebalancePolicy[];
  readonly classes: readonly ServiceClass[];
  readonly appGraphs: readonly AppGraphInfo[];
}

/** Files that a scenario names beside its snapshot. */
export function filesOf({ requestLog, workloads }: ScenarioSpec): readonly string[] {
  const traces = workloads.flatMap(({ usage, requests }) => [
    usage?.cpu?.file,
    usage?.memory?.file,
    requests?.rate.file,
  ]);
  return [...new Set([requestLog, ...traces].filter((file) => file !== undefined))];
}

/** What is wrong with a scenario that its schema allows, as far as it stands in itself. Never throws. */
export function scenarioProblems({ spec }: ScenarioResource): readonly FieldProblem[] {
  const interner = createInterner();
  const nodes = spec.nodes.map((entry, index) => problemIn(['spec', 'nodes', index], () => nodesOf(entry, interner)));
  const workloads = spec.workloads.map((entry, index) =>
    problemIn(['spec', 'workloads', index, 'template'], () =>
      makeWorkload({ name: entry.name, template: templateOf(entry) }, interner),
    ),
  );
  const budgets = spec.disruptionBudgets.map((entry, index) =>
    problemIn(['spec', 'disruptionBudgets', index], () => projectPdb(entry as JsonObject)),
  );
  const cluster =
    spec.nodes.length === 0 && spec.snapshot === undefined
      ? [{ path: ['spec', 'nodes'], message: 'there is no node: write nodes, or snapshot with a file that has some' }]
      : [];
  return [...nodes, ...workloads, ...budgets].flatMap((problem) => problem ?? []).concat(cluster, twice(spec));
}

function problemIn(path: Path, make: () => unknown): FieldProblem | undefined {
  try {
    make();
    return undefined;
  } catch (error) {
    if (error instanceof MalformedField) {
      return { path, message: error.message };
    }
    throw error;
  }
}

/** Names that are given twice. */
function twice({ nodes, workloads, variants }: ScenarioSpec): readonly FieldProblem[] {
  const check = (field: string, names: readonly string[]): readonly FieldProblem[] =>
    names.flatMap((name, index) =>
      names.indexOf(name) < index
        ? [
            {
              path: ['spec', field, index, 'name'],
              message: `is ${JSON.stringify(name)} for the second time: give each its own`,
            },
          ]
        : [],
    );
  return [
    ...check(
      'nodes',
      nodes.map(({ name }) => name),
    ),
    ...check(
      'workloads',
      workloads.map(({ name, namespace, kind }) => `${kind} ${namespace}/${name}`),
    ),
    ...check(
      'variants',
      variants.map(({ name }) => name),
    ),
  ];
}

/** The scenario that a file describes. Throws InputError for a bad line of a file that it names, FieldProblems as a list. */
export function resolveScenario(
  resource: ScenarioResource,
  references: References,
): Scenario | readonly FieldProblem[] {
  const { spec, metadata } = resource;
  const { snapshot, texts } = references;
  const interner = createInterner();
  const duration = parseDuration(spec.duration);
  const log = spec.requestLog === undefined ? [] : parseRequestLog(texts.get(spec.requestLog) ?? '', spec.requestLog);
  const logged = classesIn(log, spec.requestLog ?? '');
  const classes = [...references.classes, ...defaultClasses(logged, references.classes)];
  const nodes = spec.nodes.map((entry) => ({ entry, made: nodesOf(entry, interner) }));
  const start: EpochSeconds =
    spec.start === undefined ? (snapshot?.takenAt ?? DEFAULT_START) : parseInstant(spec.start);
  const workloads = [
    ...(snapshot === undefined ? [] : snapshotWorkloads(snapshot)),
    ...spec.workloads.flatMap((entry) => workloadsIn(entry, duration, texts, interner)),
    ...workloadsOf(log, interner),
  ];
  const present = [
    ...(snapshot?.nodes ?? []),
    ...nodes.flatMap(({ entry, made }) => (entry.joins === undefined ? made : [])),
  ];
  const joining = nodes.flatMap(({ entry: { joins }, made }) =>
    joins === undefined ? [] : made.map((node) => ({ joins, node })),
  );
  const everywhere = [...present, ...joining.map(({ node }) => node)];
  const problems = unknownNames(spec, references, {
    classes: classes.map(({ name }) => name),
    nodes: everywhere.map(({ name }) => name),
    domains: [...new Set(everywhere.flatMap(({ labels }) => labels.get(spec.traffic.domain) ?? []))],
    workloads: workloads.map(({ info }) => info.name),
  });
  if (problems.length > 0) {
    return problems;
  }
  const namespaces = new Map(
    [...new Set(workloads.map(({ info }) => info.namespace))].map((name) => [name, new Map()]),
  );
  return {
    name: metadata.name,
    seed: spec.seed,
    duration,
    start,
    nodes: present,
    workloads,
    incidents: [
      ...spec.incidents.map(incidentOf),
      ...joining.map(({ joins, node }) => ({ at: parseDuration(joins), kind: 'NodeJoins' as const, node })),
    ],
    pdbs: spec.disruptionBudgets.map((entry) => projectPdb(entry as JsonObject)),
    namespaces: new Map([...namespaces, ...(snapshot?.namespaces ?? [])]),
    storage: snapshot?.storage ?? NO_STORAGE,
    classes: classes.toSorted((left, right) => left.importance - right.importance),
    timing: {
      startup: { hot: delayOf(spec.startup.hot), cold: delayOf(spec.startup.cold) },
      termination: delayOf(spec.termination),
      recreation: seconds(0),
      scheduling: seconds(Number(spec.scheduling)),
      reaction: seconds(Number(spec.reaction)),
      nodeGrace: parseDuration(spec.nodeGrace),
      nodeToleration: parseDuration(spec.nodeToleration),
    },
    metrics: { window: parseDuration(spec.metrics.window), served: spec.metrics.served },
    starvation: spec.starvation,
    memory: spec.memory === undefined ? undefined : { fill: parseDuration(spec.memory.fill) },
    traffic: trafficOf(spec, [...references.appGraphs, ...(snapshot?.appGraphs ?? [])], workloads),
    imageSize: DEFAULT_IMAGE_SIZE,
    variants: variantsOf(spec, references.policies),
  };
}

function trafficOf(
  { traffic: { domain, links } }: ScenarioSpec,
  graphs: readonly AppGraphInfo[],
  workloads: readonly WorkloadSpec[],
): ScenarioTraffic | undefined {
  if (graphs.length === 0) {
    return undefined;
  }
  const stands = new Set(workloads.map(({ info }) => `${info.kind} ${info.namespace}/${info.name}`));
  return {
    graphs: graphs.map((graph) => asPlayed(graph, stands)),
    domain,
    links: links.map(({ between: [one = '', other = ''], capacity }) => ({
      between: [one, other],
      capacity: bitsPerSecond(capacity),
    })),
  };
}

/** A Deployment of a scenario stands for its one ReplicaSet; there is no Prometheus to learn from, but what was learnt holds. */
function asPlayed({ query: _, ...graph }: AppGraphInfo, stands: ReadonlySet<string>): AppGraphInfo {
  const members = graph.members.map((member): GraphMember => {
    const { kind = '', name = '' } = 'workload' in member ? member.workload : {};
    return kind === 'Deployment' && stands.has(`ReplicaSet ${graph.namespace}/${name}`)
      ? { name: member.name, workload: { kind: 'ReplicaSet', name } }
      : member;
  });
  return { ...graph, members };
}

function nodesOf(
  { name, count, cpu, memory, pods, resources, labels, taints }: ScenarioSpec['nodes'][number],
  interner: Interner,
): readonly NodeInfo[] {
  const allocatable = { ...resources, cpu, memory, pods: String(pods) };
  const names = numbered(name, count);
  return names.map((each) =>
    makeNode(each, allocatable, interner, { labels, taints: taints as readonly JsonObject[] }),
  );
}

/** `web`, or `web-1`, `web-2` and so on, with zeros in front where there are more than nine. */
function numbered(name: string, count: number): readonly string[] {
  const width = String(count).length;
  return count === 1
    ? [name]
    : Array.from({ length: count }, (_, index) => `${name}-${String(index + 1).padStart(width, '0')}`);
}

function workloadsIn(
  entry: WorkloadEntry,
  duration: number,
  texts: Texts,
  interner: Interner,
): readonly WorkloadSpec[] {
  const { kind, namespace, replicas, minReadySeconds } = entry;
  const usage = usageOf(entry, duration, texts);
  const requests = requestsOf(entry, duration, texts);
  return numbered(entry.name, entry.count).map((name, index) =>
    makeWorkload(
      {
        kind,
        namespace,
        name,
        replicas,
        minReadySeconds,
        template: templateOf(entry),
        arrivesAt: parseDuration(entry.arrives) + index * parseDuration(entry.every),
        endsAfter: entry.duration === undefined ? undefined : parseDuration(entry.duration),
        runTime: entry.runTime === undefined ? undefined : parseDuration(entry.runTime),
        ...(usage === undefined ? {} : { usage: [usage] }),
        ...(requests === undefined ? {} : { requests }),
      },
      interner,
    ),
  );
}

/** The pod template, with the class as its label and, where asked for, the gate. */
function templateOf({ template = {}, serviceClass, gated, cpu, memory, image }: WorkloadEntry): JsonObject {
  const { metadata = {}, spec = {} } = template as { readonly metadata?: JsonObject; readonly spec?: JsonObject };
  const requests = { ...(cpu === undefined ? {} : { cpu }), ...(memory === undefined ? {} : { memory }) };
  const labels = {
    ...(metadata['labels'] as JsonObject | undefined),
    ...(serviceClass === undefined ? {} : { [CLASS_LABEL]: serviceClass }),
  };
  return {
    metadata: { ...metadata, labels },
    spec: {
      containers: [{ name: 'main', image, resources: { requests } }],
      ...spec,
      ...(gated ? { schedulingGates: [{ name: SCHEDULING_GATE }] } : {}),
    },
  };
}

function usageOf({ usage, cpu, memory }: WorkloadEntry, duration: number, texts: Texts): InstanceUsage | undefined {
  if (usage === undefined) {
    return undefined;
  }
  return {
    cpu: usage.cpu === undefined ? constant(milliCpu(cpu ?? '0')) : resolveTrace(usage.cpu, milliCpu, duration, texts),
    memory:
      usage.memory === undefined ? constant(bytes(memory ?? '0')) : resolveTrace(usage.memory, bytes, duration, texts),
  };
}

function requestsOf({ requests }: WorkloadEntry, duration: number, texts: Texts): RequestLoad | undefined {
  return requests === undefined
    ? undefined
    : {
        rate: resolveTrace(requests.rate, (value: number) => value, duration, texts),
        arrivals: requests.arrivals,
        cpu: milliCpu(requests.cpu ?? '0'),
        memory: bytes(requests.memory ?? '0'),
      };
}

function milliCpu(text: string): number {
  return toFractionalMilliCpu(quantityOf(text));
}

function bytes(text: string): number {
  return toBytes(quantityOf(text));
}

function delayOf({ mean, p95 }: ScenarioSpec['termination']): Delay {
  return p95 === undefined
    ? { kind: 'Fixed', value: seconds(Number(mean)) }
    : { kind: 'LogNormal', mean: seconds(Number(mean)), p95: seconds(Number(p95)) };
}

function incidentOf(incident: ScenarioSpec['incidents'][number]): Incident {
  const { type, node = '', taint = NO_TAINT, workload = '', replicas = 0 } = incident;
  const at = parseDuration(incident.at);
  switch (type) {
    case 'Scale':
      return { at, kind: type, workload, replicas };
    case 'Taint':
    case 'Untaint':
      return { at, kind: type, node, taint };
    default:
      return { at, kind: type, node };
  }
}

/** The rules of the schema see to it that an incident with a taint has one. */
const NO_TAINT: Taint = { key: '', value: '', effect: 'NoSchedule' };

/** Classes of a request log that the file does not define. */
function defaultClasses(
  logged: readonly { readonly name: string; readonly slo: number }[],
  known: readonly ServiceClass[],
): readonly ServiceClass[] {
  return logged
    .map(
      ({ name, slo }, index): ServiceClass => ({
        name,
        slo,
        importance: index + 1,
        safetyMargin: seconds(10),
        maxPreemptionOverhead: Math.round((1 - slo) * 1e6) / 1e6,
        minRunTime: seconds(0),
        window: seconds(3600),
        mode: 'Aggregated',
        expectedStartup: seconds(10),
        penalties: [],
      }),
    )
    .filter(({ name }) => !known.some((each) => each.name === name));
}

interface KnownNames {
  /** Values of the node label that makes the domains of traffic. */
  readonly domains: readonly string[];
  readonly classes: readonly string[];
  readonly nodes: readonly string[];
  readonly workloads: readonly string[];
}

/** Names that nothing has. */
function unknownNames(spec: ScenarioSpec, { policies }: References, known: KnownNames): readonly FieldProblem[] {
  const check = (
    path: Path,
    name: string | undefined,
    what: string,
    names: readonly string[],
  ): readonly FieldProblem[] =>
    name === undefined || names.includes(name)
      ? []
      : [{ path, message: `there is no ${what} ${JSON.stringify(name)}: write ${listed(names)}` }];
  const policyNames = policies.map(({ metadata }) => metadata.name);
  return [
    ...spec.workloads.flatMap(({ serviceClass }, index) =>
      check(['spec', 'workloads', index, 'serviceClass'], serviceClass, 'ServiceClass', known.classes),
    ),
    ...spec.incidents.flatMap(({ node, workload }, index) => [
      ...check(['spec', 'incidents', index, 'node'], node, 'node', known.nodes),
      ...check(['spec', 'incidents', index, 'workload'], workload, 'workload', known.workloads),
    ]),
    ...spec.traffic.links.flatMap(({ between }, index) =>
      between.flatMap((name, place) =>
        check(['spec', 'traffic', 'links', index, 'between', place], name, 'domain', known.domains),
      ),
    ),
    ...spec.variants.flatMap((variant, index) =>
      variant.policies.flatMap((name, place) =>
        check(['spec', 'variants', index, 'policies', place], name, 'RebalancePolicy', policyNames),
      ),
    ),
  ];
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, 10).join(', ');
  return names.length === 0 ? 'one to the file first' : names.length > 10 ? `${shown} or another` : shown;
}

function variantsOf(spec: ScenarioSpec, policies: readonly RebalancePolicy[]): readonly Variant[] {
  const known = policies.map((policy) => ({
    ...policy,
    metadata: { ...policy.metadata, uid: policy.metadata.name, generation: 1 },
  }));
  if (spec.variants.length === 0) {
    const alone: Variant = { name: 'scheduler alone', scheduler: 'None', policies: [] };
    return [
      alone,
      ...known.map((policy): Variant => ({ name: policy.metadata.name, scheduler: 'None', policies: [policy] })),
    ];
  }
  return spec.variants.map(({ name, scheduler, policies: names }) => ({
    name,
    scheduler,
    policies: names.flatMap((each) => known.find(({ metadata }) => metadata.name === each) ?? []),
  }));
}
