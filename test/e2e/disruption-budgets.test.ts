import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { MoveStatus, RebalancePlan } from '../../src/api/v1alpha1/rebalance-plan.ts';
import { type AuditEvent, acceptedEvictions, evictions } from '../control-plane/audit.ts';
import { applyScenario, loadScenario } from '../control-plane/scenario.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/start.ts';
import { waitUntil } from '../control-plane/wait-until.ts';
import { type DisruptionWatch, type Loss, watchDisruptions } from '../support/disruption-watch.ts';
import { install, OPERATOR_USER, type OperatorProcess, startOperator } from '../support/operator-process.ts';
import { getPlans, getPolicy, policyObject, reasonOf } from '../support/resources.ts';

const log = (line: string): void => void process.stderr.write(`${line}\n`);
const patience = { timeoutMilliseconds: 100_000, log };
/** A move that the drain and the rollout stood in the way of rests for 160 s after the third try, and 600 s after the fourth. */
const patienceForRest = { timeoutMilliseconds: 900_000, log };

/** Ready pods that the budgets of the scenario demand, by policy/v1: percentages of the replicas are rounded up. */
const MINIMUM: Readonly<Record<string, number>> = {
  'left/web': 4,
  'left/api': 4,
  'right/search': 4,
  'right/queue': 3,
  'shared/cache': 4,
  'shared/rolled': 3,
};
/** The workload that is rolled out meanwhile: its own controller takes Ready pods away, too. */
const ROLLED = 'shared/rolled';

function greedyPolicy(name: string, labels: Readonly<Record<string, string>>, mode: 'Approve' | 'Automatic'): object {
  return policyObject(name, {
    mode,
    interval: '10s',
    scope: { namespaceSelector: { matchLabels: labels } },
    strategy: { refineLB: { overload: '1' } },
    load: { source: 'Requests' },
    thresholds: { trigger: '0.01', minImprovement: '0', minReduction: '0', consecutive: 1 },
    budgets: [{ maxMoves: 50, maxConcurrent: 6 }],
    protections: { minPodAge: '0s', stabilization: '0s', cooldown: '0s' },
  });
}

let cp: ControlPlane;
let operator: OperatorProcess;

beforeAll(async () => {
  cp = await startControlPlane({ metricsServer: false, log });
  await install(cp, 'default');
  await applyScenario(cp, loadScenario(join(import.meta.dirname, '..', 'scenarios', 'budgets.yaml')), { log });
  operator = await startOperator(cp);
});

afterAll(async () => {
  await operator?.end('SIGKILL');
  await cp?.stop();
});

async function plansOf(policy: string): Promise<readonly RebalancePlan[]> {
  return (await getPlans(cp)).filter(({ spec }) => spec.policy.name === policy);
}

function nameOf({ namespace, name }: AuditEvent): string {
  return `${namespace}/${name}`;
}

function describeMove({ phase, attempt, notBefore = '-', outcome = '' }: MoveStatus): string {
  return `${phase} after ${attempt} refusals, not before ${notBefore}: ${outcome}`;
}

async function runsOf(policy: string): Promise<number> {
  return (await getPolicy(cp, policy)).status?.history?.length ?? 0;
}

describe('a pod under two PodDisruptionBudgets, which the eviction API refuses with 500', () => {
  let plan: RebalancePlan | undefined;
  let asked: readonly AuditEvent[];

  beforeAll(async () => {
    await cp.apply([greedyPolicy('twice', { 'kubernetes.io/metadata.name': 'twice' }, 'Approve')]);
    await waitUntil(
      'a plan waits',
      async () => ((await plansOf('twice'))[0]?.status?.phase === 'AwaitingApproval' ? undefined : 'none'),
      patience,
    );
    const second = {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'second', namespace: 'twice' },
      spec: { maxUnavailable: 1, selector: { matchLabels: { app: 'doubly' } } },
    };
    await cp.apply([second]);
    const name = (await plansOf('twice'))[0]?.metadata.name ?? '';
    await cp.kubectl(['patch', 'rbpl', name, '--type=merge', '-p', '{"spec":{"approved":true}}']);
    const approved = async (): Promise<RebalancePlan | undefined> =>
      (await plansOf('twice')).find(({ metadata }) => metadata.name === name);
    await waitUntil(
      'the plan ends',
      async () => ((await approved())?.status?.phase === 'Completed' ? undefined : 'not yet'),
      patience,
    );
    plan = await approved();
    const runs = await runsOf('twice');
    await waitUntil(
      'two more runs',
      async () => ((await runsOf('twice')) < runs + 2 ? 'not yet' : undefined),
      patience,
    );
    asked = evictions(await cp.audit()).filter(({ namespace }) => namespace === 'twice');
  });

  it('is not moved, and the plan names the cause', () => {
    expect(plan?.status?.moves?.length).toBeGreaterThan(0);
    for (const { phase, outcome } of plan?.status?.moves ?? []) {
      expect([phase, outcome]).toEqual(['Skipped', expect.stringContaining('more than one PodDisruptionBudget')]);
    }
  });

  it('is asked for once, on trial, and never again', () => {
    expect(asked.map(({ dryRun, code, uidPrecondition }) => [dryRun, code, uidPrecondition])).toEqual(
      plan?.spec.moves.map(({ pod }) => [true, 500, pod.uid]),
    );
  });

  it('is in no later plan', async () => {
    expect(await plansOf('twice')).toHaveLength(1);
    await cp.kubectl(['delete', 'rbp', 'twice']);
  });
});

describe('two policies that share a namespace, beside kubectl drain and a rollout', () => {
  let watch: DisruptionWatch;
  let audit: readonly AuditEvent[];
  let plans: readonly RebalancePlan[];
  let drained: { readonly from: string; readonly to: string };
  let conflict: string | undefined;

  beforeAll(async () => {
    watch = await watchDisruptions(cp);
    const strategy = { spec: { strategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } } } };
    await cp.kubectl(['patch', 'deployment', '-n', 'shared', 'rolled', '-p', JSON.stringify(strategy)]);
    await cp.apply([greedyPolicy('left', { left: 'yes' }, 'Automatic')]);
    await waitUntil(
      'the older policy acts',
      async () => ((await plansOf('left')).length === 0 ? 'no plan' : undefined),
      patience,
    );
    await cp.apply([greedyPolicy('right', { right: 'yes' }, 'Automatic')]);
    const from = new Date().toISOString();
    await Promise.all([drain('node-2', 'node-5'), rollOut(2)]);
    drained = { from, to: new Date().toISOString() };
    await Promise.all(['left', 'right'].map(untilAtRest));
    await watch.stop();
    audit = await cp.audit();
    plans = await getPlans(cp);
    conflict = reasonOf(await getPolicy(cp, 'right'), 'Accepted');
    log(JSON.stringify(Object.fromEntries(Object.keys(MINIMUM).map((each) => [each, lowestOf(each)]))));
  });

  async function drain(...nodes: readonly string[]): Promise<void> {
    for (const node of nodes) {
      await cp.kubectl(['drain', node, '--ignore-daemonsets', '--timeout=100s']);
      await cp.kubectl(['uncordon', node]);
    }
  }

  async function rollOut(times: number): Promise<void> {
    for (let time = 0; time < times; time += 1) {
      await cp.kubectl(['rollout', 'restart', '-n', 'shared', 'deployment/rolled']);
      await cp.kubectl(['rollout', 'status', '-n', 'shared', 'deployment/rolled', '--timeout=100s']);
    }
  }

  async function untilAtRest(policy: string): Promise<void> {
    await waitUntil(
      `${policy} comes to rest`,
      async () => {
        const open = (await plansOf(policy)).filter(({ status }) => status?.phase === 'Executing');
        const { status } = await getPolicy(cp, policy);
        const isConverged = status?.conditions?.some((each) => each.type === 'Converged' && each.status === 'True');
        const unfinished = open
          .flatMap(({ status }) => status?.moves ?? [])
          .filter((each) => each.finishedAt === undefined);
        return open.length === 0 && isConverged === true
          ? undefined
          : `${open.length} plans are carried out: ${unfinished.map(describeMove).join(', ')}`;
      },
      patienceForRest,
    );
  }

  function lossesOf(workload: string): readonly Loss[] {
    return watch.losses.filter((loss) => loss.workload === workload);
  }

  function lowestOf(workload: string): number {
    return Math.min(...lossesOf(workload).map(({ left }) => left));
  }

  function accepted(): readonly AuditEvent[] {
    return acceptedEvictions(audit).filter(({ namespace }) => namespace !== 'twice');
  }

  it('evict pods at the same time, all of them', () => {
    const byPolicy = (name: string): number =>
      plans
        .filter(({ spec }) => spec.policy.name === name)
        .flatMap(({ status }) => status?.moves ?? [])
        .filter(({ startedAt }) => startedAt !== undefined).length;
    expect(byPolicy('left')).toBeGreaterThan(4);
    expect(byPolicy('right')).toBeGreaterThan(1);
    const meanwhile = accepted().filter(({ at }) => drained.from <= at && at <= drained.to);
    expect(new Set(meanwhile.map(({ user }) => user === OPERATOR_USER))).toEqual(new Set([true, false]));
  });

  it('are watched without a gap: every evicted pod was seen to go', () => {
    expect(
      accepted()
        .map(nameOf)
        .filter((name) => !watch.gone.has(name)),
    ).toEqual([]);
    // A new pod of the rollout may be drained before it is Ready, which takes nothing from anybody.
    expect(watch.losses.length).toBeGreaterThan(accepted().length / 2);
  });

  it.each(Object.keys(MINIMUM).filter((each) => each !== ROLLED))(
    'leave %s its minimum at every instant',
    (workload) => {
      expect(lowestOf(workload)).toBeGreaterThanOrEqual(MINIMUM[workload] ?? 0);
    },
  );

  it('leave the workload that is rolled out its minimum with every eviction', () => {
    const evicted = new Set(accepted().map(nameOf));
    const byEviction = lossesOf(ROLLED).filter(({ pod }) => evicted.has(pod));
    expect(byEviction.length).toBeGreaterThan(0);
    expect(byEviction.filter(({ left }) => left < (MINIMUM[ROLLED] ?? 0))).toEqual([]);
  });

  it('go to the limit of the budgets, which refuse what is beyond it', () => {
    const atLimit = Object.keys(MINIMUM).filter((workload) => lowestOf(workload) === MINIMUM[workload]);
    expect(atLimit.length).toBeGreaterThan(2);
    expect(evictions(audit).filter(({ code }) => code === 429).length).toBeGreaterThan(0);
  });

  it('evict no pod twice, and those of the shared namespace by the older policy alone', () => {
    const uids = accepted().flatMap(({ uidPrecondition }) => uidPrecondition ?? []);
    expect(new Set(uids).size).toBe(uids.length);
    const shared = plans.filter(({ spec }) => spec.moves.some(({ pod }) => pod.namespace === 'shared'));
    expect(new Set(shared.map(({ spec }) => spec.policy.name))).toEqual(new Set(['left']));
    expect(conflict).toBe('Conflicting');
  });

  it('would have been found out: pods that are deleted past their budget fall below the minimum', async () => {
    const control = await watchDisruptions(cp);
    // By one request: with one for each pod, a slow machine has the first replacements Ready before the last pod goes.
    await cp.kubectl(['delete', '--raw', '/api/v1/namespaces/left/pods?labelSelector=app%3Dweb']);
    const lowest = (): number =>
      Math.min(...control.losses.filter(({ workload }) => workload === 'left/web').map(({ left }) => left));
    const minimum = MINIMUM['left/web'] ?? 0;
    await waitUntil('it is told', async () => (lowest() < minimum ? undefined : `lowest: ${lowest()}`), patience);
    await control.stop();
    expect(lowest()).toBeLessThan(minimum);
  });
});
