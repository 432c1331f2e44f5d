import { API_VERSION } from '../../api/v1alpha1/schema.ts';
import { bandwidthText } from '../../model/bandwidth.ts';
import { asObject, type JsonObject, MalformedField, nameAt, objectAt, objectsAt, textAt } from '../../model/json.ts';
import { type Conversion, changed, type ImportNote, lost, unread } from '../note.ts';
import { bandwidthAt } from './bandwidth-at.ts';

/** Labels by which scheduler-plugins finds the pods of a workload: its kind and name are for people. */
const GROUP_LABEL = 'appgroup.diktyo.x-k8s.io';
const WORKLOAD_LABEL = `${GROUP_LABEL}.workload`;
const WORKLOAD_FIELDS = ['kind', 'name', 'selector', 'apiVersion', 'namespace'];

/** A workload that becomes a member. */
interface Workload {
  /** Its name in the AppGraph, and the value of the label of its pods. */
  readonly selector: string;
  readonly path: string;
  readonly dependencies: readonly JsonObject[];
}

interface Edge {
  readonly from: string;
  readonly to: string;
  readonly bandwidth: string;
}

/** The AppGraph of an AppGroup, whose fields have `prefix` before them, and what it does not take over. Throws MalformedField. */
export function convertAppGroup(group: JsonObject, prefix: string): Conversion {
  const metadata = objectAt(group, 'metadata', prefix) ?? {};
  const spec = objectAt(group, 'spec', prefix) ?? {};
  const path = `${prefix}spec`;
  const name = nameAt(metadata, 'name', `${prefix}metadata`);
  const { namespace, workloads, notes } = workloadsOf(spec, path, textAt(metadata, 'namespace', `${prefix}metadata`));
  const edges = edgesOf(workloads);
  return {
    resources: [
      {
        apiVersion: API_VERSION,
        kind: 'AppGraph',
        metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
        spec: {
          members: workloads.map(({ selector }) => ({
            name: selector,
            selector: { matchLabels: { [GROUP_LABEL]: name, [WORKLOAD_LABEL]: selector } },
          })),
          edges: edges.found,
        },
      },
    ],
    notes: [...specNotes(spec, path, edges.found.length > 0), ...notes, ...edges.notes],
  };
}

function specNotes(spec: JsonObject, path: string, hasEdges: boolean): readonly ImportNote[] {
  const { numMembers, topologySortingAlgorithm } = spec;
  return [
    ...(numMembers === undefined ? [] : [lost(`${path}.numMembers`, 'an AppGraph does not count its pods')]),
    ...(topologySortingAlgorithm === undefined
      ? []
      : [
          lost(
            `${path}.topologySortingAlgorithm`,
            'Evenkeel does not order the scheduling queue: keep the plugin TopologicalSort if you need it',
          ),
        ]),
    ...(hasEdges
      ? [
          changed(
            `${path}.workloads`,
            'minBandwidth became the bandwidth of an edge: bits per second that all pods of one workload send to all pods of the other',
          ),
        ]
      : []),
    ...unread(spec, ['numMembers', 'topologySortingAlgorithm', 'workloads'], path),
  ];
}

/** The workloads of one namespace, that of the AppGroup or else of its first workload. */
function workloadsOf(spec: JsonObject, path: string, given: string | undefined) {
  const workloads: Workload[] = [];
  const notes: ImportNote[] = [];
  let namespace = given;
  for (const [place, entry] of objectsAt(spec, 'workloads', path).entries()) {
    const at = `${path}.workloads[${place}]`;
    const { selector, namespace: own } = infoOf(entry, at);
    namespace ??= own;
    notes.push(...unread(entry, ['workload', 'dependencies'], at));
    notes.push(...unread(asObject(entry['workload'], `${at}.workload`), WORKLOAD_FIELDS, `${at}.workload`));
    if (own !== undefined && own !== namespace) {
      notes.push(
        lost(
          `${at}.workload.namespace`,
          `an AppGraph is about one namespace, here ${namespace}: the workload is left out`,
        ),
      );
    } else if (workloads.some((each) => each.selector === selector)) {
      throw new MalformedField(`${at}.workload.selector`, `${selector} is written twice: write each workload once`);
    } else {
      workloads.push({ selector, path: at, dependencies: objectsAt(entry, 'dependencies', at) });
    }
  }
  if (workloads.length === 0) {
    throw new MalformedField(`${path}.workloads`, 'is missing: write the workloads of the application');
  }
  return { namespace, workloads, notes };
}

function infoOf(entry: JsonObject, path: string) {
  const workload = objectAt(entry, 'workload', path);
  if (workload === undefined) {
    throw new MalformedField(`${path}.workload`, 'is missing: write kind, name and selector of the workload');
  }
  const at = `${path}.workload`;
  return { selector: nameAt(workload, 'selector', at), namespace: textAt(workload, 'namespace', at) };
}

function edgesOf(workloads: readonly Workload[]) {
  const members = new Set(workloads.map(({ selector }) => selector));
  const found = new Map<string, Edge>();
  const notes: ImportNote[] = [];
  for (const { selector: from, path, dependencies } of workloads) {
    for (const [place, dependency] of dependencies.entries()) {
      const at = `${path}.dependencies[${place}]`;
      const to = infoOf(dependency, at).selector;
      const bandwidth = bandwidthAt(dependency, 'minBandwidth', at);
      const problem = obstacleOf(from, to, members, found) ?? (bandwidth === undefined ? NO_BANDWIDTH : undefined);
      notes.push(...dependencyNotes(dependency, at));
      if (problem !== undefined) {
        notes.push(lost(at, problem));
      } else if (bandwidth !== undefined) {
        found.set(`${from} ${to}`, { from, to, bandwidth: bandwidthText(bandwidth) });
      }
    }
  }
  return { found: [...found.values()], notes };
}

const NO_BANDWIDTH = 'has no minBandwidth, so that it becomes no edge: write what passes, such as minBandwidth: 20M';

/** Why a dependency becomes no edge. */
function obstacleOf(
  from: string,
  to: string,
  members: ReadonlySet<string>,
  found: ReadonlyMap<string, Edge>,
): string | undefined {
  if (from === to) {
    return 'traffic within a workload is not considered';
  }
  if (!members.has(to)) {
    return `${to} is no workload of this AppGroup and namespace, so that it becomes no edge`;
  }
  return found.has(`${from} ${to}`) ? `the dependency on ${to} is written twice: the first one counts` : undefined;
}

function dependencyNotes(dependency: JsonObject, path: string): readonly ImportNote[] {
  return [
    ...(dependency['maxNetworkCost'] === undefined
      ? []
      : [lost(`${path}.maxNetworkCost`, 'no limit: a plan lowers the cost of all traffic as far as it can')]),
    ...unread(dependency, ['workload', 'minBandwidth', 'maxNetworkCost'], path),
  ];
}
