import { parseInstant } from '../../model/instant.ts';
import { isObject, MalformedField } from '../../model/json.ts';
import type { NodeInfo } from '../../model/node.ts';
import type { OwnerRef, PodInfo } from '../../model/pod.ts';
import type { UsageSample } from '../../model/snapshot.ts';
import type { EpochSeconds } from '../../model/units.ts';
import type { WorkloadInfo } from '../../model/workload.ts';
import { createInterner } from '../../observe/interner.ts';
import { nameForPeople, readMetadata } from '../../observe/project/metadata.ts';
import { projectNodeMetrics } from '../../observe/project/metrics.ts';
import { projectNamespace } from '../../observe/project/namespace.ts';
import { projectNode } from '../../observe/project/node.ts';
import { projectPod } from '../../observe/project/pod.ts';
import { readSelector } from '../../observe/project/selector.ts';
import { projectWorkload, WORKLOAD_KINDS } from '../../observe/project/workload.ts';
import type { ClusterReader, Deletion, LiveNamespace, LivePod, NodeUsage } from '../../ports.ts';
import { ApiError, ifThere, isApiError } from './api-error.ts';
import type { ApiClient } from './client.ts';
import { listAll, listObjects } from './list.ts';
import { RESOURCES, type ResourceRef } from './resource.ts';
import { isMetricsMissing } from './snapshot-sources.ts';

/** Pods that use a node. */
const UNFINISHED = 'status.phase!=Succeeded,status.phase!=Failed';

/** Reads single objects, and those of one owner or node, as they are now: what is checked right before an eviction. */
export function createLiveReads(
  client: ApiClient,
): Omit<ClusterReader, 'snapshot' | 'measured' | 'placements' | 'promises'> {
  const selectors = createOwnerSelectors(client);
  return {
    pod: (ref, signal) => readPod(client, ref.namespace, ref.name, signal),
    namespace: async (name, signal) => {
      const { body } = await getIfThere(client, { ...RESOURCES.Namespace, name }, signal);
      return body === undefined ? undefined : parse(body, 'Namespace', toNamespace);
    },
    node: async (name, signal) => {
      const { body } = await getIfThere(client, { ...RESOURCES.Node, name }, signal);
      return body === undefined ? undefined : parse(body, 'Node', toNode);
    },
    podsOnNode: async (name, signal) => {
      const fieldSelector = `spec.nodeName=${name},${UNFINISHED}`;
      return toPods(await listObjects(client, RESOURCES.Pod, { fieldSelector }, signal));
    },
    podsOfOwner: async (namespace, owner, signal) => {
      const labelSelector = await selectors.of(namespace, owner, signal);
      const query: Record<string, string> = labelSelector === undefined ? {} : { labelSelector };
      const pods = toPods(await listObjects(client, { ...RESOURCES.Pod, namespace }, query, signal));
      return pods.filter((pod) => pod.owner?.uid === owner.uid);
    },
    workload: (namespace, owner, signal) => readWorkload(client, namespace, owner, signal),
    nodes: async (signal) => {
      const objects = await listObjects(client, RESOURCES.Node, {}, signal);
      return objects
        .map((object) => parse(object, 'Node', toNode))
        .sort((left, right) => (left.name < right.name ? -1 : 1));
    },
    nodeUsage: (signal) => readNodeUsage(client, signal),
  };
}

/** A sample that cannot be read is none: the others say enough. */
async function readNodeUsage(client: ApiClient, signal: AbortSignal): Promise<NodeUsage | undefined> {
  const nodes = new Map<string, UsageSample>();
  const take = (object: unknown): void => {
    try {
      const { key, sample } = projectNodeMetrics(isObject(object) ? object : {});
      nodes.set(key, sample);
    } catch (error) {
      if (!(error instanceof MalformedField)) {
        throw error;
      }
    }
  };
  try {
    const listener = { item: take, restart: () => nodes.clear() };
    const { serverTime } = await listAll(client, RESOURCES.NodeMetrics, {}, listener, signal);
    return { nodes, serverTime };
  } catch (error) {
    if (isMetricsMissing(error)) {
      return undefined;
    }
    throw error;
  }
}

async function readPod(client: ApiClient, namespace: string, name: string, signal: AbortSignal): Promise<LivePod> {
  const { body, serverTime } = await getIfThere(client, { ...RESOURCES.Pod, namespace, name }, signal);
  return { pod: body === undefined ? undefined : toPods([body])[0], deletion: deletionOf(body), serverTime };
}

function deletionOf(body: unknown): Deletion | undefined {
  const metadata = isObject(body) && isObject(body.metadata) ? body.metadata : {};
  const { deletionTimestamp, finalizers } = metadata;
  return typeof deletionTimestamp === 'string'
    ? { due: parseInstant(deletionTimestamp), finalizers: Array.isArray(finalizers) ? finalizers.filter(isText) : [] }
    : undefined;
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

async function readWorkload(
  client: ApiClient,
  namespace: string,
  owner: OwnerRef,
  signal: AbortSignal,
): Promise<WorkloadInfo | undefined> {
  const kind = WORKLOAD_KINDS.find((each) => each === owner.kind);
  if (kind === undefined) {
    return undefined;
  }
  const { body } = await getIfThere(client, { ...RESOURCES[kind], namespace, name: owner.name }, signal);
  const workload = body === undefined ? undefined : parse(body, kind, (object) => projectWorkload(object, kind));
  return workload?.uid === owner.uid ? workload : undefined;
}

interface MaybeObject {
  /** Undefined when there is none of that name. */
  readonly body: unknown;
  readonly serverTime: EpochSeconds;
}

async function getIfThere(client: ApiClient, target: ResourceRef, signal: AbortSignal): Promise<MaybeObject> {
  try {
    return await client.read({ verb: 'get', target }, signal);
  } catch (error) {
    if (isApiError(error, 'NotFound')) {
      return { body: undefined, serverTime: error.serverTime ?? client.options.clock.now() };
    }
    throw error;
  }
}

function toPods(objects: readonly unknown[]): readonly PodInfo[] {
  const interner = createInterner();
  return objects.map((object) => parse(object, 'Pod', (raw) => projectPod(raw, interner).pod));
}

function toNode(object: Readonly<Record<string, unknown>>): NodeInfo {
  return projectNode(object, createInterner());
}

function toNamespace(object: Readonly<Record<string, unknown>>): LiveNamespace {
  const { labels } = projectNamespace(object, createInterner());
  return { labels, terminating: readMetadata(object, 'Namespace', 'Cluster').terminating };
}

/** A single object that cannot be read is an error, unlike one of thousands. */
function parse<Value>(
  object: unknown,
  kind: string,
  project: (object: Readonly<Record<string, unknown>>) => Value,
): Value {
  try {
    return project(isObject(object) ? object : {});
  } catch (error) {
    if (error instanceof MalformedField) {
      throw new ApiError('BadAnswer', `${kind} ${nameForPeople(object)}: ${error.message}`, { cause: error });
    }
    throw error;
  }
}

/** Label selectors of controllers, so that a wait for one replacement does not list a whole namespace each time. */
interface OwnerSelectors {
  /** The selector as a query; undefined when the controller is gone, or is of a kind that has none. */
  of(namespace: string, owner: OwnerRef, signal: AbortSignal): Promise<string | undefined>;
}

/** Selectors of these kinds never change. */
const RESOURCE_OF: ReadonlyMap<string, ResourceRef> = new Map<string, ResourceRef>([
  ['ReplicaSet', RESOURCES.ReplicaSet],
  ['StatefulSet', RESOURCES.StatefulSet],
  ['Job', RESOURCES.Job],
]);

/** More controllers than this are not moved at a time. */
const MAX_REMEMBERED = 1000;

/** Reads selectors once per controller. */
function createOwnerSelectors(client: ApiClient): OwnerSelectors {
  const known = new Map<string, string>();
  return {
    async of(namespace, owner, signal) {
      const target = RESOURCE_OF.get(owner.kind);
      if (target === undefined || known.has(owner.uid)) {
        return known.get(owner.uid);
      }
      const query = await readQuery(client, { ...target, namespace, name: owner.name }, owner.uid, signal);
      if (query !== undefined) {
        known.set(owner.uid, query);
        forgetOldest(known);
      }
      return query;
    },
  };
}

function forgetOldest(known: Map<string, string>): void {
  const [oldest] = known.keys();
  if (known.size > MAX_REMEMBERED && oldest !== undefined) {
    known.delete(oldest);
  }
}

async function readQuery(
  client: ApiClient,
  target: ResourceRef,
  uid: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const body = (await ifThere(client.read({ verb: 'get', target }, signal)))?.body;
  const object = isObject(body) ? body : {};
  const metadata = isObject(object.metadata) ? object.metadata : {};
  return metadata.uid === uid && isObject(object.spec) ? formatSelector(object.spec) : undefined;
}

function formatSelector(spec: Readonly<Record<string, unknown>>): string | undefined {
  const requirements = readSelector(spec, 'selector', 'spec')?.requirements ?? [];
  const terms = requirements.map(({ key, operator, values }) => {
    switch (operator) {
      case 'Exists':
        return key;
      case 'DoesNotExist':
        return `!${key}`;
      case 'NotIn':
        return `${key} notin (${values.join(',')})`;
      default:
        return `${key} in (${values.join(',')})`;
    }
  });
  return terms.length === 0 ? undefined : terms.join(',');
}
