import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ControlPlane, startControlPlane } from '../control-plane/start.ts';
import { install, type OperatorProcess, startOperator } from '../support/operator-process.ts';

let cp: ControlPlane;
let operator: OperatorProcess | undefined;

beforeAll(async () => {
  cp = await startControlPlane({ metricsServer: false, log: (line) => void process.stderr.write(`${line}\n`) });
  await install(cp, 'default');
});

afterAll(async () => {
  await operator?.end('SIGKILL');
  await cp?.stop();
});

/** Names of Leases, with holder and duration. */
function aLease(name: string, labels: Readonly<Record<string, string>>, holderIdentity: string, seconds: number) {
  const now = new Date().toISOString().replace('Z', '000Z');
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name, namespace: 'evenkeel-system', labels },
    spec: {
      holderIdentity,
      leaseDurationSeconds: seconds,
      acquireTime: now,
      renewTime: now,
      leaseTransitions: 4,
    },
  };
}

const asReplica = () => aLease('evenkeel-replica-0123456789', { 'evenkeel.dev/lease': 'replica' }, 'host_1', LIFE);
/** Seconds that a replica lives after it has renewed its Lease. */
const LIFE = 4;

it('a single leader waits for replicas that share the work for as long as one of them lives', async () => {
  await cp.apply([aLease('evenkeel', {}, 'evenkeel-shards', 2 ** 31 - 1), asReplica()]);
  operator = await startOperator(cp, { args: ['--lease-duration', '2s'] });
  expect(await operator.logged('another replica leads')).toMatchObject({ holder: 'evenkeel-shards' });
  for (let renewals = 0; renewals < 4; renewals += 1) {
    await cp.apply([asReplica()]);
    await sleep(LIFE * 500);
    expect(operator.log()).not.toContain('"msg":"leading"');
  }
  expect(await operator.logged('leading')).toMatchObject({ epoch: 5 });
});
