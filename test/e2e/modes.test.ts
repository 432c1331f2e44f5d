import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RebalancePlan } from '../../src/api/v1alpha1/rebalance-plan.ts';
import type { PodExplanation } from '../../src/plan/explain/pod.ts';
import { acceptedEvictions, writes } from '../control-plane/audit.ts';
import { listPods } from '../control-plane/cluster-state.ts';
import { applyScenario, loadScenario, waitForMetrics } from '../control-plane/scenario.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/start.ts';
import { waitUntil } from '../control-plane/wait-until.ts';
import { BUNDLE, install, OPERATOR_USER, type OperatorProcess, startOperator } from '../support/operator-process.ts';
import { getPlans, getPolicy, policyObject, reasonOf } from '../support/resources.ts';

const log = (line: string): void => void process.stderr.write(`${line}\n`);
const patience = { timeoutMilliseconds: 180_000 };
const quick = {
  interval: '10s',
  thresholds: { trigger: '0.05', consecutive: 1 },
  protections: { minPodAge: '0s', stabilization: '0s', cooldown: '0s' },
};

let cp: ControlPlane;
let operator: OperatorProcess;

beforeAll(async () => {
  cp = await startControlPlane({ log });
  await install(cp, 'default');
  await applyScenario(cp, loadScenario(join(import.meta.dirname, '..', 'scenarios', 'protected.yaml')), { log });
  await waitForMetrics(cp, { log });
  operator = await startOperator(cp);
});

afterAll(async () => {
  await operator?.end('SIGKILL');
  await cp?.stop();
});

async function evenkeel(args: readonly string[], input = ''): Promise<string> {
  const running = promisify(execFile)(process.execPath, [BUNDLE, ...args], { maxBuffer: 64 * 2 ** 20 });
  running.child.stdin?.end(input);
  return (await running).stdout;
}

/** The objects that the issue names, as kubectl prints them. */
async function dump(): Promise<string> {
  const objects = await cp.kubectl(['get', 'nodes,pods,rs,deploy,pdb,ns', '-A', '-o', 'yaml']);
  const metrics = await Promise.all(
    ['nodes', 'pods'].map((kind) => cp.kubectl(['get', `${kind}.metrics.k8s.io`, '-A', '-o', 'yaml'])),
  );
  return [objects, ...metrics].join('\n---\n');
}

async function metricsStamp(): Promise<string> {
  return cp.kubectl(['get', 'nodes.metrics.k8s.io', '-o', 'jsonpath={.items[*].timestamp}']);
}

async function deletePolicy(name: string): Promise<void> {
  await cp.kubectl(['delete', 'rbp', name]);
  await waitUntil(
    'plans are collected with their policy',
    async () => ((await getPlans(cp)).some(({ spec }) => spec.policy.name === name) ? 'a plan is left' : undefined),
    patience,
  );
}

describe('mode DryRun', () => {
  it('reports a plan', async () => {
    await cp.apply([policyObject('dry', { ...quick, budgets: [{ maxMoves: 50 }] })]);
    await waitUntil(
      'a plan is reported',
      async () => ((await getPolicy(cp, 'dry')).status?.plan === undefined ? 'no plan' : undefined),
      patience,
    );
    const policy = await getPolicy(cp, 'dry');
    expect(reasonOf(policy, 'PlanReady')).toBe('DryRun');
    expect(reasonOf(policy, 'Ready')).toBe('AsExpected');
  });

  it('gives the same plan as the command line on what kubectl prints', { timeout: 120_000 }, async () => {
    // The operator and kubectl must have seen the same samples: try until no scrape came in between.
    for (let attempt = 1; attempt <= 10; attempt += 1) {
      const stamp = await metricsStamp();
      const text = await dump();
      const runs = (await getPolicy(cp, 'dry')).status?.lastRun;
      // An edited policy runs at once; the limit plays no part in the plan.
      await cp.kubectl([
        'patch',
        'rbp',
        'dry',
        '--type=merge',
        '-p',
        JSON.stringify({ spec: { historyLimit: attempt } }),
      ]);
      await waitUntil(
        'the next run',
        async () => ((await getPolicy(cp, 'dry')).status?.lastRun === runs ? 'none yet' : undefined),
        patience,
      );
      if ((await metricsStamp()) !== stamp) {
        continue;
      }
      const policy = await cp.kubectl(['get', 'rbp', 'dry', '-o', 'yaml']);
      const fromFiles = JSON.parse(
        await evenkeel(['plan', '-f', '-', '-o', 'json'], `${text}\n---\n${policy}`),
      ) as RebalancePlan;
      const { status } = await getPolicy(cp, 'dry');
      expect(fromFiles.spec.moves.length).toBeGreaterThan(0);
      expect(fromFiles.spec.hash).toBe(status?.plan?.hash);
      return;
    }
    throw new Error('every attempt met a new scrape');
  });

  it('explains why a pod stays, with the verdict of every filter on every node', async () => {
    const pod = (await listPods(cp)).find(({ metadata }) => metadata.labels?.['app'] === 'asked-to-stay');
    const target = `pod/${pod?.metadata.namespace}/${pod?.metadata.name}`;
    const text = await evenkeel(['explain', target, '-p', 'dry', '-o', 'json', '--kubeconfig', cp.kubeconfig]);
    const { movable, protections, nodes } = JSON.parse(text) as PodExplanation;
    expect(movable).toBe(false);
    expect(protections.map(({ code }) => code)).toEqual(['DoNotEvict']);
    expect(nodes.map(({ node, fits, score }) => [node, fits, typeof score])).toHaveLength(3);
    expect(nodes.filter(({ fits, rejections }) => fits === (rejections.length === 0))).toHaveLength(3);
    expect(nodes.find(({ current }) => current)?.node).toBe('node-1');
  });

  it('explains a node by what runs there', async () => {
    const text = await evenkeel(['explain', 'node/node-1', '-p', 'dry', '--kubeconfig', cp.kubeconfig]);
    expect(text).toMatch(/^Node node-1 is at \d+\.\d\d %; the mean of the nodes that take part is /);
    expect(text).toMatch(/^locked\/alone-\S+ +\d+\.\d\d % +no +MinReplicas: /m);
  });

  it('evicts nothing, and writes nothing but its own kinds, events, and its lease', async () => {
    const audit = await cp.audit();
    const kinds = writes(audit, OPERATOR_USER).map(({ group, resource }) => `${group}/${resource}`);
    expect(new Set(kinds)).toEqual(
      new Set([
        'evenkeel.dev/rebalanceplans',
        'evenkeel.dev/rebalancepolicies',
        'events.k8s.io/events',
        'coordination.k8s.io/leases',
      ]),
    );
    expect(acceptedEvictions(audit)).toEqual([]);
    await deletePolicy('dry');
  });
});

describe('mode Approve', () => {
  it('waits until its plan is approved, then carries out that plan within its budget', async () => {
    const budgets = [{ maxMoves: 2, maxConcurrent: 1 }];
    await cp.apply([policyObject('careful', { ...quick, mode: 'Approve', budgets })]);
    await waitUntil(
      'a plan waits',
      async () => ((await getPlans(cp))[0]?.status?.phase === 'AwaitingApproval' ? undefined : 'no plan waits'),
      patience,
    );
    expect(acceptedEvictions(await cp.audit())).toEqual([]);
    const [plan] = await getPlans(cp);
    const name = plan?.metadata.name ?? '';
    expect(await evenkeel(['approve', name, '--yes', '--kubeconfig', cp.kubeconfig])).toContain('approved');
    await waitUntil(
      'the plan ends',
      async () =>
        (await getPlans(cp)).find(({ metadata }) => metadata.name === name)?.status?.phase === 'Completed'
          ? undefined
          : 'not yet',
      patience,
    );
    const evicted = acceptedEvictions(await cp.audit()).map(({ uidPrecondition }) => uidPrecondition);
    expect(evicted).toEqual(plan?.spec.moves.map(({ pod }) => pod.uid));
    expect(evicted.length).toBeLessThanOrEqual(2);
  });

  it('refuses to edit a plan, with a message that says what to do instead', async () => {
    const [plan] = await getPlans(cp);
    const patch = JSON.stringify({ spec: { hash: 'other' } });
    const edit = cp.kubectl(['patch', 'rbpl', plan?.metadata.name ?? '', '--type=merge', '-p', patch]);
    await expect(edit).rejects.toThrow('change the policy and plan again');
    await deletePolicy('careful');
  });
});

describe('mode Automatic', () => {
  it('evicts none of the protected pods', { timeout: 300_000 }, async () => {
    const locked = (await listPods(cp)).filter(({ metadata }) => metadata.namespace === 'locked');
    await cp.apply([
      policyObject('auto', { ...quick, mode: 'Automatic', budgets: [{ maxMoves: 50, maxConcurrent: 4 }] }),
      policyObject('younger', { ...quick, mode: 'Automatic' }),
    ]);
    await waitUntil(
      'the policy comes to rest',
      async () => {
        const { status } = await getPolicy(cp, 'auto');
        const converged = status?.conditions?.find(({ type }) => type === 'Converged')?.status === 'True';
        return converged && (status?.plan?.moves.done ?? 0) > 0 ? undefined : 'still moving';
      },
      { timeoutMilliseconds: 280_000 },
    );
    const evicted = acceptedEvictions(await cp.audit());
    expect(evicted.length).toBeGreaterThan(2);
    expect(evicted.filter(({ namespace }) => namespace !== 'shop')).toEqual([]);
    const alive = new Set((await listPods(cp)).map(({ metadata }) => metadata.uid));
    expect(locked.filter(({ metadata }) => !alive.has(metadata.uid))).toEqual([]);
  });

  it('says of every protected pod why it stays', async () => {
    const text = await evenkeel(['plan', '--kubeconfig', cp.kubeconfig, '-p', 'auto', '-o', 'json']);
    const { spec } = JSON.parse(text) as RebalancePlan;
    const codes = new Map(spec.rejections.map(({ pod, code }) => [pod.name.replace(/-[^-]+-[^-]+$/, ''), code]));
    expect(Object.fromEntries(codes)).toMatchObject({
      'asked-to-stay': 'DoNotEvict',
      alone: 'MinReplicas',
      important: 'PriorityThreshold',
      scratch: 'LocalStorage',
      claiming: 'UnsupportedConstraint',
    });
  });

  it('leaves pods to the older of two policies, and the younger says so', async () => {
    expect(reasonOf(await getPolicy(cp, 'younger'), 'Accepted')).toBe('Conflicting');
    expect(reasonOf(await getPolicy(cp, 'auto'), 'Accepted')).toBe('Valid');
  });

  it('stops after evenkeel stop, and serves what it did as history', async () => {
    await evenkeel(['stop', 'auto', '--kubeconfig', cp.kubeconfig]);
    await waitUntil(
      'the policy is suspended',
      async () => (reasonOf(await getPolicy(cp, 'auto'), 'Ready') === 'Suspended' ? undefined : 'not yet'),
      patience,
    );
    expect(await evenkeel(['history', 'auto', '--kubeconfig', cp.kubeconfig])).toContain('Completed');
  });

  it('leaves no hint behind and ends cleanly on SIGTERM', async () => {
    const hints = JSON.parse(await cp.kubectl(['get', 'placementhints', '-A', '-o', 'json'])) as { items: unknown[] };
    expect(hints.items).toEqual([]);
    expect(await operator.end('SIGTERM')).toBe(0);
  });

  it.each([0, 10, 25, 50, 100, 200, 400])('ends cleanly %i ms after it began to lead', async (wait) => {
    operator = await startOperator(cp);
    await operator.logged('leading');
    await sleep(wait);
    expect(await operator.end('SIGTERM')).toBe(0);
  });
});
