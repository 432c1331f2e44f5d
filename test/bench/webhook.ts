import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiClient } from '../../src/adapters/kubernetes/client.ts';
import { connect } from '../../src/adapters/kubernetes/connect.ts';
import { systemClock } from '../../src/adapters/system-clock.ts';
import { listNodes } from '../control-plane/cluster-state.ts';
import { applyScenario, loadScenario } from '../control-plane/scenario.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/start.ts';
import { install, type OperatorProcess } from '../support/operator-process.ts';
import { printTable } from '../support/print-table.ts';
import { type Creation, createPod, hintFor, type Owner, startWithWebhook } from '../support/webhook.ts';

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

/** In the order of how much else they make the machine do: of pods that are bound, scheduler and kubelets take their share. */
const CREATIONS: Readonly<Record<string, Creation>> = {
  'dry run': { dryRun: true },
  stored: { dryRun: false, schedulerName: 'nobody' },
  bound: { dryRun: false },
};

const steered: Record<Namespace, number> = { with: 0, without: 0 };

type Owners = Readonly<Record<Namespace, Owner>>;

const log = (line: string): void => void process.stderr.write(`${line}\n`);

/** Resolves to the milliseconds that a pod's creation took. */
async function timed(client: ApiClient, namespace: Namespace, creation: Creation): Promise<number> {
  const began = performance.now();
  const isSteered = await createPod(client, namespace, creation);
  steered[namespace] += isSteered ? 1 : 0;
  return performance.now() - began;
}

/** Sends at a fixed rate, whether answers are late or not. */
async function turn(client: ApiClient, namespace: Namespace, creation: Creation): Promise<readonly number[]> {
  const began = performance.now();
  const sent: Promise<number>[] = [];
  while (sent.length < RATE * TURN) {
    const wait = began + (sent.length * 1000) / RATE - performance.now();
    if (wait > 0) {
      await sleep(wait);
    }
    sent.push(timed(client, namespace, creation));
  }
  return Promise.all(sent);
}

async function measure(
  client: ApiClient,
  owners: Owners,
  creation: Creation,
): Promise<Readonly<Record<Namespace, readonly number[]>>> {
  const times: Record<Namespace, number[]> = { with: [], without: [] };
  for (let round = 0; round <= TURNS; round += 1) {
    for (const namespace of NAMESPACES) {
      const taken = await turn(client, namespace, { ...creation, owner: owners[namespace] });
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

/** Resolves to the controller of the pods of each namespace: one that is there, so that no garbage collector removes them. */
async function prepare(cp: ControlPlane): Promise<Owners> {
  await install(cp, 'webhook');
  const scenario = loadScenario(join(import.meta.dirname, '..', 'scenarios', 'webhook.yaml'));
  await applyScenario(cp, scenario, { log });
  await cp.apply(NAMESPACES.map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })));
  const owners = { with: await ownerIn(cp, 'with'), without: await ownerIn(cp, 'without') };
  const names = (await listNodes(cp)).map(({ metadata }) => metadata.name);
  await cp.apply(NAMESPACES.map((namespace) => hintFor(namespace, names, owners[namespace])));
  const path = '/webhooks/0/namespaceSelector/matchExpressions/0/values/-';
  const patch = JSON.stringify([{ op: 'add', path, value: 'without' }]);
  await cp.kubectl(['patch', CONFIGURATION, '--type=json', '-p', patch]);
  return owners;
}

async function ownerIn(cp: ControlPlane, namespace: Namespace): Promise<Owner> {
  const [apiVersion, kind, name] = ['v1', 'ConfigMap', 'owner'];
  await cp.apply([{ apiVersion, kind, metadata: { name, namespace } }]);
  const uid = await cp.kubectl(['get', 'configmap', name, '-n', namespace, '-o', 'jsonpath={.metadata.uid}']);
  return { apiVersion, kind, name, uid };
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
  const owners = await prepare(cp);
  operator = await startWithWebhook(cp);
  await sleep(3000);
  const rows: (readonly string[])[] = [];
  for (const [what, creation] of Object.entries(CREATIONS)) {
    rows.push(rowOf(what, await measure(client, owners, creation)));
  }
  const title = ['pods', 'each', 'p50 without', 'with', 'added', 'p99 without', 'with', 'added'];
  printTable(title, rows);
  log(`steered: ${steered.with} with the webhook, ${steered.without} without`);
} finally {
  await operator?.end('SIGKILL');
  await client.close();
  await cp.stop();
}
