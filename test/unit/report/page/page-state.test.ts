import { describe, expect, it } from 'vitest';
import type { MoveStatus, RebalancePlan } from '../../../../src/api/v1alpha1/rebalance-plan.ts';
import type { ClusterSnapshot } from '../../../../src/model/snapshot.ts';
import { seconds } from '../../../../src/model/units.ts';
import { plan as computePlan } from '../../../../src/plan/planner.ts';
import { resolveOptions } from '../../../../src/plan/resolve-options.ts';
import { pageState } from '../../../../src/report/page/page-state.ts';
import type { PageState } from '../../../../src/report/page/state.ts';
import { toRebalancePlan } from '../../../../src/report/plan-resource.ts';
import { aPolicy } from '../../../support/builders/policy.ts';
import { aLedger, anInstance, aServiceClass, serviceLevels } from '../../../support/builders/service-levels.ts';
import { aNode, aPod, aSnapshot } from '../../../support/builders.ts';

const POLICY = aPolicy('even', { thresholds: { consecutive: 1 }, protections: { minReplicas: 1 } });
const TWO_GIB = 2 ** 31;

/** Three pods of one core on node-1 of 4 cores, nothing on node-2. */
function tilted(): ClusterSnapshot {
  const pods = ['a', 'b', 'c'].map((name) => aPod(name, { nodeName: 'node-1' }));
  const nodes = [aNode('node-1'), aNode('node-2')];
  return aSnapshot({ nodes, pods, uses: { a: [1000, TWO_GIB], b: [1000, TWO_GIB], c: [1000, TWO_GIB] } });
}

function planOf(snapshot: ClusterSnapshot): RebalancePlan {
  return toRebalancePlan(computePlan(snapshot, resolveOptions(POLICY.spec)), POLICY, 1, snapshot);
}

function withJournal(plan: RebalancePlan, ...moves: readonly Partial<MoveStatus>[]): RebalancePlan {
  const journal = plan.spec.moves.map(
    ({ pod }, place): MoveStatus => ({ podUID: pod.uid, phase: 'Planned', attempt: 0, ...moves[place] }),
  );
  return { ...plan, status: { ...plan.status, phase: 'Executing', moves: journal } };
}

function stateOf(snapshot: ClusterSnapshot | undefined, plans: readonly RebalancePlan[] = []): PageState {
  const policies = [{ policy: POLICY, invalid: [] }];
  return pageState({ title: 'here', role: 'Leader', snapshot, policies, plans, trouble: undefined });
}

describe('nodes', () => {
  it('carry what was measured over their allocatable, and their pods over their slots', () => {
    expect(stateOf(tilted()).nodes).toEqual({
      'node-1': { status: 'Ready', pods: 3, now: { cpu: 0.75, memory: 0.375, pods: 0.027 } },
      'node-2': { status: 'Ready', pods: 0, now: { cpu: 0, memory: 0, pods: 0 } },
    });
  });

  it('carry their zone and their pool, by the labels of clouds and autoscalers', () => {
    const zone = { 'topology.kubernetes.io/zone': 'eu-central-1a' };
    const nodes = [
      aNode('bare'),
      aNode('eks', { labels: { ...zone, 'eks.amazonaws.com/nodegroup': 'general' } }),
      aNode('karpenter', { labels: { 'eks.amazonaws.com/nodegroup': 'system', 'karpenter.sh/nodepool': 'spot' } }),
    ];
    const rows = Object.entries(stateOf(aSnapshot({ nodes })).nodes);
    expect(rows.map(([name, { zone: own, pool }]) => [name, own, pool])).toEqual([
      ['bare', undefined, undefined],
      ['eks', 'eu-central-1a', 'general'],
      ['karpenter', undefined, 'spot'],
    ]);
  });

  it('carry what their pods request where nothing is measured, and it says so', () => {
    const state = stateOf({ ...tilted(), usage: undefined });
    expect([state.basis, state.nodes['node-1']?.now.cpu]).toEqual(['Requests', 0.075]);
  });

  it('say nothing of a resource that was not sampled', () => {
    const snapshot = { ...tilted(), usage: { nodes: new Map(), pods: new Map() } };
    expect(stateOf(snapshot).nodes['node-1']?.now).toEqual({ pods: 0.027 });
  });

  it.each([
    [{ terminating: true }, 'Terminating'],
    [{ ready: false }, 'NotReady'],
    [{ unschedulable: true }, 'Cordoned'],
  ] as const)('with %j are %s', (fields, status) => {
    expect(stateOf(aSnapshot({ nodes: [aNode('node-1', fields)] })).nodes['node-1']?.status).toBe(status);
  });
});

describe('a policy', () => {
  it('carries the replica that leads it, as its status says', () => {
    const rowOf = (policy: typeof POLICY) =>
      pageState({
        ...{ title: 'here', role: 'Follower', snapshot: undefined, plans: [], trouble: undefined },
        policies: [{ policy, invalid: [] }],
      }).policies['even'];
    expect(rowOf({ ...POLICY, status: { leader: 'evenkeel-7d9f-abcde' } })?.leader).toBe('evenkeel-7d9f-abcde');
    expect(rowOf(POLICY)).not.toHaveProperty('leader');
  });
});

describe('the shift of a plan', () => {
  const shiftsIn = (snapshot: ClusterSnapshot, plan: RebalancePlan) =>
    stateOf(snapshot, [plan]).policies['even']?.plan?.shifts;

  it('is to come for what it plans', () => {
    const snapshot = tilted();
    expect(shiftsIn(snapshot, planOf(snapshot))).toEqual({
      'node-1': { before: {}, planned: { cpu: -0.25, memory: -0.125, pods: -0.009 } },
      'node-2': { before: {}, planned: { cpu: 0.25, memory: 0.125, pods: 0.009 } },
    });
  });

  it('is behind for what has landed', () => {
    const snapshot = tilted();
    const plan = planOf(snapshot);
    const moved = plan.spec.moves[0]?.pod.name ?? '';
    const replacement = { name: 'r', uid: 'uid-r', node: 'node-2' };
    const pods = [
      ...snapshot.pods.filter(({ name }) => name !== moved),
      aPod('r', { uid: 'uid-r', nodeName: 'node-2' }),
    ];
    const after = aSnapshot({
      nodes: snapshot.nodes,
      pods,
      uses: Object.fromEntries(pods.map(({ name }) => [name, [1000, TWO_GIB]])),
    });
    expect(shiftsIn(after, withJournal(plan, { phase: 'Landed', replacement }))).toEqual({
      'node-1': { before: { cpu: 0.25, memory: 0.125, pods: 0.009 }, planned: {} },
      'node-2': { before: { cpu: -0.25, memory: -0.125, pods: -0.009 }, planned: {} },
    });
  });

  it('counts a pod that is nowhere as its siblings while its move is under way, and no more when that has ended', () => {
    const snapshot = tilted();
    const plan = planOf(snapshot);
    const moved = plan.spec.moves[0]?.pod.name ?? '';
    const rest = { ...snapshot, pods: snapshot.pods.filter(({ name }) => name !== moved) };
    expect(shiftsIn(rest, withJournal(plan, { phase: 'AwaitingReplacement' }))).toMatchObject({
      'node-1': { before: { cpu: 0.25 }, planned: {} },
      'node-2': { before: {}, planned: { cpu: 0.25 } },
    });
    expect(shiftsIn(rest, withJournal(plan, { phase: 'Failed' }))).toEqual({});
  });
});

describe('policies', () => {
  it('show the newest of their own plans with journal and reasons to stay', () => {
    const snapshot = tilted();
    const plan = withJournal(planOf(snapshot), { phase: 'Landed', unavailableSeconds: 7, outcome: 'landed' });
    const foreign = { ...plan, spec: { ...plan.spec, policy: { name: 'other', uid: 'other', generation: 1 } } };
    const row = stateOf(snapshot, [foreign, plan]).policies['even']?.plan;
    expect(row).toMatchObject({
      phase: 'Executing',
      moves: { 0: { from: 'node-1', to: 'node-2', phase: 'Landed', measured: 7, outcome: 'landed' } },
    });
    expect(Object.values(row?.stays ?? {}).reduce((sum, number) => sum + number, 0)).toBe(2);
  });

  it('name the nodes that their scope leaves out', () => {
    const policy = aPolicy('even', { scope: { nodeSelector: { matchLabels: { pool: 'general' } } } });
    const nodes = [aNode('node-1', { labels: { pool: 'general' } }), aNode('node-2')];
    const facts = { title: 'here', role: 'Leader', plans: [], trouble: undefined } as const;
    const state = pageState({ ...facts, snapshot: aSnapshot({ nodes }), policies: [{ policy, invalid: [] }] });
    expect(state.policies['even']?.outside).toEqual(['node-2']);
  });

  it('are there before the first snapshot', () => {
    const state = stateOf(undefined);
    expect([state.takenAt, Object.keys(state.policies)]).toEqual([undefined, ['even']]);
  });
});

describe('service levels', () => {
  const counted = (useful: number, pending: number) => ({
    times: { useful, pending },
    instances: [anInstance({ useful: seconds(useful), pending: seconds(pending), running: true })],
  });
  const serviceOf = (useful: number, pending: number) => {
    const levels = serviceLevels([aServiceClass({ window: 86_400 })], [aLedger(counted(useful, pending))]);
    return stateOf({ ...tilted(), serviceLevels: levels }).services['shop/ReplicaSet/web'];
  };

  it('are kept with the time that is left', () => {
    expect(serviceOf(9900, 100)).toMatchObject({ standing: 'Kept', availability: 0.99, slo: 0.9, timeToViolate: 997 });
  });

  it('are in danger with less time than the margin of the class', () => {
    expect(serviceOf(9010, 990)).toMatchObject({ standing: 'InDanger' });
  });

  it('are missed below the SLO', () => {
    expect(serviceOf(8000, 2000)).toMatchObject({ standing: 'Missed', availability: 0.8 });
  });

  it('are summed up by class, of pods with a workload that is there', () => {
    const [pod, ...others] = tilted().pods;
    const labels = new Map([['evenkeel.dev/service-class', 'batch']]);
    const owned = { ...tilted(), pods: pod === undefined ? [] : [{ ...pod, labels }, ...others] };
    const owner = pod?.owner ?? { kind: '', name: '', uid: '' };
    const levels = serviceLevels([aServiceClass({ window: 86_400 })], [aLedger({ ...counted(8000, 2000), owner })]);
    expect(stateOf({ ...owned, serviceLevels: levels }).classes).toEqual({
      batch: {
        importance: 2,
        slo: 0.9,
        workloads: 1,
        missed: 1,
        least: 0.8,
        gini: 0,
        penalty: 0,
        waiting: 0,
        longestWait: 0,
      },
    });
    expect(stateOf(tilted()).classes).toEqual({});
  });
});

it('is JSON without null, which a merge patch could not tell from absence', () => {
  const state = stateOf(tilted(), [planOf(tilted())]);
  expect(JSON.parse(JSON.stringify(state))).toEqual(state);
  expect(JSON.stringify(state)).not.toContain('null');
});
