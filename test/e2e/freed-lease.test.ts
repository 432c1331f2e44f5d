import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ControlPlane, startControlPlane } from '../control-plane/start.ts';
import { shellBlocks } from '../docs/pages.ts';
import { shellIn } from '../docs/shell.ts';
import { install, type OperatorProcess, startOperator } from '../support/operator-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'evenkeel-freed-lease-'));
let cp: ControlPlane;
let operator: OperatorProcess | undefined;

beforeAll(async () => {
  cp = await startControlPlane({ metricsServer: false, log: (line) => void process.stderr.write(`${line}\n`) });
  await install(cp, 'default');
});

afterAll(async () => {
  await operator?.end('SIGKILL');
  await cp?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** As replicas leave it that share their work and were all killed. */
const LEFT_OVER = {
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name: 'evenkeel', namespace: 'evenkeel-system' },
  spec: {
    holderIdentity: 'evenkeel-shards',
    leaseDurationSeconds: 2 ** 31 - 1,
    acquireTime: '2026-01-01T12:00:00.000000Z',
    renewTime: '2026-01-01T12:00:00.000000Z',
    leaseTransitions: 4,
  },
};

it('a single leader waits for replicas that shared the work, until the Lease is freed as docs/replicas.md says', async () => {
  await cp.apply([LEFT_OVER]);
  operator = await startOperator(cp, { args: ['--lease-duration', '2s'] });
  expect(await operator.logged('another replica leads')).toMatchObject({ holder: 'evenkeel-shards' });
  await new Promise((resolve) => setTimeout(resolve, 6_000));
  expect(operator.log()).not.toContain('"msg":"leading"');
  const shell = shellIn(folder, [dirname(cp.bin('kubectl'))], { KUBECONFIG: cp.kubeconfig });
  const [free = 'exit 99'] = shellBlocks('docs/replicas.md#A Lease that was not freed');
  expect(await shell(free)).toMatchObject({ code: 0 });
  expect(await operator.logged('leading')).toMatchObject({ epoch: 5 });
});
