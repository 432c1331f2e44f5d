import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSelfSigned } from '../../src/adapters/http/certificate.ts';
import { fingerprintOf, type KeyPair } from '../../src/adapters/http/key-pair.ts';
import { type OperatorProcess, startOperator } from '../support/operator-process.ts';
import { scrape } from '../support/scrape.ts';

/** A cluster that nobody serves: what the operator listens on does not wait for it. */
const NOWHERE = JSON.stringify({
  apiVersion: 'v1',
  kind: 'Config',
  clusters: [{ name: 'nowhere', cluster: { server: 'https://127.0.0.1:1' } }],
  users: [{ name: 'nobody', user: { token: 'none' } }],
  contexts: [{ name: 'nowhere', context: { cluster: 'nowhere', user: 'nobody' } }],
  'current-context': 'nowhere',
});

const folder = mkdtempSync(join(tmpdir(), 'evenkeel-mounted-'));
const mount = join(folder, 'tls');
const first = createSelfSigned(['evenkeel', '127.0.0.1'], Date.now());
let operator: OperatorProcess;
let metricsPort = 0;
let versions = 0;

/** Puts a pair in the mount as a kubelet does: a new folder, and `..data` replaced in one step (AtomicWriter). */
function publish({ cert, key }: KeyPair): void {
  versions += 1;
  const version = `..version_${versions}`;
  mkdirSync(join(mount, version));
  writeFileSync(join(mount, version, 'tls.crt'), cert);
  writeFileSync(join(mount, version, 'tls.key'), key);
  symlinkSync(version, join(mount, '..data_tmp'));
  renameSync(join(mount, '..data_tmp'), join(mount, '..data'));
}

beforeAll(async () => {
  mkdirSync(mount);
  publish(first);
  for (const name of ['tls.crt', 'tls.key']) {
    symlinkSync(join('..data', name), join(mount, name));
  }
  const kubeconfig = join(folder, 'kubeconfig');
  writeFileSync(kubeconfig, NOWHERE);
  operator = await startOperator(
    { dir: folder, kubeconfigFor: async () => kubeconfig, adopt: () => undefined },
    { args: ['--tls-cert-file', join(mount, 'tls.crt'), '--tls-private-key-file', join(mount, 'tls.key')] },
  );
  metricsPort = Number((await operator.logged('operator started'))['metricsPort']);
});

afterAll(async () => {
  await operator?.end('SIGKILL');
  rmSync(folder, { recursive: true });
});

/** Waits until new connections are presented this certificate. */
async function untilPresented(pair: KeyPair): Promise<void> {
  while ((await scrape(metricsPort, '/metrics')).certificate !== fingerprintOf(pair)) {
    await sleep(200);
  }
}

describe('an operator whose certificate is a mounted Secret', () => {
  it('serves with it and says its fingerprint', async () => {
    const { certificate, code } = await scrape(metricsPort, '/metrics');
    expect(certificate).toBe(fingerprintOf(first));
    expect((await operator.logged('operator started'))['certificate']).toBe(certificate);
    expect(code).toBe(401);
  });

  it('keeps it while the next one is of no use, and takes a good one without a restart', async () => {
    const before = (await scrape(metricsPort, '/metrics')).certificate;
    const [one, other] = [0, 1].map(() => createSelfSigned(['evenkeel', '127.0.0.1'], Date.now())) as [
      KeyPair,
      KeyPair,
    ];
    publish({ cert: one.cert, key: other.key });
    while (!operator.log().includes('the private key is not that of the certificate')) {
      await sleep(200);
    }
    expect((await scrape(metricsPort, '/metrics')).certificate).toBe(before);
    publish(one);
    await untilPresented(one);
    expect(operator.log()).toContain('"msg":"certificate of /metrics renewed"');
  });
});
