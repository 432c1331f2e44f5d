import { hostname } from 'node:os';
import { isApiError } from '../adapters/kubernetes/api-error.ts';
import { createAppGraphStore } from '../adapters/kubernetes/app-graph-store.ts';
import { type ApplyOptions, applyResource } from '../adapters/kubernetes/apply.ts';
import { type CachedPlans, createCachedPlans } from '../adapters/kubernetes/cached-plans.ts';
import { ApiClient } from '../adapters/kubernetes/client.ts';
import { type CacheListener, type ClusterCache, createClusterCache } from '../adapters/kubernetes/cluster-cache.ts';
import { createClusterReader } from '../adapters/kubernetes/cluster-reader.ts';
import { connect as openConnection } from '../adapters/kubernetes/connect.ts';
import { createEventSink } from '../adapters/kubernetes/events.ts';
import { createEvictor } from '../adapters/kubernetes/evictor.ts';
import type { RequestLimits } from '../adapters/kubernetes/flow-control.ts';
import { createGates } from '../adapters/kubernetes/gates.ts';
import { createJournalledPlans } from '../adapters/kubernetes/journalled-plans.ts';
import { createLedgerStore } from '../adapters/kubernetes/ledger-store.ts';
import { listNames, type ObjectName } from '../adapters/kubernetes/list.ts';
import { createMoveJournals } from '../adapters/kubernetes/move-journals.ts';
import { createPlanStore } from '../adapters/kubernetes/plan-store.ts';
import { createPolicyStore, requestRun, suspendPolicy } from '../adapters/kubernetes/policy-store.ts';
import { listRawSnapshot } from '../adapters/kubernetes/raw-snapshot.ts';
import { Reflector } from '../adapters/kubernetes/reflector.ts';
import { RESOURCES } from '../adapters/kubernetes/resource.ts';
import { createServiceRecords, type RecordsListener } from '../adapters/kubernetes/service-records.ts';
import { createSharedReflectors } from '../adapters/kubernetes/shared-reflectors.ts';
import { createSteering, type ServedWebhook } from '../adapters/kubernetes/steering.ts';
import { createServerClock } from '../adapters/server-clock.ts';
import { trimObject } from '../adapters/snapshot-file/trim.ts';
import { EMPTY_METRICS, formatSnapshotHeader, formatSnapshotItem } from '../adapters/snapshot-file/write-snapshot.ts';
import { systemClock } from '../adapters/system-clock.ts';
import type { RebalancePlan } from '../api/v1alpha1/rebalance-plan.ts';
import { escapeText } from '../model/escape.ts';
import type { JsonObject } from '../model/json.ts';
import type {
  AppGraphStore,
  Clock,
  ClusterReader,
  EventSink,
  Evictor,
  Fence,
  Gates,
  LedgerStore,
  PlanStore,
  PolicyStore,
  ServiceRecords,
  Steering,
} from '../ports.ts';
import { VERSION } from '../version.ts';
import { Failure } from './failure.ts';

/** Which cluster to talk to. */
export interface ClusterFlags {
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
}

/** Hears of what happens on the way to the cluster; whatever is absent is written to standard error. */
export interface ClusterHooks {
  readonly onRequest?: (verb: string, code: string) => void;
  /** Something was lost, or cannot be done, that does not stop the caller. */
  readonly warn?: (message: string) => void;
  /** Asked before each change. */
  readonly fence?: Fence;
  /** The admission webhook of this process; absent where it serves none. */
  readonly webhook?: () => ServedWebhook | undefined;
}

/** Every port, on one cluster. */
export interface Cluster {
  readonly url: string;
  /** Goes by the API server's clock from its first answer on. */
  readonly clock: Clock;
  /** Lists everything for each snapshot: for a single one. */
  readonly reader: ClusterReader;
  /**
   * Empty caches, for many snapshots. Their watches are those of `serviceRecords`: each kind is watched once. `plans` where the past moves
   * are to come from there.
   */
  cache(listener: CacheListener, plans?: PlanStore): ClusterCache;
  readonly evictor: Evictor;
  readonly steering: Steering;
  readonly gates: Gates;
  /** Lists all plans at each look: for a single one. */
  readonly plans: PlanStore;
  /** Plans from a watch, for many looks; their watch is that of a `cache` that keeps plans, too. */
  cachedPlans(report: (error: unknown) => void, digest: (plan: RebalancePlan) => void): CachedPlans;
  readonly ledgers: LedgerStore;
  /** Watches of what ledgers are kept by, not begun yet: they are to begin after those of a `cache`, which may miss versions. */
  serviceRecords(listener: RecordsListener): ServiceRecords;
  readonly policies: PolicyStore;
  readonly appGraphs: AppGraphStore;
  readonly events: EventSink;
  /** Server-side apply; resolves to a line such as `rebalancepolicy.evenkeel.dev/default created`. */
  apply(object: JsonObject, options: ApplyOptions, signal: AbortSignal): Promise<string>;
  /** Names of all objects of a kind; of those in one namespace when it is given. */
  names(kind: keyof typeof NAMED, namespace: string | undefined, signal: AbortSignal): Promise<readonly ObjectName[]>;
  /** Sets spec.suspend of a policy. */
  suspend(policy: string, signal: AbortSignal): Promise<void>;
  /** Asks the operator for a run of a policy now; resolves to the request, which the status repeats when a run has answered it. */
  requestRun(policy: string, signal: AbortSignal): Promise<string>;
  /** What `evenkeel snapshot` writes. */
  snapshotFile(signal: AbortSignal): Promise<SnapshotFile>;
  close(): Promise<void>;
}

/** A snapshot file, and how much of the load it has. */
export interface SnapshotFile {
  readonly text: string;
  /** Whether the cluster has a Metrics API that answers. */
  readonly metricsServed: boolean;
  readonly nodes: number;
  /** Names of the nodes without a sample. */
  readonly unmeasured: readonly string[];
}

/** What people name on the command line. */
const NAMED = {
  nodes: RESOURCES.Node,
  namespaces: RESOURCES.Namespace,
  pods: RESOURCES.Pod,
  appgraphs: RESOURCES.AppGraph,
  deployments: RESOURCES.Deployment,
  statefulsets: RESOURCES.StatefulSet,
  daemonsets: RESOURCES.DaemonSet,
};

/** Attempts at a read before it fails: people wait less patiently than the operator. */
const ATTEMPTS = 3;

/**
 * What one process asks of an API server at most: several times what plans at full speed need, and well below what API
 * priority and fairness leaves to one client among others.
 */
const LIMITS: RequestLimits = { reads: { perSecond: 100, burst: 200 }, changes: { perSecond: 20, burst: 40 } };

/** Connects to the cluster of a kubeconfig, or to the one that this process runs in. Throws ConnectError. */
export async function connect(flags: ClusterFlags, hooks: ClusterHooks = {}): Promise<Cluster> {
  const connection = await openConnection({ ...flags, env: process.env });
  const clock = createServerClock(systemClock);
  const client = new ApiClient(connection, {
    userAgent: `evenkeel/${VERSION}`,
    attempts: ATTEMPTS,
    clock,
    onServerTime: clock.heard,
    random: Math.random,
    limits: LIMITS,
    ...(hooks.onRequest === undefined ? {} : { onRequest: hooks.onRequest }),
    ...(hooks.fence === undefined ? {} : { fence: hooks.fence }),
  });
  const reflectors = createSharedReflectors(client);
  const warn = hooks.warn ?? ((message: string) => void process.stderr.write(`warning: ${escapeText(message)}\n`));
  const report = (error: unknown): void => warn(error instanceof Error ? error.message : String(error));
  const plans = createPlanStore(client, report);
  const journals = createMoveJournals(client, report);
  return {
    url: connection.server,
    clock,
    reader: createClusterReader(client),
    cache: (listener, cached) => createClusterCache(client, reflectors, listener, cached),
    evictor: createEvictor(client),
    steering: createSteering(client, hooks.webhook),
    gates: createGates(client, warn),
    plans: createJournalledPlans(plans, journals, report),
    cachedPlans: (report, digest) =>
      createCachedPlans(
        { live: plans, reflector: reflectors.of('RebalancePlan') },
        { live: journals, reflector: new Reflector(client, { target: RESOURCES.MoveJournal, metadataOnly: false }) },
        report,
        digest,
      ),
    ledgers: createLedgerStore(client),
    serviceRecords: (listener) => createServiceRecords(reflectors, clock, listener),
    policies: createPolicyStore(client, report),
    appGraphs: createAppGraphStore(client),
    events: createEventSink(client, { instance: hostname(), report: warn }),
    apply: (object, options, signal) => apply(client, object, options, signal),
    names: (kind, namespace, signal) =>
      listNames(client, namespace === undefined ? NAMED[kind] : { ...NAMED[kind], namespace }, signal),
    suspend: (policy, signal) => ofPolicy(policy, suspendPolicy(client, policy, signal)),
    async requestRun(policy, signal) {
      const request = new Date(1000 * clock.now()).toISOString();
      await ofPolicy(policy, requestRun(client, policy, request, signal));
      return request;
    },
    snapshotFile: (signal) => snapshotFile(client, signal),
    close: () => client.close(),
  };
}

async function apply(
  client: ApiClient,
  object: JsonObject,
  options: ApplyOptions,
  signal: AbortSignal,
): Promise<string> {
  const applied = await applyResource(client, object, options, signal);
  const metadata = object['metadata'] as { readonly name: string };
  return `${String(object['kind']).toLowerCase()}.evenkeel.dev/${metadata.name} ${applied}`;
}

/** What a change of a policy comes to. Throws a Failure when there is none of that name. */
async function ofPolicy(policy: string, change: Promise<void>): Promise<void> {
  try {
    await change;
  } catch (error) {
    if (isApiError(error, 'NotFound')) {
      throw new Failure(`there is no RebalancePolicy ${policy}: kubectl get rbp lists them`, 1, { cause: error });
    }
    throw error;
  }
}

async function snapshotFile(client: ApiClient, signal: AbortSignal): Promise<SnapshotFile> {
  const nodes = new Set<string>();
  const measured = new Set<string>();
  type Kind = Parameters<typeof trimObject>[0];
  const namesOf: Partial<Record<Kind, Set<string>>> = { Node: nodes, NodeMetrics: measured };
  const keep = (kind: Kind, object: JsonObject): string => {
    namesOf[kind]?.add((object['metadata'] as { readonly name: string }).name);
    return formatSnapshotItem(trimObject(kind, object));
  };
  const { objects, takenAt, metricsServed } = await listRawSnapshot(client, keep, signal);
  const marker = metricsServed ? formatSnapshotItem(EMPTY_METRICS) : '';
  const text = formatSnapshotHeader(takenAt) + marker + objects.join('');
  return { text, metricsServed, nodes: nodes.size, unmeasured: [...nodes].filter((name) => !measured.has(name)) };
}
