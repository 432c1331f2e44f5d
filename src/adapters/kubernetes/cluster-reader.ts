import type { NodeInfo } from '../../model/node.ts';
import type { OwnerRef, PodInfo } from '../../model/pod.ts';
import type { ClusterSnapshot } from '../../model/snapshot.ts';
import { type EpochSeconds, epochSeconds } from '../../model/units.ts';
import type { WorkloadInfo } from '../../model/workload.ts';
import { createInterner } from '../../observe/interner.ts';
import { isObject, MalformedField } from '../../observe/json.ts';
import { nameForPeople } from '../../observe/project/metadata.ts';
import { projectNode } from '../../observe/project/node.ts';
import { projectPod } from '../../observe/project/pod.ts';
import { projectWorkload, type WorkloadKind } from '../../observe/project/workload.ts';
import { createSnapshotBuilder, type SnapshotBuilder } from '../../observe/snapshot-builder.ts';
import type { ClusterReader, LivePod } from '../../ports.ts';
import { ApiError, isApiError } from './api-error.ts';
import type { ApiClient } from './client.ts';
import { runConcurrently } from './concurrent.ts';
import { listAll, listObjects } from './list.ts';
import { createOwnerSelectors } from './owner-selector.ts';
import { RESOURCES, type ResourceRef } from './resource.ts';
import {
  HISTORY_SOURCE,
  isHistoryMissing,
  isMetricsMissing,
  METRICS_SOURCES,
  SNAPSHOT_SOURCES,
  type SnapshotSource,
  UNFINISHED,
} from './snapshot-sources.ts';

/** Lists that are read at the same time. */
const CONCURRENT_LISTS = 4;

/** Reads a cluster through its API server. */
export function createClusterReader(client: ApiClient): ClusterReader {
  const selectors = createOwnerSelectors(client);
  return {
    snapshot: (signal) => readSnapshot(client, signal),
    pod: (ref, signal) => readPod(client, ref.namespace, ref.name, signal),
    node: async (name, signal) => {
      const { body } = await getIfThere(client, { ...RESOURCES.nodes, name }, signal);
      return body === undefined ? undefined : parse(body, 'Node', toNode);
    },
    podsOnNode: async (name, signal) => {
      const fieldSelector = `spec.nodeName=${name},${UNFINISHED}`;
      return toPods(await listObjects(client, RESOURCES.pods, { fieldSelector }, signal));
    },
    podsOfOwner: async (namespace, owner, signal) => {
      const labelSelector = await selectors.of(namespace, owner, signal);
      const query: Record<string, string> = labelSelector === undefined ? {} : { labelSelector };
      const pods = toPods(await listObjects(client, { ...RESOURCES.pods, namespace }, query, signal));
      return pods.filter((pod) => pod.owner?.uid === owner.uid);
    },
    workload: (namespace, owner, signal) => readWorkload(client, namespace, owner, signal),
    nodes: async (signal) => {
      const objects = await listObjects(client, RESOURCES.nodes, {}, signal);
      return objects
        .map((object) => parse(object, 'Node', toNode))
        .sort((left, right) => (left.name < right.name ? -1 : 1));
    },
  };
}

async function readSnapshot(client: ApiClient, signal: AbortSignal): Promise<ClusterSnapshot> {
  const builder = createSnapshotBuilder();
  const sources = [...SNAPSHOT_SOURCES, ...METRICS_SOURCES, HISTORY_SOURCE];
  const times = await runConcurrently(sources, CONCURRENT_LISTS, signal, (source, limited) => {
    if (source === HISTORY_SOURCE) {
      return readHistory(client, builder, limited);
    }
    return METRICS_SOURCES.includes(source)
      ? readMetrics(client, source, builder, limited)
      : readSource(client, source, builder, limited);
  });
  const known = times.filter((time) => time !== undefined);
  return builder.finish(epochSeconds(known.length === 0 ? client.options.clock.now() : Math.min(...known)));
}

/** Resolves to the server's time when the list began. */
async function readSource(
  client: ApiClient,
  { kind, target, query }: SnapshotSource,
  builder: SnapshotBuilder,
  signal: AbortSignal,
): Promise<EpochSeconds> {
  const listener = {
    item: (object: unknown) => builder.addAs(kind, object),
    restart: () => builder.forget(kind),
  };
  const { serverTime } = await listAll(client, target, query, listener, signal);
  return serverTime;
}

/** A cluster without metrics is still a cluster: the planner says what it makes of that. */
async function readMetrics(
  client: ApiClient,
  source: SnapshotSource,
  builder: SnapshotBuilder,
  signal: AbortSignal,
): Promise<EpochSeconds | undefined> {
  try {
    const time = await readSource(client, source, builder, signal);
    builder.noteMetricsServed();
    return time;
  } catch (error) {
    if (!isMetricsMissing(error)) {
      throw error;
    }
    builder.forget(source.kind);
    builder.report(`the Metrics API cannot be read: ${error.message}`);
    return undefined;
  }
}

/** Where our kinds are not installed, nothing was moved; where they may not be read, the plan says what it does not know. */
async function readHistory(
  client: ApiClient,
  builder: SnapshotBuilder,
  signal: AbortSignal,
): Promise<EpochSeconds | undefined> {
  try {
    return await readSource(client, HISTORY_SOURCE, builder, signal);
  } catch (error) {
    if (!isHistoryMissing(error)) {
      throw error;
    }
    builder.forget(HISTORY_SOURCE.kind);
    if (error.kind === 'Forbidden') {
      builder.report(
        `RebalancePlans cannot be read, so cooldown and maxOverhead know of no earlier moves: ${error.message}`,
      );
    }
    return undefined;
  }
}

async function readPod(client: ApiClient, namespace: string, name: string, signal: AbortSignal): Promise<LivePod> {
  const { body, serverTime } = await getIfThere(client, { ...RESOURCES.pods, namespace, name }, signal);
  return { pod: body === undefined ? undefined : toPods([body])[0], serverTime };
}

const WORKLOADS: Readonly<Record<WorkloadKind, ResourceRef>> = {
  Deployment: RESOURCES.deployments,
  ReplicaSet: RESOURCES.replicaSets,
  StatefulSet: RESOURCES.statefulSets,
  DaemonSet: RESOURCES.daemonSets,
  Job: RESOURCES.jobs,
  ReplicationController: RESOURCES.replicationControllers,
};

async function readWorkload(
  client: ApiClient,
  namespace: string,
  owner: OwnerRef,
  signal: AbortSignal,
): Promise<WorkloadInfo | undefined> {
  const entry = Object.entries(WORKLOADS).find(([kind]) => kind === owner.kind);
  if (entry === undefined) {
    return undefined;
  }
  const { body } = await getIfThere(client, { ...entry[1], namespace, name: owner.name }, signal);
  const workload =
    body === undefined
      ? undefined
      : parse(body, owner.kind, (object) => projectWorkload(object, entry[0] as WorkloadKind));
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
