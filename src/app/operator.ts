import { setFlagsFromString } from 'node:v8';
import { collectDefaultMetrics } from 'prom-client';
import { startCron } from '../adapters/cron.ts';
import type { CachedPlans } from '../adapters/kubernetes/cached-plans.ts';
import { systemClock } from '../adapters/system-clock.ts';
import { appGraphKind } from '../api/v1alpha1/app-graph.ts';
import { rebalancePolicyKind } from '../api/v1alpha1/rebalance-policy.ts';
import { serviceClassKind } from '../api/v1alpha1/service-class.ts';
import { compileSchemas } from '../api/validate.ts';
import { type ElectionEvent, LeadershipLostError } from '../control/elector.ts';
import { digestEnded } from '../control/ended-plans.ts';
import { createGateQueue } from '../control/gate-queue.ts';
import { keepGates } from '../control/gates.ts';
import { createJournals } from '../control/journals.ts';
import type { LeaseTimes } from '../control/lease.ts';
import { createLedgerNews, type LedgerNews } from '../control/ledger-health.ts';
import { keepLedgers } from '../control/ledgers.ts';
import { runLoop } from '../control/loop.ts';
import { OPERATOR_PACE } from '../control/pace.ts';
import { createPageFeed } from '../control/page-feed.ts';
import { type Leadership, leadingEverything, type Term } from '../control/shards/leadership.ts';
import type { Seconds } from '../model/units.ts';
import {
  type Journals,
  type Log,
  NamespaceMissingError,
  type ServiceRecords,
  type Telemetry,
  type UsageServers,
} from '../ports.ts';
import { type ClassFulfilment, fulfilmentByClass } from '../qos/fulfilment.ts';
import { createMetrics, type Metrics } from '../report/metrics/metrics.ts';
import { VERSION } from '../version.ts';
import { type RunningCache, startCache } from './cache.ts';
import { type Cluster, type ClusterFlags, connect } from './cluster.ts';
import { type Election, type ElectionFlags, openElection } from './election.ts';
import { Failure } from './failure.ts';
import { createLog } from './log.ts';
import { loadPage } from './page-files.ts';
import { operatedSource } from './page-source.ts';
import { openServing, type Serving, type ServingFlags } from './serving.ts';
import { shareWork } from './sharing.ts';
import { openUsageServers, type PrometheusFlags } from './usage-servers.ts';
import { openWebhook, type RunningWebhook } from './webhook.ts';
import type { WebhookFlags } from './webhook-server.ts';

/** Flags of `evenkeel operator`. */
export interface OperatorFlags extends ClusterFlags, ElectionFlags, ServingFlags, PrometheusFlags, WebhookFlags {
  /** Whether to act only while holding the lease. */
  readonly leaderElect: boolean;
  /** Moves in flight at a time, of all policies. */
  readonly maxConcurrent: number;
  readonly logLevel: string;
}

/** The operator is not ready when it last reached the API server, in a pass or for the lease, longer ago than this. */
const READY_WINDOW = 120;

/** One running operator. */
interface Operator {
  readonly flags: OperatorFlags;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly usageServers: UsageServers;
  /** When a pass last reached the API server, or this replica began to lead or waited to share, on the monotonic clock. */
  lastPass: Seconds | undefined;
}

/** Kinds of which the operator judges objects. */
const WRITTEN_BY_PEOPLE = [rebalancePolicyKind, serviceClassKind, appGraphKind];

/**
 * Runs the operator until aborted; moves in flight are left in the journal. Throws Failure when it cannot start, and when
 * it has lost the lease: the process must end then, before the next leader can begin.
 */
export async function runOperator(flags: OperatorFlags, signal: AbortSignal): Promise<void> {
  keepHeapSmall();
  const log = createLog(flags.logLevel);
  const operator: Operator = {
    flags,
    log,
    metrics: createMetrics(VERSION),
    usageServers: openUsageServers(flags),
    lastPass: undefined,
  };
  collectDefaultMetrics({ register: operator.metrics.registry });
  if (flags.shardPolicies && !flags.leaderElect) {
    throw new Failure(
      '--shard-policies needs a Lease for each replica: leave out --no-leader-elect, or --shard-policies',
    );
  }
  const election = flags.leaderElect ? await joinElection(operator) : undefined;
  let webhook: RunningWebhook | undefined;
  const connected = await connect(flags, {
    onRequest: operator.metrics.apiRequest,
    warn: (problem) => log('request failed', { problem }),
    webhook: () => webhook,
    ...(election === undefined ? {} : { fence: election.elector }),
  });
  const plans = connected.cachedPlans((err) => log('list or watch failed', { resource: 'plans', err }), digestEnded);
  const records = connected.serviceRecords({
    failed: (resource, err) => log('list or watch failed', { resource, err }),
    unreadable: (problem) => log('object not counted', { problem }),
  });
  const cluster = { ...connected, plans: createJournals(plans.store, systemClock), records };
  const caching = Promise.withResolvers<RunningCache>();
  const serving = await serveHttp(operator, cluster, caching.promise, election);
  const { healthPort, metricsPort, certificate } = serving;
  const stopping = new AbortController();
  const ended = AbortSignal.any([signal, stopping.signal]);
  const watching = Promise.all([plans.run(ended), election?.containers.watch(ended)]);
  const cache = startCache(cluster, operator.metrics, log, signal);
  const recording = records.watch(ended);
  // Before this replica takes part: one that stood still right after would miss renewals of its Lease.
  compileSchemas(WRITTEN_BY_PEOPLE);
  caching.resolve(cache);
  try {
    webhook = await serveWebhook(operator);
    const program = { version: VERSION, nodeVersion: process.version, apiServer: cluster.url };
    log('operator started', { ...program, healthPort, metricsPort, webhookPort: webhook?.port, certificate });
    await lead(operator, cluster, plans, cache, election, signal);
  } catch (error) {
    throw explained(error, flags);
  } finally {
    stopping.abort();
    await Promise.all([cache.stop(), recording, watching]);
    await Promise.all([serving.close(), webhook?.close()]);
    await Promise.all([cluster.close(), election?.close()]);
    log('operator stopped', {});
  }
}

/** Does a leader's work: as soon as this replica leads, or at once without an election. Resolves when stopped. */
async function lead(
  operator: Operator,
  cluster: Cluster & { readonly plans: Journals; readonly records: ServiceRecords },
  plans: Pick<CachedPlans, 'written' | 'caughtUp' | 'renew'>,
  cache: RunningCache,
  election: Election | undefined,
  signal: AbortSignal,
): Promise<void> {
  const { flags, log, metrics, usageServers } = operator;
  const passed = (): void => {
    operator.lastPass = systemClock.monotonic();
  };
  const settings = {
    excludedNamespaces: excludedNamespaces(flags),
    maxInFlight: flags.maxConcurrent,
    pace: { ...OPERATOR_PACE, onArrival: cache.onArrival },
    passed,
  };
  const { runFailed, preempted } = metrics;
  const isShared = flags.shardPolicies && election !== undefined;
  const telemetry = isShared ? withLog(metrics.telemetry, log) : metrics.telemetry;
  const ledgerNews = createLedgerNews();
  metrics.showServices(() => servicesOf(ledgerNews));
  const demand = createGateQueue(cache.turnover);
  const ports = {
    ...cluster,
    reader: cache.reader,
    telemetry,
    runFailed,
    log,
    demand,
    ledgerNews,
    usageServers,
    startCron,
  };
  const rest = async (leadership: Leadership, own: AbortSignal): Promise<void> => {
    await Promise.all([
      keepGates({ ...ports, leadership }, settings, own),
      keepLedgers({ ...ports, preempted }, settings, own),
    ]);
  };
  const policies = (leadership: Leadership, own: AbortSignal) => runLoop({ ...ports, leadership }, settings, own);
  if (isShared) {
    const { ready } = cache;
    return shareWork(
      election,
      { policies, rest: leadingRest(operator, rest) },
      { log, looked: passed, plans, ready },
      signal,
    );
  }
  const everything = async (epoch: number | undefined, own: AbortSignal): Promise<void> => {
    plans.renew();
    await cache.ready;
    const leadership = leadingEverything(election?.identity, epoch);
    await Promise.all([policies(leadership, own), rest(leadership, own)]);
  };
  metrics.leads(election === undefined);
  await (election === undefined ? everything(undefined, signal) : election.elector.run(everything, signal));
}

/** The rest, with word of who does it. */
function leadingRest(
  { log, metrics }: Operator,
  rest: (leadership: Leadership, signal: AbortSignal) => Promise<void>,
): (leadership: Leadership, term: Term) => Promise<void> {
  return async (leadership, { epoch, signal }) => {
    metrics.leads(true);
    log('leading', { epoch });
    try {
      await rest(leadership, signal);
    } finally {
      metrics.leads(false);
      metrics.telemetry.waiting([], systemClock.now());
    }
  };
}

/** `telemetry` that logs as well which policies this replica leads. */
function withLog(telemetry: Telemetry, log: Log): Telemetry {
  let before: readonly string[] = [];
  return {
    ...telemetry,
    led(names) {
      for (const policy of names.filter((name) => !before.includes(name))) {
        log('policy led', { policy });
      }
      for (const policy of before.filter((name) => !names.includes(name))) {
        log('policy handed over', { policy });
      }
      before = names;
      telemetry.led(names);
    },
  };
}

/** How all workloads with a ledger are served at this moment; empty on a replica that does not lead. */
function servicesOf(news: LedgerNews): readonly ClassFulfilment[] {
  const { classes, ledgers } = news.levels();
  const requests = [...ledgers.values()].flatMap((ledger) => {
    const serviceClass = classes.get(ledger.className);
    return serviceClass === undefined ? [] : [{ serviceClass, ledger }];
  });
  return fulfilmentByClass(requests, systemClock.now());
}

async function joinElection(operator: Operator): Promise<Election> {
  const election: Election = await openElection(operator.flags, {
    onRequest: operator.metrics.apiRequest,
    report: (event) => follow(operator, election.times, event),
  });
  return election;
}

function follow(operator: Operator, times: LeaseTimes, event: ElectionEvent): void {
  const { log, metrics } = operator;
  switch (event.kind) {
    case 'Waiting':
      log('another replica leads', { holder: event.holder });
      break;
    case 'Leading':
      operator.lastPass = systemClock.monotonic();
      if (!operator.flags.shardPolicies) {
        metrics.leads(true);
        log('leading', { epoch: event.epoch });
      }
      break;
    case 'Lost':
      endSoon(times);
      metrics.leads(false);
      log('leadership lost', { err: event.error });
      break;
    case 'Released':
      metrics.leads(false);
      log('lease released', {});
      break;
    case 'Failed':
      log('lease request failed', { err: event.error });
      break;
    default:
      event satisfies never;
  }
}

/**
 * Ends the process halfway between our deadline and the moment from which another replica may lead, even if something
 * does not stop when asked. Work that ends earlier is not waited for.
 */
function endSoon({ duration, renewDeadline }: LeaseTimes): void {
  setTimeout(() => process.exit(1), ((duration - renewDeadline) / 2) * 1000).unref();
}

function explained(error: unknown, { ownNamespace }: OperatorFlags): unknown {
  if (error instanceof LeadershipLostError) {
    return new Failure(`${error.message}: this replica ends, since another one may lead now`, 1, { cause: error });
  }
  if (error instanceof NamespaceMissingError) {
    const advice = `create it (kubectl create namespace ${ownNamespace}), name another one with --own-namespace, or write --no-leader-elect if no other operator runs`;
    return new Failure(`there is no namespace ${ownNamespace} to keep the lease in: ${advice}`, 1, { cause: error });
  }
  return error;
}

function excludedNamespaces({ ownNamespace }: OperatorFlags): ReadonlySet<string> {
  return new Set(['kube-system', ownNamespace]);
}

function serveWebhook({ flags, log, metrics }: Operator): Promise<RunningWebhook | undefined> {
  return openWebhook(flags, {
    onRequest: metrics.apiRequest,
    warn: (problem) => log('serving problem', { problem }),
    renewed: (certificate) => log('certificate of the webhook renewed', { certificate }),
  });
}

async function serveHttp(
  operator: Operator,
  cluster: Cluster,
  caching: Promise<RunningCache>,
  election: Election | undefined,
): Promise<Serving> {
  const { flags, log, metrics, usageServers } = operator;
  const { registry } = metrics;
  const role = () => (election === undefined || election.elector.leading ? 'Leader' : 'Follower');
  const reader = { snapshot: async (signal: AbortSignal) => (await caching).reader.snapshot(signal) };
  const source = operatedSource({ cluster, reader, role, excludedNamespaces: excludedNamespaces(flags), usageServers });
  const report = (err: unknown): void => log('page incomplete', { err });
  return openServing(flags, {
    page: { files: await loadPage(), feed: createPageFeed(source, { clock: systemClock, report }) },
    metrics: async () => ({ type: registry.contentType, body: await registry.metrics() }),
    unreadiness: () => unreadiness(operator, election),
    onRequest: metrics.apiRequest,
    warn: (problem) => log('serving problem', { problem }),
    renewed: (certificate) => log('certificate of /metrics renewed', { certificate }),
  });
}

/** A replica that does not lead is ready when it could: when it reaches the lease. */
function unreadiness({ lastPass }: Pick<Operator, 'lastPass'>, election: Election | undefined): string | undefined {
  return election === undefined || election.elector.leading
    ? tooLongAgo(lastPass, 'pass that reached the API server')
    : tooLongAgo(election.elector.contactedAt, 'look at the lease');
}

function tooLongAgo(instant: Seconds | undefined, what: string): string | undefined {
  if (instant === undefined) {
    return `no ${what} yet`;
  }
  const age = systemClock.monotonic() - instant;
  return age > READY_WINDOW ? `the last ${what} was ${Math.round(age)} s ago` : undefined;
}

/**
 * Lets V8 favour memory over speed from now on: its heap grows by a third at most between two collections, and sparsely used
 * pages are compacted. Without it a process that runs for weeks keeps pages from its busiest moments.
 */
function keepHeapSmall(): void {
  setFlagsFromString('--optimize-for-size');
}
