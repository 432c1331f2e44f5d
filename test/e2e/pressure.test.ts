import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RebalancePlan } from '../../src/api/v1alpha1/rebalance-plan.ts';
import { CLASS_LABEL } from '../../src/qos/class-of.ts';
import { acceptedEvictions } from '../control-plane/audit.ts';
import { listPods } from '../control-plane/cluster-state.ts';
import { applyScenario, loadScenario, waitForMetrics } from '../control-plane/scenario.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/start.ts';
import { waitUntil } from '../control-plane/wait-until.ts';
import { install, type OperatorProcess, startOperator } from '../support/operator-process.ts';
import { getPlans, getPolicy, policyObject, reasonOf } from '../support/resources.ts';

const log = (line: string): void => void process.stderr.write(`${line}\n`);
const OVERLOAD = '0.50';
/** Millicores that node-1 may use before it is overloaded, of its four cores. */
const LIMIT = 2000;
/** What pods of the scenario use. */
const USES: Readonly<Record<string, number>> = { web: 300, api: 400 };

const STEADY = {
  apiVersion: 'evenkeel.dev/v1alpha1',
  kind: 'ServiceClass',
  metadata: { name: 'steady' },
  spec: { slo: '0.98', importance: 1, window: '1h' },
};

let cp: ControlPlane;
let operator: OperatorProcess;

beforeAll(async () => {
  cp = await startControlPlane({ log, metricResolution: '10s' });
  await install(cp, 'default');
  await applyScenario(cp, loadScenario(join(import.meta.dirname, '..', 'scenarios', 'small.yaml')), { log });
  await waitForMetrics(cp, { log });
  operator = await startOperator(cp, { args: ['--no-leader-elect'] });
});

afterAll(async () => {
  await operator?.end('SIGKILL');
  await cp?.stop();
});

/** Millicores that pods of web and api use on node-1. */
async function usedOnFirst(): Promise<number> {
  const pods = (await listPods(cp)).filter(({ spec }) => spec.nodeName === 'node-1');
  return pods.reduce((sum, { metadata }) => sum + (USES[metadata.labels?.['app'] ?? ''] ?? 0), 0);
}

async function transfers(): Promise<RebalancePlan['spec']['moves'][number][]> {
  return (await getPlans(cp)).flatMap(({ spec }) => spec.moves);
}

describe('workloads that could soon afford no start, on a node that is overloaded', () => {
  it('are moved off it while they can, as few as it takes, and their policy tells of them', async () => {
    expect(await usedOnFirst()).toBeGreaterThan(LIMIT);
    await cp.apply([
      STEADY,
      policyObject('pressure', {
        mode: 'Automatic',
        interval: '30s',
        strategy: { type: 'QoSDriven', qosDriven: { overload: OVERLOAD } },
        budgets: [{ maxMoves: 10, maxConcurrent: 2 }],
        protections: { minPodAge: '0s', stabilization: '0s', cooldown: '0s' },
      }),
    ]);
    await cp.kubectl(['label', 'namespace', 'shop', `${CLASS_LABEL}=steady`]);
    await waitUntil(
      'node-1 is not overloaded',
      async () => {
        const used = await usedOnFirst();
        const done = (await getPlans(cp)).every(({ status }) => status?.finishedAt !== undefined);
        return used <= LIMIT && done ? undefined : `its pods use ${used}m`;
      },
      { timeoutMilliseconds: 240_000, log },
    );
    const moves = await transfers();
    expect(moves.map(({ from }) => from)).toEqual(moves.map(() => 'node-1'));
    expect(moves.every(({ to }) => to === 'node-2' || to === 'node-3')).toBe(true);
    const evictions = acceptedEvictions(await cp.audit()).length;
    expect(evictions).toBeGreaterThan(1);
    expect(evictions).toBeLessThanOrEqual(moves.length);
    expect(await usedOnFirst()).toBeGreaterThan(LIMIT - 2 * (USES['api'] ?? 0));
  });

  it('are summed up in the status', async () => {
    await waitUntil(
      'the status tells of the class',
      async () => {
        const { status } = await getPolicy(cp, 'pressure');
        const [own] = status?.serviceClasses ?? [];
        const fresh = reasonOf(await getPolicy(cp, 'pressure'), 'LedgerFresh');
        return own?.name === 'steady' && own.workloads >= 2 && fresh === 'Fresh'
          ? undefined
          : JSON.stringify([own, fresh]);
      },
      { timeoutMilliseconds: 120_000, log },
    );
  });
});
