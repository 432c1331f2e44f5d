import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RebalancePlan } from '../../src/api/v1alpha1/rebalance-plan.ts';
import { hasEnded } from '../campaigns/plan-log.ts';
import { acceptedEvictions } from '../control-plane/audit.ts';
import { applyScenario } from '../control-plane/scenario.ts';
import { parseScenario } from '../control-plane/scenario-parse.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/start.ts';
import { waitUntil } from '../control-plane/wait-until.ts';
import { tiltedPolicy } from '../support/audited-replicas.ts';
import { install, type OperatorProcess, startOperator } from '../support/operator-process.ts';
import { getPlans, getPolicy, reasonOf } from '../support/resources.ts';
import { mayDo } from '../support/rules.ts';

const log = (line: string): void => void process.stderr.write(`${line}\n`);
const patience = { timeoutMilliseconds: 120_000, log };
const BINDING = 'evenkeel-evict';

/** Twelve Deployments in each of two namespaces, all of their pods on two of six nodes. */
const scenario = {
  nodes: [{ prefix: 'node-', count: 6, cpu: '8', memory: '16Gi', pods: 60 }],
  workloads: ['shop', 'bank'].map((namespace) => ({
    name: namespace,
    count: 12,
    namespace,
    replicas: 2,
    requests: { cpu: '200m', memory: '64Mi' },
    startup: '2s',
    termination: '1s',
    startOn: ['node-1', 'node-2'],
  })),
};

let cp: ControlPlane;
let operator: OperatorProcess | undefined;
/** The ClusterRoleBinding that lets the operator evict. */
let binding = '';

beforeAll(async () => {
  cp = await startControlPlane({ metricsServer: false, log });
  await install(cp, 'default');
  await applyScenario(cp, parseScenario(JSON.stringify(scenario), 'two-namespaces'), { log });
  operator = await startOperator(cp);
});

afterAll(async () => {
  await operator?.end('SIGKILL');
  await cp?.stop();
});

async function untilEvicted(count: number, since: string): Promise<void> {
  const missing = async (): Promise<string | undefined> => {
    const { length } = acceptedEvictions(await cp.audit()).filter(({ at }) => at >= since);
    return length >= count ? undefined : `${length} evictions; ${operator?.log().slice(-1500)}`;
  };
  await waitUntil(`${count} evictions`, missing, patience);
}

/** Moves of all plans, each with the namespace of its pod. */
async function moves() {
  return (await getPlans(cp)).flatMap(({ spec, status }) =>
    (status?.moves ?? []).map((run, index) => ({ ...run, namespace: spec.moves[index]?.pod.namespace })),
  );
}

async function untilPlans(goal: string, holds: (plans: readonly RebalancePlan[]) => boolean): Promise<void> {
  const missing = async (): Promise<string | undefined> => {
    const plans = await getPlans(cp);
    return holds(plans)
      ? undefined
      : plans.map(({ metadata, status }) => `${metadata.name} ${status?.phase} ${status?.message}`).join('; ');
  };
  await waitUntil(goal, missing, patience);
}

/** Those of the policy, one a line. */
async function conditions(): Promise<string> {
  const { status } = await getPolicy(cp, 'tilted');
  return (status?.conditions ?? []).map(({ type, status: is, message }) => `${type} ${is}: ${message}`).join('\n');
}

describe('rights that are taken away in the middle of a plan', () => {
  const operatorAccount = { namespace: 'evenkeel-system', name: 'evenkeel' };
  let revokedAt = '';

  it('stop the plan: its moves in flight end, and no others begin', async () => {
    await cp.apply([tiltedPolicy(2)]);
    await untilEvicted(2, '');
    binding = await cp.kubectl(['get', 'clusterrolebinding', BINDING, '-o', 'yaml']);
    await cp.kubectl(['delete', 'clusterrolebinding', BINDING]);
    const mayEvict = () => mayDo(cp, operatorAccount, { verb: 'create', resource: 'pods', subresource: 'eviction' });
    await waitUntil('the API server knows', async () => ((await mayEvict()) ? 'it may evict' : undefined), patience);
    revokedAt = new Date().toISOString();
    await untilPlans('the plan is stopped', (plans) =>
      plans.some(({ status }) => status?.phase === 'Aborted' && status.stopped === 'EvictionForbidden'),
    );
    expect(acceptedEvictions(await cp.audit()).filter(({ at }) => at > revokedAt)).toEqual([]);
    expect((await moves()).filter(({ phase }) => phase === 'Failed')).toEqual([]);
  });

  it('are named by the policy, which is degraded', async () => {
    const missing = async (): Promise<string | undefined> =>
      reasonOf(await getPolicy(cp, 'tilted'), 'Degraded') === 'EvictionForbidden' ? undefined : await conditions();
    await waitUntil('the condition', missing, patience);
    expect(await conditions()).toMatch(/^Degraded True: .*grant the verb create on pods\/eviction/m);
    expect(await conditions()).toMatch(/^Ready False: /m);
  });
});

describe('rights that are given back, and a ResourceQuota on hints in one of two namespaces', () => {
  const quota = {
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name: 'hints', namespace: 'bank' },
    spec: { hard: { 'count/placementhints.evenkeel.dev': '0' } },
  };
  const inNamespace = async (name: string) => (await moves()).filter(({ namespace }) => namespace === name);
  const isHeld = ({ phase, outcome = '' }: { readonly phase: string; readonly outcome?: string }): boolean =>
    phase === 'Planned' && outcome.includes('quota: hints');

  it('let moves go on, but for those of that namespace, which say why they are held', async () => {
    await cp.apply([quota]);
    await cp.kubectl(['create', '-f', '-'], binding);
    const givenBackAt = new Date().toISOString();
    const missing = async (): Promise<string | undefined> => {
      const landed = (await inNamespace('shop')).filter(({ phase }) => phase === 'Landed').length;
      const held = (await inNamespace('bank')).filter(isHeld).length;
      return landed >= 2 && held >= 1 ? undefined : `${landed} landed, ${held} held`;
    };
    await waitUntil('moves land in one namespace, and are held in the other', missing, patience);
    expect((await inNamespace('bank')).find(isHeld)?.outcome).toMatch(
      /: raise that ResourceQuota, or leave the namespace out of spec\.scope$/,
    );
    const evicted = acceptedEvictions(await cp.audit()).filter(({ at }) => at > givenBackAt);
    expect(new Set(evicted.map(({ namespace }) => namespace))).toEqual(new Set(['shop']));
  });

  it('end in balance once the quota is gone, and leave no hint', async () => {
    await cp.kubectl(['delete', 'resourcequota', 'hints', '-n', 'bank']);
    await untilPlans('all plans have ended', (plans) => plans.every(hasEnded));
    expect((await inNamespace('bank')).filter(({ phase }) => phase === 'Landed').length).toBeGreaterThan(0);
    const missing = async (): Promise<string | undefined> =>
      reasonOf(await getPolicy(cp, 'tilted'), 'Degraded') === 'AsExpected' ? undefined : await conditions();
    await waitUntil('the policy is as expected', missing, patience);
    expect(await cp.kubectl(['get', 'placementhints', '-A', '-o', 'name'])).toBe('');
  });
});
