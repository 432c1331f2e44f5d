import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ApiClient } from '../../src/adapters/kubernetes/client.ts';
import { connect } from '../../src/adapters/kubernetes/connect.ts';
import { RESOURCES } from '../../src/adapters/kubernetes/resource.ts';
import { bundleOf } from '../../src/adapters/kubernetes/webhook-configuration.ts';
import { systemClock } from '../../src/adapters/system-clock.ts';
import { NEVER } from '../contract/fake-api-server.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/start.ts';
import { waitUntil } from '../control-plane/wait-until.ts';
import { install, type OperatorProcess, startOperator } from '../support/operator-process.ts';
import { getPolicy, policyObject, reasonOf } from '../support/resources.ts';
import { bundles, createPod, hintFor, startWithWebhook } from '../support/webhook.ts';

const log = (line: string): void => void process.stderr.write(`${line}\n`);
const patience = { timeoutMilliseconds: 60_000 };
const CONFIGURATION = 'mutatingwebhookconfiguration/evenkeel';
const SECRET = ['patch', 'secret', 'evenkeel-webhook-tls', '-n', 'evenkeel-system'];
/** As deploy/ has it, in milliseconds. */
const TIMEOUT = 2000;

let cp: ControlPlane;
let admin: ApiClient;
let running: OperatorProcess[] = [];

beforeAll(async () => {
  cp = await startControlPlane({ metricsServer: false, log });
  await install(cp, 'webhook');
  admin = new ApiClient(await connect({ kubeconfig: cp.kubeconfig, context: undefined, env: {} }), {
    userAgent: 'failures',
    attempts: 1,
    clock: systemClock,
    random: Math.random,
  });
  await cp.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } }, hintFor('shop')]);
});

afterEach(async () => {
  await Promise.all(running.map((operator) => operator.end('SIGKILL')));
  running = [];
});

afterAll(async () => {
  await admin?.close();
  await cp?.stop();
});

async function start(...args: readonly string[]): Promise<OperatorProcess> {
  const operator = await startWithWebhook(cp, { args });
  running.push(operator);
  return operator;
}

/** In a dry run. */
const isSteered = (): Promise<boolean> => createPod(admin, 'shop', { dryRun: true });

async function portOf(operator: OperatorProcess): Promise<number> {
  return Number((await operator.logged('operator started'))['webhookPort']);
}

/** Whether a new connection to the webhook would be trusted by what the configuration says at this moment. */
async function isTrusted(port: number): Promise<boolean> {
  const target = { ...RESOURCES.MutatingWebhookConfiguration, name: 'evenkeel' };
  const { body } = await admin.read({ verb: 'get', target }, NEVER);
  const socket = connectTls({ port, host: '127.0.0.1', ca: bundleOf(body, 'placement.evenkeel.dev') });
  try {
    await once(socket, 'secureConnect');
    return socket.authorized;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/** As before the first start. */
async function forgetCertificate(): Promise<void> {
  await cp.kubectl([...SECRET, '--type=json', '-p', '[{"op":"add","path":"/data","value":{}}]']);
}

/** Has the API server verify the webhook again, as it does for each new connection: it trusts one that is open. */
async function connectAnew(): Promise<void> {
  const [bundle = ''] = await bundles(cp);
  const value = Buffer.from(`${bundle}\n`).toString('base64');
  const patch = [{ op: 'replace', path: '/webhooks/0/clientConfig/caBundle', value }];
  await cp.kubectl(['patch', CONFIGURATION, '--type=json', '-p', JSON.stringify(patch)]);
}

function untilSteered(steered: boolean): Promise<void> {
  return waitUntil(
    steered ? 'pods are steered' : 'pods are no longer steered',
    async () => ((await isSteered()) === steered ? undefined : running.at(-1)?.log().slice(-1500)),
    patience,
  );
}

describe('pods are created untouched', () => {
  it('when the operator stalls, after the timeout of the webhook at the latest, and steered when it goes on', async () => {
    const operator = await start();
    await untilSteered(true);
    operator.signal('SIGSTOP');
    const began = performance.now();
    expect(await isSteered()).toBe(false);
    const took = performance.now() - began;
    log(`with a stalled operator a pod was created in ${Math.round(took)} ms`);
    expect(took).toBeLessThan(3 * TIMEOUT);
    operator.signal('SIGCONT');
    await untilSteered(true);
  });

  it('when the operator is killed', async () => {
    const operator = await start();
    await untilSteered(true);
    await operator.end('SIGKILL');
    expect(await isSteered()).toBe(false);
  });

  it('when its certificate has expired, and steered when it could make another', async () => {
    await cp.apply([
      policyObject('insistent', { interval: '10s', load: { source: 'Requests' }, steering: { mode: 'Webhook' } }),
    ]);
    const role = JSON.stringify(
      JSON.parse(await cp.kubectl(['get', 'role', 'evenkeel-webhook', '-n', 'evenkeel-system', '-o', 'json'])),
    );
    await forgetCertificate();
    await start('--webhook-certificate-lifetime', '20s');
    await untilSteered(true);
    await cp.kubectl(['delete', 'role', 'evenkeel-webhook', '-n', 'evenkeel-system']);
    await waitUntil(
      'the policy reports it',
      async () => {
        const { message = '' } = (await getPolicy(cp, 'insistent')).status?.steering ?? {};
        return message.includes('the certificate expired at') ? undefined : message;
      },
      patience,
    );
    await connectAnew();
    await untilSteered(false);
    await cp.kubectl(['create', '-f', '-'], role);
    await untilSteered(true);
  });

  it('and a policy that insists on the webhook of an operator that serves none is told what to install', async () => {
    const operator = await startOperator(cp);
    running.push(operator);
    await cp.apply([policyObject('insistent', { mode: 'Automatic', interval: '10s', steering: { mode: 'Webhook' } })]);
    await waitUntil(
      'the policy reports it',
      async () => {
        const policy = await getPolicy(cp, 'insistent');
        const { mode, message = '' } = policy.status?.steering ?? {};
        const isTold = mode === 'Webhook' && message.includes('serves no webhook: install deploy/overlays/webhook');
        return isTold ? undefined : `${message} ${reasonOf(policy, 'Ready')}`;
      },
      patience,
    );
    await cp.kubectl(['delete', 'rbp', 'insistent']);
  });
});

describe('a certificate that is rotated twice under load', () => {
  it('misses no pod', { timeout: 300_000 }, async () => {
    // What is tested is trust, not the speed of this machine.
    const patient = [{ op: 'replace', path: '/webhooks/0/timeoutSeconds', value: 20 }];
    await cp.kubectl(['patch', CONFIGURATION, '--type=json', '-p', JSON.stringify(patient)]);
    const short = ['--webhook-certificate-lifetime', '40s'];
    await forgetCertificate();
    const follower = await startOperator(cp, { args: ['--webhook-address', '127.0.0.1:0', ...short] });
    running.push(follower);
    await follower.logged('certificate of the webhook renewed');
    const operator = await start(...short);
    await cp.kubectl(['patch', CONFIGURATION, '--type=json', '-p', JSON.stringify(patient)]);
    await untilSteered(true);
    const renewals = () => operator.log().split('"certificate of the webhook renewed"').length - 1;
    const first = renewals();
    const results: boolean[] = [];
    const handshakes: boolean[] = [];
    const ports = await Promise.all([operator, follower].map(portOf));
    const deadline = Date.now() + 200_000;
    while (renewals() < first + 2 && Date.now() < deadline) {
      results.push(await isSteered());
      handshakes.push(...(await Promise.all(ports.map(isTrusted))));
      await sleep(20);
    }
    await sleep(2000);
    results.push(await isSteered());
    const missed = results.filter((steered) => !steered).length;
    const refused = handshakes.filter((trusted) => !trusted).length;
    log(`${results.length} pods during ${renewals() - first} rotations, ${missed} of them not steered`);
    log(`${handshakes.length} new connections to two replicas, ${refused} of them not trusted`);
    expect(renewals()).toBeGreaterThanOrEqual(first + 2);
    expect({ missed, refused }).toEqual({ missed: 0, refused: 0 });
  });
});
