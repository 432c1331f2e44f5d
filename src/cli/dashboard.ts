import { pageEndpoints } from '../adapters/http/page-endpoints.ts';
import { type HttpServer, listen } from '../adapters/http/server.ts';
import { isApiError } from '../adapters/kubernetes/api-error.ts';
import { systemClock } from '../adapters/system-clock.ts';
import type { RebalancePolicy } from '../api/v1alpha1/rebalance-policy.ts';
import { type Cluster, connect } from '../app/cluster.ts';
import { Failure } from '../app/failure.ts';
import { isLoopback } from '../app/listening.ts';
import { loadPage } from '../app/page-files.ts';
import { computedSource, operatedSource } from '../app/page-source.ts';
import { openUsageServers } from '../app/usage-servers.ts';
import { createPageFeed, type PageSource } from '../control/page-feed.ts';
import { aborted } from '../control/periodic.ts';
import { readerFor } from '../control/usage-source.ts';
import { escapeText } from '../model/escape.ts';
import { EXCLUDED_NAMESPACES } from '../model/excluded-namespaces.ts';
import { seconds } from '../model/units.ts';
import type { ClusterReader, UsageServers } from '../ports.ts';
import { choosePolicy, defaultPolicy, type InputFlags, isPolicyFile, readInput } from './input.ts';
import { readPolicy } from './policy-file.ts';
import type { Screen } from './screen.ts';

/** Flags of `evenkeel dashboard`. */
export interface DashboardFlags extends InputFlags {
  readonly address: string;
  /** `undefined`: 8090, or the next one that is free. */
  readonly port: string | undefined;
}

/** How to talk to people while it runs. */
export interface DashboardConsole {
  /** The page is served; its address. */
  readonly ready: (url: string) => void;
  readonly warn: (message: string) => void;
  readonly screen: Screen;
}

const FIRST_PORT = 8090;
const LAST_PORT = 8099;
/** Time that caches may take to be filled. */
const PATIENCE = seconds(60);

/** Serves the page on a loopback address until aborted, and changes nothing. Throws Failure, InputError or ApiError for people. */
export async function dashboardCommand(
  flags: DashboardFlags,
  console: DashboardConsole,
  signal: AbortSignal,
): Promise<void> {
  const { address } = flags;
  if (!isLoopback(address)) {
    throw new Failure(
      `--address ${address} would show the cluster to everybody who reaches this machine: write a loopback address such as 127.0.0.1, or serve the page from the operator, which asks who may read it`,
    );
  }
  const ports = parsePorts(flags.port);
  const files = await loadPage();
  await withSource(flags, console, signal, async (source) => {
    const report = (error: unknown): void =>
      console.warn(escapeText(error instanceof Error ? error.message : String(error)));
    const feed = createPageFeed(source, { clock: systemClock, report });
    const endpoints = pageEndpoints(files, feed, () => undefined);
    const hosts = new Set(['127.0.0.1', 'localhost', '[::1]', address.toLowerCase()]);
    const server = await listenOnFirstFree(ports, (port) => listen({ host: address, port, endpoints, report, hosts }));
    const name = address.includes(':') ? `[${address}]` : address;
    console.ready(`http://${name}:${server.port}/`);
    await aborted(signal);
    await server.close();
  });
}

function parsePorts(text: string | undefined): readonly number[] {
  if (text === undefined) {
    return Array.from({ length: LAST_PORT - FIRST_PORT + 1 }, (_, index) => FIRST_PORT + index);
  }
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65535) {
    throw new Failure(`--port ${text} is not a port: write a number from 1 to 65535, or 0 for any free one`);
  }
  return [Number(text)];
}

async function listenOnFirstFree(
  ports: readonly number[],
  open: (port: number) => Promise<HttpServer>,
): Promise<HttpServer> {
  for (const port of ports) {
    try {
      return await open(port);
    } catch (error) {
      const isTaken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
      if (!isTaken) {
        throw new Failure(`cannot listen on port ${port}: ${String(error)}`, 1, { cause: error });
      }
    }
  }
  const tried = ports.length === 1 ? `port ${ports[0]} is` : `ports ${ports[0]} to ${ports.at(-1)} are all`;
  throw new Failure(`${tried} taken: write --port 0 for any free one`);
}

async function withSource(
  flags: DashboardFlags,
  console: DashboardConsole,
  signal: AbortSignal,
  work: (source: PageSource) => Promise<void>,
): Promise<void> {
  if (flags.files.length > 0) {
    const { snapshot, policy } = await readInput(flags, console.screen, signal);
    const source = computedSource(flags.files.join(', '), policy, { snapshot: async () => snapshot });
    await work({ ...source, role: () => 'Files' });
    return;
  }
  const filePolicy = isPolicyFile(flags.policy) ? (await readPolicy(flags.policy)).policy : undefined;
  const usageServers = openUsageServers(flags.prometheus);
  const cluster = await connect(flags, { warn: console.warn });
  const stopping = new AbortController();
  let isSynced = false;
  const refused = Promise.withResolvers<never>();
  refused.promise.catch(() => undefined); // those who wait for the cache get the error; later nobody waits
  const cache = cluster.cache({
    failed: (resource, error) => {
      if (!isSynced && isApiError(error, 'Forbidden')) {
        refused.reject(error);
        return;
      }
      console.warn(`${resource}: ${error instanceof Error ? error.message : String(error)}`);
    },
    drifted: (resource) => console.warn(`${resource}: the cache had drifted, and was put right`),
  });
  let running: Promise<void> | undefined;
  try {
    const named = filePolicy === undefined ? flags.policy : undefined;
    // Before anything is watched: where the server cannot be reached, one message says so, and not one for each kind.
    const planned = filePolicy ?? (await policyToPlanBy(cluster, named, signal));
    running = cache.run(stopping.signal);
    await Promise.race([cache.synced(PATIENCE, signal), refused.promise]);
    isSynced = true;
    await work(sourceOf(cluster, cache.reader, usageServers, planned, named));
  } finally {
    stopping.abort();
    await running;
    await cluster.close();
  }
}

function sourceOf(
  cluster: Cluster,
  reader: ClusterReader,
  usageServers: UsageServers,
  planned: RebalancePolicy | undefined,
  only: string | undefined,
): PageSource {
  return planned === undefined
    ? operatedSource({
        cluster,
        reader,
        role: () => 'Reader',
        excludedNamespaces: EXCLUDED_NAMESPACES,
        usageServers,
        only,
      })
    : computedSource(cluster.url, planned, readerFor(planned.spec, reader, usageServers));
}

/** `undefined` where policies stand on the cluster, whose plans are read; elsewhere the policy of every default. */
async function policyToPlanBy(
  cluster: Cluster,
  name: string | undefined,
  signal: AbortSignal,
): Promise<RebalancePolicy | undefined> {
  try {
    const policies = (await cluster.policies.list(signal)).map(({ policy }) => policy);
    if (name !== undefined) {
      choosePolicy(policies, name); // throws where there is none of that name
    }
    return policies.length === 0 ? defaultPolicy() : undefined;
  } catch (error) {
    if (name === undefined && isApiError(error, 'NotServed', 'Forbidden')) {
      return defaultPolicy();
    }
    throw error;
  }
}
