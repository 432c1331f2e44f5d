import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { acceptedEvictions } from '../control-plane/audit.ts';
import { listPods } from '../control-plane/cluster-state.ts';
import { applyScenario, loadScenario } from '../control-plane/scenario.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/start.ts';
import { waitUntil } from '../control-plane/wait-until.ts';
import { install, OPERATOR_USER, type OperatorProcess, startOperator } from '../support/operator-process.ts';
import { getPlans, getPolicy, policyObject } from '../support/resources.ts';

const log = (line: string): void => void process.stderr.write(`${line}\n`);
const NODES = ['worker-1', 'worker-2', 'worker-3'] as const;

let cp: ControlPlane;
let operator: OperatorProcess | undefined;

beforeAll(async () => {
  cp = await startControlPlane({ metricsServer: false, log });
  await install(cp, 'default');
  await applyScenario(cp, loadScenario(join(import.meta.dirname, '..', 'scenarios', 'sixty-pods.yaml')), { log });
});

afterAll(async () => {
  await operator?.end('SIGTERM');
  await cp?.stop();
});

/** Ready pods by node, in the order of the nodes. */
async function placement(): Promise<readonly number[]> {
  const pods = (await listPods(cp)).filter(
    ({ metadata, status }) =>
      metadata.namespace === 'shop' &&
      metadata.deletionTimestamp === undefined &&
      status.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True'),
  );
  return NODES.map((node) => pods.filter(({ spec }) => spec.nodeName === node).length);
}

async function untilReady(): Promise<void> {
  await waitUntil(
    'waiting for sixty Ready pods',
    async () => {
      const pods = await placement();
      return pods.reduce((sum, each) => sum + each, 0) === 60 ? undefined : pods.join(', ');
    },
    { timeoutMilliseconds: 120_000 },
  );
}

async function cycle(node: string): Promise<void> {
  await cp.kubectl(['drain', node, '--ignore-daemonsets', '--delete-emptydir-data', '--timeout=120s']);
  await untilReady();
  await cp.kubectl(['uncordon', node]);
}

describe('the public benchmark of sixty pods on three workers', () => {
  it('leaves 30, 0 and 30 pods after two cycles of cordon, drain and uncordon', { timeout: 300_000 }, async () => {
    await untilReady();
    await cycle('worker-1');
    await cycle('worker-2');
    expect(await placement()).toEqual([30, 0, 30]);
  });

  it('reaches 20, 20 and 20 within caps of 10 per node and 20 per namespace', { timeout: 480_000 }, async () => {
    operator = await startOperator(cp);
    const spec = {
      mode: 'Automatic',
      interval: '10s',
      strategy: { type: 'RefineLB', refineLB: { overload: '1' } },
      load: { source: 'Requests' },
      thresholds: { trigger: '0.01', minGain: '0.005', minImprovement: '0', minReduction: '0', consecutive: 1 },
      budgets: [{ perNode: 10, perNamespace: 20, maxConcurrent: 8 }],
      protections: { minPodAge: '0s', stabilization: '0s', cooldown: '0s' },
    };
    await cp.apply([policyObject('even', spec)]);
    await waitUntil(
      'waiting for a plan that ended, and two runs after it without moves',
      async () => {
        const { status } = await getPolicy(cp, 'even');
        const runs = (status?.history ?? []).map(({ moves }) => moves);
        const phases = (await getPlans(cp)).map((plan) => plan.status?.phase);
        const isDone = phases.length > 0 && phases.every((phase) => phase === 'Completed');
        return isDone && runs.findIndex((moves) => moves > 0) >= 2
          ? undefined
          : `${phases.join()}; runs ${runs.join()}`;
      },
      { timeoutMilliseconds: 420_000, log },
    );
    expect(await placement()).toEqual([20, 20, 20]);
  });

  it('evicts exactly twenty pods, no pod twice, by the audit log', async () => {
    const evictions = acceptedEvictions(await cp.audit()).filter(({ user }) => user === OPERATOR_USER);
    expect(evictions).toHaveLength(20);
    expect(new Set(evictions.map(({ uidPrecondition }) => uidPrecondition)).size).toBe(20);
  });
});
