import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RebalancePlan } from '../../src/api/v1alpha1/rebalance-plan.ts';
import { acceptedEvictions } from '../control-plane/audit.ts';
import { listPods, type PodState } from '../control-plane/cluster-state.ts';
import { applyScenario, loadScenario } from '../control-plane/scenario.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/start.ts';
import { waitUntil } from '../control-plane/wait-until.ts';
import { acceptedPodPatches } from '../support/audited-replicas.ts';
import { install, OPERATOR_USER, type OperatorProcess, OVERLAYS, startOperator } from '../support/operator-process.ts';
import { getPlans, getPolicy, policyObject, reasonOf } from '../support/resources.ts';

const log = (line: string): void => void process.stderr.write(`${line}\n`);
const GATE = 'evenkeel.dev/qos';
const SHORT_LEASE = { args: ['--lease-duration', '4s', '--metrics-insecure'] };

let cp: ControlPlane;
let operator: OperatorProcess;

beforeAll(async () => {
  cp = await startControlPlane({ metricsServer: false, log });
  await applyScenario(cp, loadScenario(join(import.meta.dirname, '..', 'scenarios', 'gated.yaml')), { log });
});

afterAll(async () => {
  await operator?.end('SIGKILL');
  await cp?.stop();
});

async function mayPatchPods(): Promise<string> {
  const answer = cp.kubectl(['auth', 'can-i', 'patch', 'pods', '-n', 'shop', `--as=${OPERATOR_USER}`]);
  return (await answer.catch(() => 'no')).trim();
}

function isGated({ spec }: PodState): boolean {
  return (spec.schedulingGates ?? []).some(({ name }) => name === GATE);
}

async function gatedPods(): Promise<readonly PodState[]> {
  return (await listPods(cp)).filter((pod) => isGated(pod) && pod.metadata.deletionTimestamp === undefined);
}

async function plan(): Promise<RebalancePlan | undefined> {
  return (await getPlans(cp))[0];
}

/** Pods of a Deployment that run, by node. */
async function running(deployment: string): Promise<readonly string[]> {
  const pods = (await listPods(cp)).filter(({ metadata }) => metadata.name.startsWith(`${deployment}-`));
  return pods.filter(({ status }) => status.phase === 'Running').map(({ spec }) => spec.nodeName ?? '');
}

/** Waits until a Deployment runs so many pods. */
async function untilRunning(deployment: string, replicas: number): Promise<void> {
  await waitUntil(
    `${deployment} runs ${replicas} pods`,
    async () => {
      const { length } = await running(deployment);
      return length === replicas ? undefined : `${length} run; ${operator.log().slice(-1500)}`;
    },
    { timeoutMilliseconds: 60_000 },
  );
}

async function metrics(): Promise<string> {
  const { metricsPort } = await operator.logged('operator started');
  return (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
}

describe('the right to open gates', () => {
  it('is in overlay gate alone; without it a policy that asks for Gate says what to install', async () => {
    await install(cp, 'dry-run');
    expect(await mayPatchPods()).toBe('no');
    await install(cp, 'default');
    expect(await mayPatchPods()).toBe('no');
    operator = await startOperator(cp, SHORT_LEASE);
    await cp.apply([
      policyObject('gated', {
        mode: 'Automatic',
        interval: '24h',
        load: { source: 'Requests' },
        thresholds: { trigger: '0.05', consecutive: 1 },
        budgets: [{ maxMoves: 100, maxConcurrent: 1, perOwner: '100%' }],
        protections: { minPodAge: '0s', stabilization: '0s', cooldown: '0s' },
        steering: { mode: 'Gate' },
      }),
    ]);
    await waitUntil(
      'the policy is not Ready',
      async () => {
        const reason = reasonOf(await getPolicy(cp, 'gated'), 'Ready');
        return reason === 'SteeringUnavailable' ? undefined : `Ready: ${reason}`;
      },
      { timeoutMilliseconds: 30_000 },
    );
    const { status } = await getPolicy(cp, 'gated');
    expect(status?.conditions?.find(({ type }) => type === 'Ready')).toMatchObject({
      status: 'False',
      message: expect.stringContaining('install deploy/overlays/gate'),
    });
    expect(acceptedEvictions(await cp.audit())).toEqual([]);
    await cp.kubectl(['label', 'namespace', 'shop', 'evenkeel.dev/gate=enabled']);
    await install(cp, 'gate');
    expect(await mayPatchPods()).toBe('yes');
  });
});

describe('a plan under Gate', () => {
  it('survives kill -9 between an eviction and the gate: the next leader opens it to the planned node', async () => {
    let held: PodState | undefined;
    await waitUntil(
      'the operator is killed while a replacement is gated',
      async () => {
        const [seen] = await gatedPods();
        if (seen === undefined) {
          await sleep(20);
          return `none is gated; plan ${(await plan())?.status?.phase}`;
        }
        await operator.end('SIGKILL');
        held = (await gatedPods()).find(({ metadata }) => metadata.uid === seen.metadata.uid);
        if (held === undefined) {
          operator = await startOperator(cp, SHORT_LEASE);
          return 'its gate was opened before the kill';
        }
        return undefined;
      },
      { timeoutMilliseconds: 120_000, log },
    );
    await sleep(3000);
    expect((await gatedPods()).map(({ metadata }) => metadata.uid)).toEqual([held?.metadata.uid]);
    operator = await startOperator(cp, SHORT_LEASE);
    const journal = async () => {
      const found = await plan();
      const at = found?.status?.moves?.findIndex(({ replacement }) => replacement?.uid === held?.metadata.uid) ?? -1;
      return { move: found?.spec.moves[at], run: found?.status?.moves?.[at] };
    };
    await waitUntil(
      'the move that was cut short lands',
      async () => ((await journal()).run?.phase === 'Landed' ? undefined : `${(await journal()).run?.phase}`),
      { timeoutMilliseconds: 60_000, log },
    );
    const pod = (await listPods(cp)).find(({ metadata }) => metadata.uid === held?.metadata.uid);
    expect(pod?.spec.nodeName).toBe((await journal()).move?.to);
  });

  it('lands every replacement on its node, where the scheduler would have put none', async () => {
    await waitUntil(
      'the plan ends',
      async () => ((await plan())?.status?.phase === 'Completed' ? undefined : `${(await plan())?.status?.phase}`),
      { timeoutMilliseconds: 200_000, log },
    );
    const ended = await plan();
    const phases = ended?.status?.moves?.map(({ phase }) => phase) ?? [];
    log(`under Gate: ${phases.length} moves, ${phases.filter((phase) => phase === 'Landed').length} landed`);
    expect(ended?.status?.steering).toBe('Gate');
    expect(ended?.spec.expectedHitRatio).toBe('0');
    expect(phases.length).toBeGreaterThanOrEqual(10);
    expect(new Set(phases)).toEqual(new Set(['Landed']));
    expect(ended?.spec.moves.filter(({ to }) => to === 'node-1')).toEqual([]);
    const accepted = acceptedEvictions(await cp.audit()).map(({ uidPrecondition }) => uidPrecondition);
    expect(new Set(accepted).size).toBe(accepted.length);
    expect(accepted).toHaveLength(phases.length);
    expect(await gatedPods()).toEqual([]);
  });

  it('opens each gate with one patch, and changes nothing else of a pod', async () => {
    const patches = acceptedPodPatches(await cp.audit());
    expect(patches).toHaveLength((await plan())?.status?.moves?.length ?? 0);
    expect(patches.filter(({ subresource }) => subresource !== '')).toEqual([]);
  });

  it('has its hit ratio in the status and the metrics, also after a restart', async () => {
    expect((await getPolicy(cp, 'gated')).status?.hitRatio).toBe('1');
    await operator.end('SIGKILL');
    operator = await startOperator(cp, SHORT_LEASE);
    await waitUntil(
      'the new leader has looked at the plans',
      async () =>
        (await metrics()).includes('evenkeel_steering_hit_ratio{mode="Gate"} 1') ? undefined : 'no ratio yet',
      { timeoutMilliseconds: 30_000 },
    );
  });
});

describe('pods that no move waits for', () => {
  it('are let through when their controller is scaled up, a day before the next round', async () => {
    await cp.kubectl(['scale', '-n', 'shop', 'deployment/app-01', '--replicas=4']);
    await untilRunning('app-01', 4);
    await operator.logged('gate opened');
    expect(await metrics()).toContain('evenkeel_gate_actions_total{action="OpenedUnplanned"} 2');
  });

  it('are let through when the gate is in their template', async () => {
    await cp.apply([
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'plain' } },
      {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'own-gate', namespace: 'plain' },
        spec: {
          replicas: 1,
          selector: { matchLabels: { app: 'own-gate' } },
          template: {
            metadata: { labels: { app: 'own-gate' } },
            spec: { schedulingGates: [{ name: GATE }], containers: [{ name: 'main', image: 'simulated' }] },
          },
        },
      },
    ]);
    await untilRunning('own-gate', 1);
  });

  it('are made anew when they are tied to a node that cannot take them', async () => {
    await operator.end('SIGKILL');
    await cp.kubectl(['scale', '-n', 'shop', 'deployment/app-02', '--replicas=3']);
    await waitUntil('a pod is gated', async () => ((await gatedPods()).length === 1 ? undefined : 'none'), {
      timeoutMilliseconds: 30_000,
    });
    const [stuck] = await gatedPods();
    const pin = { key: 'metadata.name', operator: 'In', values: ['nowhere'] };
    const field = '/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms';
    const patch = [
      { op: 'add', path: `${field}/0/matchFields`, value: [pin] },
      { op: 'add', path: `${field}/1/matchFields`, value: [pin] },
      { op: 'add', path: '/metadata/annotations', value: { 'evenkeel.dev/steered-to': 'nowhere' } },
      { op: 'remove', path: '/spec/schedulingGates' },
    ];
    await cp.kubectl([
      ...['patch', 'pod', '-n', 'shop', stuck?.metadata.name ?? '', '--type=json'],
      ...['-p', JSON.stringify(patch)],
    ]);
    operator = await startOperator(cp, SHORT_LEASE);
    await untilRunning('app-02', 3);
    expect((await listPods(cp)).filter(({ metadata }) => metadata.uid === stuck?.metadata.uid)).toEqual([]);
    expect(await metrics()).toContain('evenkeel_gate_actions_total{action="Released"} 1');
  });

  it('are let through by the command that the overlay documents, without an operator', async () => {
    await operator.end('SIGKILL');
    await cp.kubectl(['scale', '-n', 'shop', 'deployment/app-03', '--replicas=4']);
    await waitUntil('two pods are gated', async () => ((await gatedPods()).length === 2 ? undefined : 'not yet'), {
      timeoutMilliseconds: 30_000,
    });
    const file = readFileSync(join(OVERLAYS, 'gate', 'kustomization.yaml'), 'utf8');
    const command = file
      .split('\n')
      .filter((line) => line.startsWith('#   '))
      .map((line) => line.slice(4))
      .join('\n');
    const kubectl = `kubectl() { '${cp.bin('kubectl')}' --kubeconfig '${cp.kubeconfig}' "$@"; }`;
    await promisify(execFile)('bash', ['-euc', `${kubectl}\n${command}`]);
    await untilRunning('app-03', 4);
    expect(await gatedPods()).toEqual([]);
  });
});
