import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { ApiClient } from '../../src/adapters/kubernetes/client.ts';
import { type ClusterCache, createClusterCache } from '../../src/adapters/kubernetes/cluster-cache.ts';
import { createSharedReflectors } from '../../src/adapters/kubernetes/shared-reflectors.ts';
import { systemClock } from '../../src/adapters/system-clock.ts';
import { seconds } from '../../src/model/units.ts';
import { plainConnection } from '../contract/fake-api-server.ts';
import { printTable } from '../support/print-table.ts';
import { NODES, PODS } from './full-size-objects.ts';

/**
 * Memory, stalls and idle CPU of the operator's caches for 5,000 nodes and 100,000 pods at full size, served by another
 * process, against the targets (quality.md, targets). Run with `npm run bench:memory`, which has the young generation of
 * deploy/base; needs --expose-gc. Nothing is asserted: the table is for people.
 */
const RSS_TARGET_MIB = 512;
const STALL_TARGET_MS = 100;
const CPU_TARGET = 0.02;
const IDLE_SPAN = seconds(20);
/** Until compilers and collectors are done with what came before. */
const REST = seconds(30);

interface Row {
  readonly what: string;
  readonly seconds: number;
  readonly stalls: ReturnType<typeof monitorEventLoopDelay>;
}

async function timed(what: string, work: () => Promise<unknown>): Promise<readonly string[]> {
  const stalls = monitorEventLoopDelay({ resolution: 5 });
  const began = performance.now();
  stalls.enable();
  await work();
  stalls.disable();
  return rowOf({ what, seconds: (performance.now() - began) / 1000, stalls });
}

function rowOf({ what, seconds: took, stalls }: Row): readonly string[] {
  const before = process.memoryUsage().rss;
  globalThis.gc?.();
  const { rss, heapUsed, external } = process.memoryUsage();
  const p99 = stalls.percentile(99) / 1e6;
  return [
    what,
    `${took.toFixed(1)} s`,
    mebibytes(before),
    mebibytes(rss),
    mebibytes(process.resourceUsage().maxRSS * 1024),
    mebibytes(heapUsed + external),
    `${p99.toFixed(0)} ms`,
    `${(stalls.max / 1e6).toFixed(0)} ms`,
    verdict(Math.max(before, rss) / 2 ** 20 <= RSS_TARGET_MIB && p99 <= STALL_TARGET_MS),
  ];
}

function mebibytes(size: number): string {
  return `${(size / 2 ** 20).toFixed(0)} MiB`;
}

function verdict(isMet: boolean): string {
  return isMet ? 'met' : 'MISSED';
}

async function idle(): Promise<readonly string[]> {
  const { signal } = new AbortController();
  await systemClock.sleep(REST, signal);
  const before = process.cpuUsage();
  await systemClock.sleep(IDLE_SPAN, signal);
  const { user, system } = process.cpuUsage(before);
  const share = (user + system) / 1e6 / IDLE_SPAN;
  return [`${(100 * share).toFixed(1)} %`, `${100 * CPU_TARGET} %`, verdict(share <= CPU_TARGET)];
}

async function startServer(): Promise<{ readonly child: ChildProcess; readonly url: string }> {
  const child = fork(new URL('./list-server.ts', import.meta.url), { execArgv: [] });
  const [url] = await once(child, 'message');
  return { child, url: String(url) };
}

async function measure(cache: ClusterCache): Promise<void> {
  const rows = [await timed('before', async () => undefined)];
  const stop = new AbortController();
  const { signal } = stop;
  const running = cache.run(signal);
  rows.push(await timed('first lists', () => cache.synced(seconds(600), signal)));
  while (cache.states().some(({ age }) => age !== 0)) {
    await systemClock.sleep(seconds(0.1), signal);
  }
  for (const run of [1, 2, 3]) {
    rows.push(await timed(`snapshot ${run}, usage listed`, () => cache.reader.snapshot(signal)));
  }
  const quiet = await idle();
  console.log(
    `\n${NODES} nodes, ${PODS} pods; targets: RSS ${RSS_TARGET_MIB} MiB, stalls p99 ${STALL_TARGET_MS} ms:\n`,
  );
  printTable(['', 'time', 'RSS', 'after GC', 'peak', 'heap', 'stall p99', 'stall max', ''], rows);
  console.log('\nCPU while only kubelets report their status:\n');
  printTable(['share', 'target', ''], [quiet]);
  console.log('\nObjects:\n');
  printTable(
    ['resource', 'count'],
    cache.states().map(({ resource, objects }) => [resource, String(objects)]),
  );
  stop.abort();
  await running;
}

async function main(): Promise<void> {
  const { child, url } = await startServer();
  const client = new ApiClient(plainConnection(url), {
    clock: systemClock,
    random: Math.random,
    userAgent: 'evenkeel/bench',
    attempts: 3,
  });
  const log = (resource: string, what: unknown): void => console.error(resource, what);
  const cache = createClusterCache(client, createSharedReflectors(client), { failed: log, drifted: log });
  await measure(cache);
  await client.close();
  child.disconnect();
}

await main();
