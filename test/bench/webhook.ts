import { setTimeout as sleep } from 'node:timers/promises';
import { ApiClient } from '../../src/adapters/kubernetes/client.ts';
import { connect } from '../../src/adapters/kubernetes/connect.ts';
import { systemClock } from '../../src/adapters/system-clock.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/start.ts';
import { install, type OperatorProcess } from '../support/operator-process.ts';
import { printTable } from '../support/print-table.ts';
import { createPod, hintFor, startWithWebhook } from '../support/webhook.ts';

/**
 * How long the creation of a pod takes with and without the webhook, at 100 pods a second (EVENKEEL_BENCH_RATE: at another rate) on a real API server, each of a controller
 * with a hint. Run with `npm run bench:webhook`. Nothing is asserted: the table is for people. Give it a machine of its own.
 */
const RATE = Number(process.env['EVENKEEL_BENCH_RATE'] ?? 100);
/** Seconds with and without in turn, so that whatever else the machine does falls on both. */
const TURN = 5;
const TURNS = 6;
/** The first of these is told to the webhook, the second is not. */
const NAMESPACES = ['with', 'without'] as const;
const CONFIGURATION = 'mutatingwebhookconfiguration/evenkeel';

type Namespace = (typeof NAMESPACES)[number];

const log = (line: string): void => void process.stderr.write(`${line}\n`);

/** Resolves to the milliseconds that a pod's creation took. */
async function timed(client: ApiClient, namespace: Namespace, dryRun: boolean): Promise<number> {
  const began = performance.now();
  const isSteered = await createPod(client, namespace, { dryRun });
  steered[namespace] += isSteered ? 1 : 0;
  return performance.now() - began;
}

const steered: Record<Namespace, number> = { with: 0, without: 0 };

/** Sends at a fixed rate, whether answers are late or not. */
async function turn(client: ApiClient, namespace: Namespace, dryRun: boolean): Promise<readonly number[]> {
  const began = performance.now();
  const sent: Promise<number>[] = [];
  while (sent.length < RATE * TURN) {
    const wait = began + (sent.length * 1000) / RATE - performance.now();
    if (wait > 0) {
      await sleep(wait);
    }
    sent.push(timed(client, namespace, dryRun));
  }
  return Promise.all(sent);
}

async function measure(client: ApiClient, dryRun: boolean): Promise<Readonly<Record<Namespace, readonly number[]>>> {
  const times: Record<Namespace, number[]> = { with: [], without: [] };
  for (let round = 0; round <= TURNS; round += 1) {
    for (const namespace of NAMESPACES) {
      const taken = await turn(client, namespace, dryRun);
      // The first turns open connections and compile code.
      times[namespace].push(...(round === 0 ? [] : taken));
    }
  }
  return times;
}

function percentile(times: readonly number[], share: number): number {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}

function rowOf(what: string, times: Readonly<Record<Namespace, readonly number[]>>): readonly string[] {
  const at = (share: number) => NAMESPACES.map((namespace) => percentile(times[namespace], share)) as [number, number];
  const cells = [0.5, 0.99].flatMap((share) => {
    const [withIt, without] = at(share);
    return [without, withIt, withIt - without].map((time) => `${time.toFixed(1)} ms`);
  });
  return [what, String(times.with.length), ...cells];
}

async function prepare(cp: ControlPlane): Promise<void> {
  await install(cp, 'webhook');
  await cp.apply([
    ...NAMESPACES.map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })),
    ...NAMESPACES.map((namespace) => hintFor(namespace, ['node-1', 'node-2'])),
  ]);
  const path = '/webhooks/0/namespaceSelector/matchExpressions/0/values/-';
  const patch = JSON.stringify([{ op: 'add', path, value: 'without' }]);
  await cp.kubectl(['patch', CONFIGURATION, '--type=json', '-p', patch]);
}

const cp = await startControlPlane({ metricsServer: false, log });
let operator: OperatorProcess | undefined;
const client = new ApiClient(await connect({ kubeconfig: cp.kubeconfig, context: undefined, env: {} }), {
  userAgent: 'bench',
  attempts: 1,
  clock: systemClock,
  random: Math.random,
});
try {
  await prepare(cp);
  operator = await startWithWebhook(cp);
  await sleep(3000);
  const rows = [rowOf('dry run', await measure(client, true)), rowOf('real', await measure(client, false))];
  const title = ['pods', 'each', 'p50 without', 'with', 'added', 'p99 without', 'with', 'added'];
  printTable(title, rows);
  log(`steered: ${steered.with} with the webhook, ${steered.without} without`);
} finally {
  await operator?.end('SIGKILL');
  await client.close();
  await cp.stop();
}
