import { describe, expect, it } from 'vitest';
import type { MovePhase, RebalancePlan } from '../../../src/api/v1alpha1/rebalance-plan.ts';
import { type ExecutionPolicy, step } from '../../../src/execute/executor.ts';
import type { PodInfo } from '../../../src/model/pod.ts';
import { bytes, epochSeconds, milliCpu, seconds } from '../../../src/model/units.ts';
import type { WorkloadInfo } from '../../../src/model/workload.ts';
import { labelsHash } from '../../../src/plan/labels-hash.ts';
import { resolveOptions } from '../../../src/plan/options.ts';
import { ConflictError, type PlanStore } from '../../../src/ports.ts';
import { anAffinityTerm, aRollout, labels } from '../../support/builders.ts';
import { NOON } from '../../support/fake-clock.ts';
import { placements } from '../../support/fake-cluster.ts';
import { aMove, aNode, aPlan, aPod, aPolicy, aWorkload } from '../../support/fake-objects.ts';
import { type World, world } from '../../support/fake-world.ts';

const forever = new AbortController().signal;
const policy = aPolicy('even');
const web = aWorkload('web');
const api = aWorkload('api');
const db = aWorkload('db', { kind: 'StatefulSet' });
const PODS = [
  aPod(web, 'web-1', 'a'),
  aPod(web, 'web-2', 'a'),
  aPod(api, 'api-1', 'a'),
  aPod(db, 'db-0', 'a'),
] as const;
const [WEB_1, WEB_2, API_1, DB_0] = PODS;
const PLAN = 'even-0123456789';

function aWorld(pods: readonly PodInfo[] = PODS): World {
  return world([aNode('a'), aNode('b'), aNode('c'), aNode('d')], [web, api, db], pods);
}

function execution(maxConcurrent = 2, changes: Partial<ExecutionPolicy> = {}): ExecutionPolicy {
  return {
    stored: { policy, invalid: [] },
    options: resolveOptions(policy.spec),
    maxConcurrent,
    stop: undefined,
    ...changes,
  };
}

function put(w: World, moves: RebalancePlan['spec']['moves'], status: RebalancePlan['status'] = {}): void {
  w.plans.put(aPlan(policy, moves, status));
}

async function stepOnce(w: World, how = execution()): Promise<RebalancePlan> {
  return step(w.plans.of(PLAN), how, w.ports, forever);
}

/** A step a second until the plan has ended. */
async function run(w: World, how = execution(), limit = 2_000): Promise<RebalancePlan> {
  for (let count = 0; count < limit; count += 1) {
    const plan = await stepOnce(w, how);
    if (plan.status?.phase !== 'Executing') {
      return plan;
    }
    w.clock.advance(1);
  }
  throw new Error(`the plan did not end in ${limit} steps`);
}

function phases(plan: RebalancePlan): readonly (MovePhase | undefined)[] {
  return plan.status?.moves?.map(({ phase }) => phase) ?? [];
}

function outcomes(plan: RebalancePlan): readonly (string | undefined)[] {
  return plan.status?.moves?.map(({ outcome }) => outcome) ?? [];
}

describe('step', () => {
  it('moves pods to where the plan says and says so', async () => {
    const w = aWorld();
    put(w, [aMove(WEB_1, 'b'), aMove(API_1, 'c'), aMove(DB_0, 'b')], { steering: 'AdmissionPolicy' });
    const plan = await run(w);
    expect(phases(plan)).toEqual(['Landed', 'Landed', 'Landed']);
    expect(plan.status).toMatchObject({
      phase: 'Completed',
      message: '3 of 3 replacements landed as planned',
      summary: { total: 3, done: 3, landed: 3 },
    });
    expect(placements(w.cluster)).toEqual(['api on c', 'db on b', 'web on a', 'web on b']);
    expect([...w.cluster.hints.keys()]).toEqual([]);
    expect(w.ended).toEqual(['Landed', 'Landed', 'Landed']);
    expect(w.steered).toEqual(['AdmissionPolicy hit', 'AdmissionPolicy hit', 'AdmissionPolicy hit']);
    expect(w.events.map(({ reason }) => reason).sort()).toEqual([
      ...['MoveLanded', 'MoveLanded', 'MoveLanded'],
      ...['MoveStarted', 'MoveStarted', 'MoveStarted'],
    ]);
  });

  it('stores the intent, places the hint and waits for it before it sends the eviction', async () => {
    const w = aWorld();
    put(w, [aMove(WEB_1, 'b')], { steering: 'AdmissionPolicy' });
    let journal: readonly (MovePhase | undefined)[] = [];
    w.tap = (when, call) => {
      if (when === 'before' && call === 'evictor.evict') {
        journal = phases(w.plans.of(PLAN));
      }
    };
    await stepOnce(w);
    const order = w.calls.filter((call) => /writeStatus|steering|evict|dry-run/.test(call));
    expect(order).toEqual(['dry-run web-1', 'plans.writeStatus', 'steering.place', 'evict web-1', 'plans.writeStatus']);
    expect(journal).toEqual(['Intent']);
    expect(w.clock.now() - NOON).toBe(1);
    expect(phases(w.plans.of(PLAN))).toEqual(['Evicting']);
  });

  it('places no hint and does not wait when nothing steers', async () => {
    const w = aWorld();
    put(w, [aMove(WEB_1, 'b')], { steering: 'None' });
    await run(w);
    expect(w.calls).not.toContain('steering.place');
    expect(w.steered).toEqual(['None hit']);
  });

  it('records a replacement that runs elsewhere as missed', async () => {
    const w = aWorld();
    w.cluster.bindTo = () => 'c';
    put(w, [aMove(WEB_1, 'b')], { steering: 'AdmissionPolicy' });
    const plan = await run(w);
    expect(phases(plan)).toEqual(['Missed']);
    expect(outcomes(plan)).toEqual(['runs on c instead of b']);
    expect(plan.status?.message).toBe('0 of 1 replacements landed as planned');
    expect(w.steered).toEqual(['AdmissionPolicy miss']);
    expect(w.events.at(-1)).toMatchObject({
      type: 'Warning',
      reason: 'MoveMissed',
      regarding: { kind: 'Pod', name: 'web-1' },
    });
  });

  it('moves one pod of an owner at a time, until the replacement has been Ready for minReadySeconds', async () => {
    const w = aWorld();
    w.cluster.workloads.set(web.uid, { ...web, minReadySeconds: seconds(30) });
    put(w, [aMove(WEB_1, 'b'), aMove(WEB_2, 'c')]);
    let second: number | undefined;
    w.tap = () => {
      second ??= w.calls.includes('evict web-2') ? w.clock.now() - NOON : undefined;
    };
    const plan = await run(w, execution(5));
    expect(phases(plan)).toEqual(['Landed', 'Landed']);
    // Recreated after 1 s, bound after 1 s, Ready after 2 s, available 30 s later.
    expect(second).toBeGreaterThanOrEqual(34);
  });

  it('passes over a busy owner to the next', async () => {
    const w = aWorld();
    put(w, [aMove(WEB_1, 'b'), aMove(WEB_2, 'c'), aMove(API_1, 'c')]);
    expect(phases(await stepOnce(w))).toEqual(['Evicting', 'Planned', 'Evicting']);
  });

  it.each([1, 2, 3])('has at most maxConcurrent %i moves in flight, lost answers included', async (maxConcurrent) => {
    const w = aWorld();
    put(w, [aMove(WEB_1, 'b'), aMove(API_1, 'c'), aMove(DB_0, 'd')]);
    w.cluster.script = (_, dryRun) => (dryRun ? undefined : { kind: 'Ambiguous', message: 'reset', acted: false });
    const inFlight: number[] = [];
    for (let count = 0; count < 10; count += 1) {
      const plan = await stepOnce(w, execution(maxConcurrent));
      inFlight.push(phases(plan).filter((phase) => phase === 'Evicting').length);
      w.clock.advance(1);
    }
    expect(Math.max(...inFlight)).toBe(maxConcurrent);
  });

  it('resolves a lost answer by looking: evicted or not', async () => {
    const w = aWorld();
    put(w, [aMove(WEB_1, 'b'), aMove(API_1, 'c')]);
    let tries = 0;
    w.cluster.script = ({ name }, dryRun) => {
      tries += dryRun ? 0 : 1;
      return dryRun || tries > 2 ? undefined : { kind: 'Ambiguous', message: 'reset', acted: name === 'web-1' };
    };
    const plan = await run(w);
    expect(phases(plan)).toEqual(['Landed', 'Landed']);
    expect(w.cluster.accepted).toEqual(['uid-web-1', 'uid-api-1']);
    expect(w.calls.filter((call) => call.startsWith('evict '))).toEqual(['evict web-1', 'evict api-1', 'evict api-1']);
  });

  it('takes up an intent that a crash left behind: the eviction was sent', async () => {
    const w = aWorld();
    put(w, [aMove(WEB_1, 'b')]);
    w.tap = (when, call) => {
      if (when === 'after' && call === 'evictor.evict' && w.cluster.accepted.length > 0) {
        throw new Error('killed');
      }
    };
    await expect(stepOnce(w)).rejects.toThrow('killed');
    expect(phases(w.plans.of(PLAN))).toEqual(['Intent']);
    w.tap = () => undefined;
    expect(phases(await run(w))).toEqual(['Landed']);
    expect(w.cluster.accepted).toEqual(['uid-web-1']);
  });

  it('takes up an intent that a crash left behind: the eviction was not sent', async () => {
    const w = aWorld();
    put(w, [aMove(WEB_1, 'b')]);
    w.tap = (when, call) => {
      if (when === 'before' && call === 'evictor.evict' && w.calls.includes('evict web-1')) {
        throw new Error('killed');
      }
    };
    await expect(stepOnce(w)).rejects.toThrow('killed');
    w.tap = () => undefined;
    expect(phases(await run(w))).toEqual(['Landed']);
    expect(w.cluster.accepted).toEqual(['uid-web-1']);
    expect(w.clock.now() - NOON).toBeGreaterThan(15);
  });

  it('skips a move that a PDB refuses five times, naming the PDB, and goes on with the others meanwhile', async () => {
    const w = aWorld();
    w.cluster.minAvailable.set(web.uid, 2);
    put(w, [aMove(WEB_1, 'b'), aMove(API_1, 'c')], { steering: 'AdmissionPolicy' });
    const plan = await run(w, execution(1));
    expect(phases(plan)).toEqual(['Skipped', 'Landed']);
    expect(outcomes(plan)[0]).toMatch(/^refused 5 times: .*keep-web needs 2 healthy pods/);
    expect(w.calls.filter((call) => call === 'dry-run web-1')).toHaveLength(5);
    expect(w.cluster.accepted).toEqual(['uid-api-1']);
    // 10 + 40 + 160 + 600 s of waiting.
    expect(w.clock.now() - NOON).toBeGreaterThanOrEqual(810);
    expect(w.events.filter(({ reason }) => reason === 'MoveSkipped')).toHaveLength(1);
  });

  it('fails a move whose replacement never becomes Ready, and then stops the plan', async () => {
    const w = aWorld();
    w.cluster.delays.ready = Number.POSITIVE_INFINITY;
    put(w, [aMove(WEB_1, 'b'), aMove(API_1, 'c'), aMove(DB_0, 'c')]);
    const plan = await run(w, execution(1));
    expect(phases(plan)).toEqual(['Failed', 'Aborted', 'Aborted']);
    expect(plan.status).toMatchObject({ phase: 'Aborted', message: '1 of 3 moves failed' });
    expect(w.cluster.accepted).toEqual(['uid-web-1']);
  });

  it('looks for another replacement when the first one failed on its node', async () => {
    const w = aWorld();
    w.cluster.delays.ready = Number.POSITIVE_INFINITY;
    put(w, [aMove(WEB_1, 'b')]);
    await stepOnce(w);
    w.clock.advance(5);
    await stepOnce(w);
    await stepOnce(w);
    const [first] = [...w.cluster.pods.values()].filter(({ name }) => name === 'web-1-r');
    const rejected: PodInfo = { ...(first ?? WEB_1), phase: 'Failed', createdAt: epochSeconds(NOON + 1) };
    w.cluster.pods.set(rejected.uid, rejected);
    const second = {
      ...rejected,
      name: 'web-9',
      uid: 'uid-web-9',
      phase: 'Running',
      ready: true,
      nodeName: 'b',
    } as const;
    w.cluster.pods.set(second.uid, {
      ...second,
      createdAt: epochSeconds(NOON + 2),
      readySince: epochSeconds(NOON + 3),
    });
    expect(phases(await run(w, execution(), 60))).toEqual(['Landed']);
  });

  it('does not take a pod that was there before for the replacement', async () => {
    const w = aWorld();
    w.cluster.delays.recreate = 5;
    put(w, [aMove(WEB_1, 'b')]);
    await stepOnce(w);
    w.clock.advance(4);
    await stepOnce(w);
    const plan = await stepOnce(w);
    expect(phases(plan)).toEqual(['AwaitingReplacement']);
  });

  it.each<[string, (w: World) => void, string]>([
    ['the pod is gone', (w) => w.cluster.pods.delete(WEB_1.uid), 'the pod is gone'],
    ['another pod has its name', (w) => replacePod(w, { uid: 'other' }), 'the pod is gone'],
    ['the pod is elsewhere', (w) => replacePod(w, { nodeName: 'c' }), 'the pod is on c, not on a'],
    [
      'the pod has another owner',
      (w) => replacePod(w, { owner: { kind: 'ReplicaSet', name: 'x', uid: 'x' } }),
      'the pod no longer belongs to ReplicaSet web',
    ],
    [
      'its labels have changed',
      (w) => replacePod(w, { labels: new Map([['role', 'primary']]) }),
      'the labels of the pod are not those that it was planned with',
    ],
    ['its owner is gone', (w) => w.cluster.workloads.delete(web.uid), 'the pod no longer belongs to ReplicaSet web'],
    [
      'somebody protects it',
      (w) => replacePod(w, { annotations: new Map([['evenkeel.dev/do-not-evict', 'true']]) }),
      'annotation evenkeel.dev/do-not-evict is "true"',
    ],
    ['it is being deleted', (w) => replacePod(w, { terminating: true }), 'is being deleted'],
    [
      'its owner was scaled down',
      (w) => w.cluster.workloads.set(web.uid, { ...web, replicas: 1 }),
      'ReplicaSet web has 1 replica, protections.minReplicas is 2',
    ],
    ['the target is gone', (w) => w.cluster.nodes.delete('b'), 'b is gone'],
    ['the target is cordoned', (w) => w.cluster.nodes.set('b', aNode('b', { unschedulable: true })), 'b is cordoned'],
    [
      'the target is tainted',
      (w) => w.cluster.nodes.set('b', aNode('b', { taints: [{ key: 'gpu', value: '', effect: 'NoSchedule' }] })),
      'b has the taint gpu:NoSchedule, which the pod does not tolerate',
    ],
    [
      'the target is full',
      (w) =>
        w.cluster.nodes.set(
          'b',
          aNode('b', { allocatable: { ...aNode('b').allocatable, cpu: milliCpu(499), memory: bytes(1) } }),
        ),
      'b has 499m of 500m cpu free',
    ],
  ])('skips a move without an eviction when %s', async (_, change, outcome) => {
    const w = aWorld();
    change(w);
    put(w, [{ ...aMove(WEB_1, 'b'), labelsHash: labelsHash(WEB_1.labels) }]);
    const plan = await run(w);
    expect(phases(plan)).toEqual(['Skipped']);
    expect(outcomes(plan)[0]).toContain(outcome);
    expect(w.calls.filter((call) => call.startsWith('evict '))).toEqual([]);
    expect(w.calls.filter((call) => call.startsWith('dry-run '))).toEqual([]);
  });

  it('skips a move whose controller rolls out by now, or its Deployment, whatever its replicas count', async () => {
    const deployment = aWorkload('shop', { kind: 'Deployment', uid: 'uid-shop' });
    const owner = { kind: 'Deployment', name: 'shop', uid: 'uid-shop' };
    const outcomeWith = async (changes: Partial<WorkloadInfo>, top: Partial<WorkloadInfo>) => {
      const w = aWorld([...PODS, aPod(web, 'web-3', 'd')]);
      w.cluster.workloads.set(web.uid, { ...web, owner, ...changes });
      w.cluster.workloads.set(deployment.uid, { ...deployment, ...top });
      put(w, [aMove(WEB_1, 'b')]);
      const { status } = await stepOnce(w);
      return status?.moves?.[0]?.outcome ?? status?.moves?.[0]?.phase;
    };
    const moving = aRollout(3, { ready: 2, updated: 2, current: 2 });
    expect(await outcomeWith({ rollout: moving }, { rollout: moving })).toBe('Evicting');
    expect(await outcomeWith({ rollout: aRollout(3, { observed: false }) }, {})).toContain(
      'has not seen its newest spec',
    );
    expect(await outcomeWith({}, { changedAt: epochSeconds(NOON - 60) })).toContain('Deployment shop changed 60 s ago');
  });

  it.each<[string, (w: World) => void, string]>([
    [
      'has a pod that is not Ready',
      (w) => w.cluster.pods.set(WEB_2.uid, { ...WEB_2, ready: false }),
      'ReplicaSet web has 1 of 2 pods available',
    ],
    [
      'has a pod that was not Ready for minReadySeconds',
      (w) => {
        w.cluster.workloads.set(web.uid, { ...web, minReadySeconds: seconds(60) });
        w.cluster.pods.set(WEB_2.uid, { ...WEB_2, readySince: epochSeconds(NOON - 5) });
      },
      'ReplicaSet web has 1 of 2 pods available',
    ],
    [
      'has fewer pods than it asks for',
      (w) => w.cluster.workloads.set(web.uid, { ...web, replicas: 3, rollout: aRollout(3) }),
      'ReplicaSet web has 2 of 3 pods available',
    ],
    [
      'is losing a pod to somebody else',
      (w) => {
        w.cluster.workloads.set(web.uid, { ...web, replicas: 2, rollout: aRollout(2) });
        w.cluster.pods.set(WEB_2.uid, { ...WEB_2, terminating: true });
      },
      'ReplicaSet web has 1 of 2 pods available',
    ],
  ])('lets no pod go of an owner that %s, and goes on when that is over', async (_, change, outcome) => {
    const w = aWorld();
    put(w, [aMove(WEB_1, 'b')]);
    change(w);
    expect(outcomes(await stepOnce(w))[0]).toContain(outcome);
    expect(w.calls.filter((call) => /^(evict|dry-run) /.test(call))).toEqual([]);
    w.cluster.pods.set(WEB_2.uid, WEB_2);
    w.cluster.workloads.set(web.uid, web);
    w.clock.advance(11);
    expect(phases(await run(w))).toEqual(['Landed']);
  });

  it('leaves an owner alone whose last replacement failed', async () => {
    const w = aWorld();
    w.cluster.delays.ready = Number.POSITIVE_INFINITY;
    const filler = Array.from({ length: 4 }, (_, index) => aPod(aWorkload(`o${index}`), `o${index}`, 'a'));
    put(w, [aMove(WEB_1, 'b'), ...filler.map((pod) => aMove(pod, 'c')), aMove(WEB_2, 'd')]);
    const plan = await run(w, execution(1));
    expect(phases(plan)).toEqual(['Failed', 'Skipped', 'Skipped', 'Skipped', 'Skipped', 'Skipped']);
    expect(outcomes(plan).at(-1)).toContain('refused 5 times: ReplicaSet web has 1 of 2 pods available');
    expect(w.cluster.accepted).toEqual(['uid-web-1']);
  });

  it('moves no pod of an owner that a plan of another policy has in flight', async () => {
    const w = aWorld();
    w.cluster.delays.ready = 60;
    const other = aPolicy('other');
    const left = aPlan(other, [aMove(WEB_2, 'c')]);
    w.plans.put(left);
    const stored = { policy: other, invalid: [] };
    await step(w.plans.of(left.metadata.name), execution(2, { stored }), w.ports, forever);
    put(w, [aMove(WEB_1, 'b'), aMove(API_1, 'b')]);
    expect(phases(await stepOnce(w))).toEqual(['Planned', 'Evicting']);
    expect(w.cluster.accepted).toEqual(['uid-web-2', 'uid-api-1']);
  });

  it('begins nothing while there are no metrics, and stops the plan when the last ones are too old', async () => {
    const w = aWorld();
    put(w, [aMove(WEB_1, 'b'), aMove(API_1, 'c')]);
    await stepOnce(w, execution(1));
    w.cluster.metered = false;
    w.clock.advance(30);
    const waiting = await run(w, execution(1), 20).catch(() => w.plans.of(PLAN));
    expect(phases(waiting)).toEqual(['Landed', 'Planned']);
    const plan = await run(w, execution(1));
    expect(phases(plan)).toEqual(['Landed', 'Aborted']);
    expect(plan.status).toMatchObject({ phase: 'Aborted', stopped: 'MetricsUnavailable' });
    expect(plan.status?.message).toMatch(
      /^metrics went stale: no node has had a sample for \d+ s, load.maxAge is 90 s$/,
    );
    expect(w.cluster.accepted).toEqual(['uid-web-1']);
  });

  it('goes on without metrics for a policy that reads none', async () => {
    const w = aWorld();
    w.cluster.metered = false;
    put(w, [aMove(WEB_1, 'b')]);
    const options = resolveOptions(aPolicy('even', { load: { source: 'Requests' } }).spec);
    expect(phases(await run(w, execution(1, { options })))).toEqual(['Landed']);
  });

  it('skips a move to a node that is being deleted', async () => {
    const w = aWorld();
    w.cluster.nodes.set('b', aNode('b', { terminating: true }));
    put(w, [aMove(WEB_1, 'b')]);
    expect((await stepOnce(w)).status?.moves?.[0]).toMatchObject({
      phase: 'Skipped',
      outcome: 'b: it is being deleted',
    });
  });

  it('begins nothing that a budget forbids by now, and follows moves in flight to their end', async () => {
    const w = aWorld();
    put(w, [aMove(WEB_1, 'b'), aMove(API_1, 'b')]);
    await stepOnce(w, execution(1));
    const stop = { reason: 'BudgetExhausted', message: 'no moves until 18:00' } as const;
    expect((await run(w, execution(1, { stop }))).status).toMatchObject({ phase: 'Aborted', message: stop.message });
    expect(w.plans.of(PLAN).status?.moves?.map(({ phase }) => phase)).toEqual(['Landed', 'Aborted']);
  });

  it('skips a move whose target is not Ready', async () => {
    const w = world(
      [...Array.from({ length: 19 }, (_, index) => aNode(`n${index}`)), aNode('a'), aNode('b', { ready: false })],
      [web],
      [WEB_1],
    );
    put(w, [aMove(WEB_1, 'b')]);
    expect(outcomes(await run(w))).toEqual(['b is not Ready']);
  });

  it.each([
    ['b', 'c', 'Landed'],
    ['c', 'b', 'Skipped'],
  ])(
    'asks all filters once more: away from api, which is on %s by now, a move to %s has %s',
    async (apiOn, to, phase) => {
      const zone = (name: string, value: string) =>
        aNode(name, { labels: labels({ 'topology.kubernetes.io/zone': value }) });
      const away = anAffinityTerm({ app: 'api' }, { topologyKey: 'topology.kubernetes.io/zone' });
      const pod = { ...WEB_1, constraints: { ...WEB_1.constraints, podAntiAffinity: [away] } };
      const w = world(
        [zone('a', 'one'), zone('b', 'two'), zone('b2', 'two'), zone('c', apiOn === 'c' ? 'two' : 'three')],
        [web, api],
        [pod, { ...API_1, nodeName: apiOn }],
      );
      w.cluster.bindTo = () => to;
      put(w, [aMove(pod, to)]);
      const ended = await run(w);
      expect(phases(ended)).toEqual([phase]);
      if (phase === 'Skipped') {
        expect(outcomes(ended)[0]).toContain('anti-affinity');
        expect([...w.cluster.accepted]).toEqual([]);
      }
    },
  );

  it('skips for good what the server refuses for good', async () => {
    const w = aWorld();
    w.cluster.script = () => ({ kind: 'Refused', message: 'this pod has more than one PodDisruptionBudget' });
    put(w, [aMove(WEB_1, 'b')]);
    const plan = await run(w);
    expect(phases(plan)).toEqual(['Skipped']);
    expect(outcomes(plan)).toEqual(['this pod has more than one PodDisruptionBudget']);
  });

  it('comes back to an overloaded server when it said, not before', async () => {
    const w = aWorld();
    w.cluster.script = () => (w.clock.now() < NOON + 60 ? { kind: 'Overloaded', retryAfter: seconds(45) } : undefined);
    put(w, [aMove(WEB_1, 'b')]);
    expect(phases(await run(w))).toEqual(['Landed']);
    expect(w.calls.filter((call) => call === 'dry-run web-1')).toHaveLength(3);
  });

  it.each<[string, ExecutionPolicy, string]>([
    [
      'edited',
      execution(2, { stored: { policy: { ...policy, metadata: { ...policy.metadata, generation: 2 } }, invalid: [] } }),
      'policy even was edited after the plan was made',
    ],
    [
      'suspended',
      execution(2, { stored: { policy: { ...policy, spec: { ...policy.spec, suspend: true } }, invalid: [] } }),
      'policy even is suspended',
    ],
    ['deleted', execution(2, { stored: undefined, options: undefined }), 'policy even was deleted'],
  ])(
    'begins nothing more once the policy is %s, and follows moves in flight to their end',
    async (_, changed, message) => {
      const w = aWorld();
      put(w, [aMove(WEB_1, 'b'), aMove(API_1, 'c')]);
      await stepOnce(w, execution(1));
      const plan = await run(w, changed);
      expect(phases(plan)).toEqual(['Landed', 'Aborted']);
      expect(outcomes(plan)).toEqual(['runs on b', message]);
      expect(plan.status).toMatchObject({ phase: 'Aborted', message });
      expect(w.cluster.accepted).toEqual(['uid-web-1']);
    },
  );

  it('keeps saying why a plan was aborted after the reason went away', async () => {
    const w = aWorld();
    put(w, [aMove(WEB_1, 'b'), aMove(API_1, 'c')]);
    await stepOnce(w, execution(1));
    w.cluster.nodes.set('c', aNode('c', { ready: false }));
    await stepOnce(w, execution(1));
    w.cluster.nodes.set('c', aNode('c'));
    const plan = await run(w, execution(1));
    expect(plan.status).toMatchObject({ phase: 'Aborted', message: '1 of 4 nodes are not Ready' });
  });

  it('rejects with a ConflictError, and evicts nothing, when somebody else has written the plan', async () => {
    const w = aWorld();
    put(w, [aMove(WEB_1, 'b')]);
    const stale = w.plans.of(PLAN);
    w.plans.put(w.plans.of(PLAN));
    await expect(step(stale, execution(), w.ports, forever)).rejects.toThrow(ConflictError);
    expect(w.cluster.accepted).toEqual([]);
  });

  it('lets a deposed leader write no intent over one of the next leader, and evicts nothing for it', async () => {
    const w = aWorld();
    put(w, [aMove(WEB_1, 'b'), aMove(API_1, 'c')]);
    const next = { ...w.ports, leaderEpoch: 1 };
    const writeStatus: PlanStore['writeStatus'] = async (...args) => {
      await step(w.plans.of(PLAN), execution(1), next, forever);
      return w.ports.plans.writeStatus(...args);
    };
    const old = { ...w.ports, plans: { ...w.ports.plans, writeStatus }, leaderEpoch: 0 };
    await expect(step(w.plans.of(PLAN), execution(2), old, forever)).rejects.toThrow(ConflictError);
    expect(w.cluster.accepted).toEqual(['uid-web-1']);
    expect(w.plans.of(PLAN).status?.moves?.map(({ leaderEpoch }) => leaderEpoch)).toEqual([1, undefined]);
  });

  it('takes the last intent of a deposed leader for one in flight, whoever sends its eviction', async () => {
    const w = aWorld();
    put(w, [aMove(WEB_1, 'b'), aMove(API_1, 'c')]);
    const old = { ...w.ports, leaderEpoch: 0 };
    const next = { ...w.ports, leaderEpoch: 1 };
    const stale = w.plans.of(PLAN);
    w.tap = (when, call) => {
      if (when === 'before' && call === 'evictor.evict' && w.plans.of(PLAN).status?.moves?.[0]?.phase === 'Intent') {
        throw new Error('the fence is closed');
      }
    };
    await expect(step(stale, execution(1), old, forever)).rejects.toThrow('the fence is closed');
    w.tap = () => undefined;
    await expect(step(stale, execution(1), next, forever)).rejects.toThrow(ConflictError);
    const seen = await step(w.plans.of(PLAN), execution(1), next, forever);
    expect(phases(seen)).toEqual(['Intent', 'Planned']);
    expect(w.cluster.accepted).toEqual([]);
    w.clock.advance(20);
    await run({ ...w, ports: next }, execution(1));
    expect(w.cluster.accepted).toEqual(['uid-web-1', 'uid-api-1']);
    expect(w.plans.of(PLAN).status?.moves?.map(({ leaderEpoch }) => leaderEpoch)).toEqual([1, 1]);
  });

  it('evicts nothing when the plan was deleted, or the cluster cannot be read', async () => {
    const w = aWorld();
    put(w, [aMove(WEB_1, 'b')]);
    const plan = w.plans.of(PLAN);
    w.tap = (_, call) => {
      if (call === 'reader.node') {
        throw new Error('503');
      }
    };
    await expect(stepOnce(w)).rejects.toThrow('503');
    w.tap = () => undefined;
    w.plans.stored.clear();
    await expect(step(plan, execution(), w.ports, forever)).rejects.toThrow(ConflictError);
    expect(w.cluster.accepted).toEqual([]);
  });

  it('ends a plan without moves at once', async () => {
    const w = aWorld();
    put(w, []);
    expect((await run(w)).status).toMatchObject({ phase: 'Completed' });
  });

  it('does nothing new for a policy that has no options', async () => {
    const w = aWorld();
    put(w, [aMove(WEB_1, 'b')]);
    const plan = await stepOnce(w, execution(2, { options: undefined }));
    expect(plan.status?.phase).toBe('Executing');
    expect(w.calls.filter((call) => /evict|dry-run/.test(call))).toEqual([]);
  });

  it('writes nothing while nothing changes', async () => {
    const w = aWorld();
    w.cluster.delays.ready = 100;
    put(w, [aMove(WEB_1, 'b')]);
    for (let count = 0; count < 10; count += 1) {
      await stepOnce(w);
      w.clock.advance(1);
    }
    const before = w.plans.of(PLAN).metadata.resourceVersion;
    await stepOnce(w);
    await stepOnce(w);
    expect(w.plans.of(PLAN).metadata.resourceVersion).toBe(before);
  });
});

function replacePod(w: World, changes: Partial<PodInfo>): void {
  w.cluster.pods.delete(WEB_1.uid);
  const changed = { ...WEB_1, ...changes };
  w.cluster.pods.set(changed.uid, changed);
}
