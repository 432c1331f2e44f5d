import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TopViolation } from '../../src/report/top-violations.ts';
import { acceptedEvictions } from '../control-plane/audit.ts';
import { listPods, type PodState } from '../control-plane/cluster-state.ts';
import { applyScenario, loadScenario } from '../control-plane/scenario.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/start.ts';
import { waitUntil } from '../control-plane/wait-until.ts';
import { install, OPERATOR_USER, type OperatorProcess, startOperator } from '../support/operator-process.ts';
import { getPlans, getPolicy, policyObject, reasonOf } from '../support/resources.ts';
import { runCli } from '../support/run-cli.ts';

const log = (line: string): void => void process.stderr.write(`${line}\n`);
const NODES = ['worker-1', 'worker-2', 'worker-3'] as const;
const PODS = 14;
const patience = { timeoutMilliseconds: 240_000, log };

let cp: ControlPlane;
let operator: OperatorProcess | undefined;

beforeAll(async () => {
  cp = await startControlPlane({ metricsServer: false, log });
  await install(cp, 'default');
  await applyScenario(cp, loadScenario(join(import.meta.dirname, '..', 'scenarios', 'misplaced.yaml')), { log });
  await untilReady();
});

afterAll(async () => {
  await operator?.end('SIGTERM');
  await cp?.stop();
});

/** Ready pods that are not being deleted. */
async function readyPods() {
  return (await listPods(cp)).filter(
    ({ metadata, status }) =>
      metadata.namespace === 'shop' &&
      metadata.deletionTimestamp === undefined &&
      status.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True'),
  );
}

/** Ready pods of a workload by node, in the order of the nodes. */
async function placement(app: string): Promise<readonly number[]> {
  const pods = (await readyPods()).filter(({ metadata }) => metadata.labels?.['app'] === app);
  return NODES.map((node) => pods.filter(({ spec }) => spec.nodeName === node).length);
}

async function untilReady(): Promise<void> {
  await waitUntil(
    'waiting for all pods',
    async () => ((await readyPods()).length === PODS ? undefined : `${(await readyPods()).length} are Ready`),
    patience,
  );
}

async function evictions() {
  return acceptedEvictions(await cp.audit()).filter(({ user }) => user === OPERATOR_USER);
}

/** Waits until at least `least` pods were evicted since, and a later run finds nothing to repair; what its plans moved, and why. */
async function repairsSince(before: number, least: number) {
  await waitUntil(
    'waiting until there is nothing to repair',
    async () => {
      const policy = await getPolicy(cp, 'repair');
      const ended = (await getPlans(cp)).every(({ status }) => status?.phase !== 'Executing');
      const evicted = (await evictions()).length - before;
      const isDone = ended && evicted >= least && reasonOf(policy, 'PlanReady') === 'NothingToRepair';
      return isDone ? undefined : `${evicted} evicted; ${reasonOf(policy, 'PlanReady')}`;
    },
    patience,
  );
  await untilReady();
  const evicted = new Set((await evictions()).slice(before).map(({ uidPrecondition }) => uidPrecondition));
  const moves = (await getPlans(cp)).flatMap(({ spec }) => spec.moves).filter(({ pod }) => evicted.has(pod.uid));
  return { evicted: evicted.size, moves };
}

function repairPolicy(repair: object): object {
  return policyObject('repair', {
    mode: 'Automatic',
    interval: '10s',
    strategy: { type: 'None' },
    repair,
    budgets: [{ maxMoves: 20, maxConcurrent: 4 }],
    protections: { minPodAge: '0s', stabilization: '0s', cooldown: '0s' },
  });
}

const container = { name: 'main', image: 'registry.k8s.io/pause:3.10' };
/** By its podFailurePolicy an eviction is no failure. */
const JOB = {
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: 'count', namespace: 'batch' },
  spec: {
    backoffLimit: 5,
    podFailurePolicy: { rules: [{ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget' }] }] },
    template: { metadata: { labels: { app: 'count' } }, spec: { restartPolicy: 'Never', containers: [container] } },
  },
};
const STANDALONE = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'standalone', namespace: 'batch', labels: { app: 'standalone' } },
  spec: { containers: [container] },
};

/** Says of a pod what a kubelet says of one that it has ended. */
async function fail({ metadata: { name, namespace = '' } }: PodState, reason: string): Promise<void> {
  const terminated = { exitCode: 137, reason: 'Error' };
  const status = {
    phase: 'Failed',
    reason,
    conditions: [{ type: 'Ready', status: 'False', reason: 'PodFailed' }],
    containerStatuses: [
      { name: 'main', image: container.image, imageID: '', ready: false, restartCount: 0, state: { terminated } },
    ],
  };
  const patch = JSON.stringify({ status });
  await cp.kubectl(['patch', 'pod', name, '-n', namespace, '--subresource=status', '--type=merge', '-p', patch]);
}

describe('repairs on a real control plane', () => {
  it('spreads out again what a drain has piled up, with the fewest moves', { timeout: 400_000 }, async () => {
    await cp.kubectl(['drain', 'worker-3', '--ignore-daemonsets', '--timeout=120s']);
    await untilReady();
    await cp.kubectl(['uncordon', 'worker-3']);
    expect(await placement('spread')).toEqual([3, 3, 0]);
    const web = await placement('web');
    expect(web[2]).toBe(0);
    operator = await startOperator(cp);
    await cp.apply([repairPolicy({ taints: {}, podAntiAffinity: 'Required', topologySpread: {}, duplicates: true })]);
    const surplus = web.reduce((sum, pods) => sum + Math.max(0, pods - 2), 0);
    const { evicted, moves } = await repairsSince(0, 2 + surplus);
    expect(await placement('spread')).toEqual([2, 2, 2]);
    expect(await placement('web')).toEqual([2, 2, 2]);
    expect(evicted).toBe(2 + surplus);
    expect(moves.filter(({ owner }) => owner.name.startsWith('spread-')).flatMap(({ repairs }) => repairs)).toContain(
      'TopologySpread',
    );
  });

  it('parts pods that a new label sets against each other', { timeout: 300_000 }, async () => {
    const before = (await evictions()).length;
    const pods = await readyPods();
    const quiet = pods.find(({ metadata }) => metadata.labels?.['app'] === 'quiet');
    const beside = pods.find(
      ({ metadata, spec }) => metadata.labels?.['app'] === 'web' && spec.nodeName === quiet?.spec.nodeName,
    );
    await cp.kubectl(['label', 'pod', '-n', 'shop', beside?.metadata.name ?? '', 'role=noisy']);
    const { evicted, moves } = await repairsSince(before, 1);
    expect(evicted).toBe(1);
    expect(moves.map(({ repairs }) => repairs)).toEqual([['PodAntiAffinity']]);
  });

  it('clears a node of those that do not tolerate its taint, and evicts no pod twice', {
    timeout: 400_000,
  }, async () => {
    await cp.kubectl(['label', 'pods', '-n', 'shop', '--all', 'role-']);
    const before = (await evictions()).length;
    const there = (await readyPods()).filter(({ spec }) => spec.nodeName === 'worker-2').length;
    await cp.kubectl(['taint', 'node', 'worker-2', 'retired=yes:NoSchedule']);
    const { evicted, moves } = await repairsSince(before, there);
    expect((await readyPods()).filter(({ spec }) => spec.nodeName === 'worker-2')).toEqual([]);
    expect(evicted).toBe(there);
    expect(moves.every(({ from, repairs }) => from === 'worker-2' && repairs?.includes('Taints') === true)).toBe(true);
    const uids = (await evictions()).map(({ uidPrecondition }) => uidPrecondition);
    expect(new Set(uids).size).toBe(uids.length);
  });

  it('removes failed pods once each, and no failure of a Job is lost', { timeout: 300_000 }, async () => {
    await cp.kubectl(['create', 'namespace', 'batch']);
    await cp.apply([JOB, STANDALONE, repairPolicy({ failed: { reasons: ['Evicted'] } })]);
    const inBatch = async (app: string) =>
      (await listPods(cp)).find(
        ({ metadata, status }) =>
          metadata.namespace === 'batch' && metadata.labels?.['app'] === app && status.phase === 'Running',
      );
    const [ofJob, standalone] = await Promise.all(
      ['count', 'standalone'].map((app) =>
        waitUntil(
          `waiting for ${app}`,
          async () => ((await inBatch(app)) === undefined ? 'does not run' : undefined),
          patience,
        ).then(() => inBatch(app)),
      ),
    );
    const before = (await evictions()).length;
    const web = (await readyPods()).filter(({ metadata }) => metadata.labels?.['app'] === 'web').slice(0, 3);
    const [first, second, other] = web;
    const due = [first, second, ofJob].flatMap((pod) => pod ?? []);
    expect(due).toHaveLength(3);
    for (const [pod, reason] of [
      ...[...due, standalone].map((each) => [each, 'Evicted'] as const),
      [other, 'OutOfpods'] as const,
    ]) {
      await (pod && fail(pod, reason));
    }
    await waitUntil(
      'waiting until the failed pods are removed',
      async () => {
        const evicted = (await evictions()).length - before;
        const reason = reasonOf(await getPolicy(cp, 'repair'), 'PlanReady');
        // The one without a controller stays, and is not forgotten.
        return evicted >= 3 && reason === 'NoBeneficialMove' ? undefined : `${evicted} evicted; ${reason}`;
      },
      patience,
    );
    await untilReady();
    const evicted = (await evictions()).slice(before).map(({ uidPrecondition }) => uidPrecondition);
    expect(evicted.toSorted()).toEqual(due.map(({ metadata }) => metadata.uid).toSorted());
    const names = (await listPods(cp)).map(({ metadata }) => metadata.name);
    expect(due.filter(({ metadata }) => names.includes(metadata.name))).toEqual([]);
    expect([other, standalone].map((pod) => names.includes(pod?.metadata.name ?? ''))).toEqual([true, true]);
    const cli = (...args: readonly string[]) => runCli([...args, '--kubeconfig', cp.kubeconfig]);
    const { violations } = JSON.parse((await cli('top', 'violations', '-o', 'json')).stdout);
    const failed = violations.filter(({ rule }: TopViolation) => rule === 'Failed');
    expect(failed.map(({ pod, policies }: TopViolation) => [pod, policies])).toEqual([
      ['standalone', ['repair']],
      [other?.metadata.name, []],
    ]);
    expect((await cli('explain', 'pod/standalone', '-n', 'batch')).stdout).toContain(
      'stays, NoController: its phase is Failed',
    );
    const job = JSON.parse(await cp.kubectl(['get', 'job', 'count', '-n', 'batch', '-o', 'json']));
    expect(job.status).toMatchObject({ failed: 1, active: 1 });
    const moves = (await getPlans(cp)).flatMap(({ spec, status }) =>
      spec.moves.map((move, place) => ({ move, phase: status?.moves?.[place]?.phase })),
    );
    const removals = moves.filter(({ move }) => move.removal === true);
    expect(removals.map(({ move, phase }) => [move.to, move.repairs, phase])).toEqual(
      due.map(() => [undefined, ['Failed'], 'Vacated']),
    );
  });
});
