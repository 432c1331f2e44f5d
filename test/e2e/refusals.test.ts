import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RebalancePlanSpec } from '../../src/api/v1alpha1/rebalance-plan.ts';
import { applyScenario } from '../control-plane/scenario.ts';
import { parseScenario } from '../control-plane/scenario-parse.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/start.ts';
import { aMove, aPlan } from '../support/builders/plan.ts';
import { aPolicy } from '../support/builders/policy.ts';
import { aPod } from '../support/builders.ts';
import { install } from '../support/operator-process.ts';
import { policyObject } from '../support/resources.ts';
import { runCli } from '../support/run-cli.ts';

let cp: ControlPlane;

beforeAll(async () => {
  cp = await startControlPlane({ metricsServer: false, log: () => undefined });
  const nodes = { nodes: [{ prefix: 'node-', count: 2, cpu: '4', memory: '8Gi' }] };
  await applyScenario(cp, parseScenario(JSON.stringify(nodes), 'two-nodes'));
});

afterAll(() => cp?.stop());

describe('before anything is installed', () => {
  it('says that the custom resources are missing and how to install them', async () => {
    const { stderr, code } = await runCli(['history', '--kubeconfig', cp.kubeconfig]);
    expect(stderr).toContain('-k deploy/overlays/dry-run');
    expect(code).toBe(1);
  });
});

describe('the API server', () => {
  beforeAll(() => install(cp, 'dry-run'));

  it.each([
    ['interval beside schedule', { interval: '5m', schedule: '0 3 * * *' }, 'spec: Invalid value'],
    ['a zone without schedule', { timeZone: 'Europe/Rome' }, 'spec: Invalid value'],
    ['a short interval', { interval: '1s' }, 'spec.interval'],
    ['a wrong unit', { interval: '5 minutes' }, 'spec.interval'],
    ['settings of another strategy', { strategy: { type: 'GreedyLB', refineLB: {} } }, 'spec.strategy: Invalid value'],
    ['an overload below 1', { strategy: { refineLB: { overload: '0.9' } } }, 'spec.strategy.refineLB.overload'],
    ['a budget without limits', { budgets: [{}] }, 'spec.budgets[0]: Invalid value'],
    ['a percentage above 100', { budgets: [{ perOwner: '250%' }] }, 'spec.budgets[0].perOwner'],
    ['a number where text belongs', { thresholds: { trigger: 0.1 } }, 'spec.thresholds.trigger'],
    ['a mode that does not exist', { mode: 'Auto' }, 'spec.mode'],
    [
      'a taint with its effect',
      { repair: { taints: { includedTaints: ['team=web:NoSchedule'] } } },
      'spec.repair.taints.includedTaints[0]',
    ],
    ['headroom below nothing', { thresholds: { headroom: [{ cpu: '-1' }] } }, 'spec.thresholds.headroom[0].cpu'],
    [
      'prices of nodes without one of traffic',
      { strategy: { type: 'TrafficAware', trafficAware: { nodes: [{ cpuHour: '0.05' }] } } },
      'write perGiB beside nodes',
    ],
    ['an unknown field', { strategie: {} }, 'unknown field "spec.strategie"'],
  ])('refuses %s', async (_claim, spec, says) => {
    await expect(cp.kubectl(['create', '-f', '-'], JSON.stringify(policyObject('bad', spec)))).rejects.toThrow(says);
  });

  it('fills in all defaults of an empty spec, which is harmless', async () => {
    await cp.kubectl(['create', '-f', '-'], JSON.stringify(policyObject('empty', {})));
    const { spec } = JSON.parse(await cp.kubectl(['get', 'rbp', 'empty', '-o', 'json']));
    expect(spec).toMatchObject({ mode: 'DryRun', strategy: { type: 'RefineLB' }, thresholds: { trigger: '0.10' } });
  });

  it('lets nothing of a plan be changed but its approval, by no one', async () => {
    const pod = aPod('web-1', { namespace: 'shop', owner: 'web', nodeName: 'node-1' });
    const plan = { ...aPlan(aPolicy('even'), [aMove(pod, 'node-2')]), status: undefined };
    await cp.kubectl(['create', '-f', '-'], JSON.stringify(plan));
    const { name } = plan.metadata;
    const patch = (spec: object) => cp.kubectl(['patch', 'rbpl', name, '--type=merge', '-p', JSON.stringify({ spec })]);
    const changes: Readonly<Record<string, unknown>> = {
      policy: { name: 'other' },
      strategy: 'GreedyLB',
      takenAt: '2026-01-02T00:00:00Z',
      outcome: 'Balanced',
      message: 'other',
      expectedHitRatio: '0.5',
      hash: 'fedcba9876543210',
      moves: [],
      rejections: [{ pod: plan.spec.moves[0]?.pod, code: 'MaxMoves', message: '', numbers: {} }],
      rejectionCounts: { MaxMoves: 7 },
      packing: { emptied: ['node-1'], removable: [], removableTotal: 0, kept: [] },
      traffic: { domain: 'zone', before: { bandwidth: '1' }, planned: { bandwidth: '0' }, applications: [] },
    };
    const fields = Object.keys(RebalancePlanSpec.properties).filter((field) => field !== 'approved');
    expect(Object.keys(changes).toSorted()).toEqual(fields.toSorted());
    for (const [field, value] of Object.entries(changes)) {
      await expect(patch({ [field]: value }), field).rejects.toThrow('a plan cannot be edited');
    }
    await patch({ approved: true });
    await expect(patch({ approved: false })).rejects.toThrow('an approval cannot be withdrawn');
    await cp.kubectl(['delete', 'rbpl', name]);
  });

  it('explains every field', async () => {
    expect(await cp.kubectl(['explain', 'rbp.spec.thresholds.trigger'])).toContain('points of node capacity');
  });
});

describe('the command line', () => {
  it('says that the Metrics API is missing', async () => {
    const { stdout, code } = await runCli(['plan', '--kubeconfig', cp.kubeconfig, '--exit-code']);
    expect(stdout).toMatch(/metrics/i);
    expect(code).toBe(4);
  });

  it('names the rights that a user lacks', async () => {
    await cp.apply([{ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'nobody', namespace: 'default' } }]);
    const kubeconfig = await cp.kubeconfigFor({ namespace: 'default', name: 'nobody' });
    const { stderr, code } = await runCli(['plan', '--kubeconfig', kubeconfig]);
    expect(stderr).toMatch(
      /^error: may not list pods: .*grant the verb list on pods .*missing for nodes, replicasets, /,
    );
    expect(code).toBe(1);
  });

  it('names the plans that wait when one is approved that does not exist', async () => {
    const { stderr, code } = await runCli(['approve', 'nothing', '--kubeconfig', cp.kubeconfig]);
    expect(stderr).toContain('there is no RebalancePlan nothing; waiting for approval: none');
    expect(code).toBe(1);
  });

  it('names the policies there are when one is stopped that does not exist', async () => {
    const { stderr, code } = await runCli(['stop', 'nothing', '--kubeconfig', cp.kubeconfig]);
    expect(stderr).toContain('nothing');
    expect(code).toBe(1);
  });

  it('applies a valid policy and refuses an invalid one before it is sent', async () => {
    const good = await runCli(
      ['apply', '-f', '-', '--kubeconfig', cp.kubeconfig],
      JSON.stringify(policyObject('good', {})),
    );
    expect(good).toMatchObject({ stdout: 'rebalancepolicy.evenkeel.dev/good created\n', code: 0 });
    const bad = await runCli(
      ['apply', '-f', '-', '--kubeconfig', cp.kubeconfig],
      JSON.stringify(policyObject('bad', { mode: 'x' })),
    );
    expect(bad.stderr).toContain('spec.mode: is "x"');
    expect(bad.code).toBe(1);
  });
});
