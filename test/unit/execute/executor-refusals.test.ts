import { describe, expect, it } from 'vitest';
import { step } from '../../../src/execute/executor.ts';
import type { ExecutionPolicy } from '../../../src/execute/executor-ports.ts';
import type { PodInfo } from '../../../src/model/pod.ts';
import { epochSeconds, seconds } from '../../../src/model/units.ts';
import type { WorkloadInfo } from '../../../src/model/workload.ts';
import { labelsHash } from '../../../src/plan/hash.ts';
import { resolveOptions } from '../../../src/plan/resolve-options.ts';
import { aMove, aPlan } from '../../support/builders/plan.ts';
import { aPolicy } from '../../support/builders/policy.ts';
import { anAffinityTerm } from '../../support/builders/scheduling.ts';
import { aNode, aPodOf, aRollout, aWorkload, TEN_CORES } from '../../support/builders.ts';
import {
  API_1,
  api,
  aWorld,
  DB_0,
  execution,
  forever,
  outcomes,
  PLAN,
  PODS,
  phases,
  policy,
  put,
  run,
  stepOnce,
  WEB_1,
  WEB_2,
  web,
} from '../../support/execution.ts';
import { type World, world } from '../../support/fake-world.ts';
import { drive, NOON } from '../../support/test-clock.ts';

describe('a step that the state of the cluster, a budget or the policy holds back', () => {
  it('fails a move whose replacement never becomes Ready, and then stops the plan', async () => {
    const w = aWorld();
    w.cluster.delays.ready = Number.POSITIVE_INFINITY;
    put(w, [aMove(WEB_1, 'b'), aMove(API_1, 'c'), aMove(DB_0, 'c')]);
    const plan = await run(w, execution(1));
    expect(phases(plan)).toEqual(['Failed', 'Aborted', 'Aborted']);
    expect(plan.status).toMatchObject({ phase: 'Aborted', message: '1 of 3 moves failed' });
    expect(w.cluster.accepted).toEqual(['uid-web-1']);
  });

  it.each<[string, (w: World) => void, string]>([
    ['the pod is gone', (w) => w.cluster.vanish('pod', WEB_1.uid), 'the pod is gone'],
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
      'the labels of the pod have changed since the plan was made',
    ],
    ['its owner is gone', (w) => w.cluster.vanish('workload', web.uid), 'the pod no longer belongs to ReplicaSet web'],
    [
      'somebody protects it',
      (w) => replacePod(w, { annotations: new Map([['evenkeel.dev/do-not-evict', 'true']]) }),
      'annotation evenkeel.dev/do-not-evict is "true"',
    ],
    ['it is being deleted', (w) => replacePod(w, { terminating: true }), 'is being deleted'],
    [
      'its owner was scaled down',
      (w) => w.cluster.putWorkload({ ...web, replicas: 1 }),
      'ReplicaSet web has 1 replica, protections.minReplicas is 2',
    ],
    ['the target is gone', (w) => w.cluster.vanish('node', 'b'), 'b is gone'],
    [
      'the target is cordoned',
      (w) => w.cluster.putNode(aNode('b', { ...TEN_CORES, unschedulable: true })),
      'b is cordoned',
    ],
    [
      'the target is tainted',
      (w) => w.cluster.putNode(aNode('b', { ...TEN_CORES, taints: [{ key: 'gpu', value: '', effect: 'NoSchedule' }] })),
      'b has the taint gpu:NoSchedule, which the pod does not tolerate',
    ],
    [
      'the target is full',
      (w) =>
        w.cluster.putNode(
          aNode('b', {
            ...TEN_CORES,
            allocatable: { ...TEN_CORES.allocatable, cpu: 499, memory: 1 },
          }),
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
    const deployment = aWorkload('shop', { replicas: 3, kind: 'Deployment', uid: 'uid-shop' });
    const owner = { kind: 'Deployment', name: 'shop', uid: 'uid-shop' };
    const outcomeWith = async (changes: Partial<WorkloadInfo>, top: Partial<WorkloadInfo>) => {
      const w = aWorld([...PODS, aPodOf(web, 'web-3', 'd')]);
      w.cluster.putWorkload({ ...web, owner, ...changes });
      w.cluster.putWorkload({ ...deployment, ...top });
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
      (w) => w.cluster.putPod({ ...WEB_2, ready: false }),
      'ReplicaSet web has 1 of 2 pods available',
    ],
    [
      'has a pod that was not Ready for minReadySeconds',
      (w) => {
        w.cluster.putWorkload({ ...web, minReadySeconds: seconds(60) });
        w.cluster.putPod({ ...WEB_2, readySince: epochSeconds(NOON - 5) });
      },
      'ReplicaSet web has 1 of 2 pods available',
    ],
    [
      'has fewer pods than it asks for',
      (w) => w.cluster.putWorkload({ ...web, replicas: 3, rollout: aRollout(3) }),
      'ReplicaSet web has 2 of 3 pods available',
    ],
    [
      'is losing a pod to somebody else',
      (w) => {
        w.cluster.putWorkload({ ...web, replicas: 2, rollout: aRollout(2) });
        w.cluster.putPod({ ...WEB_2, terminating: true });
      },
      'ReplicaSet web has 1 of 2 pods available',
    ],
  ])('lets no pod go of an owner that %s, and goes on when that is over', async (_, change, outcome) => {
    const w = aWorld();
    put(w, [aMove(WEB_1, 'b')]);
    change(w);
    expect(outcomes(await stepOnce(w))[0]).toContain(outcome);
    expect(w.calls.filter((call) => /^(evict|dry-run) /.test(call))).toEqual([]);
    w.cluster.putPod(WEB_2);
    w.cluster.putWorkload(web);
    await w.clock.advance(11);
    expect(phases(await run(w))).toEqual(['Landed']);
  });

  it('leaves an owner alone whose last replacement failed', async () => {
    const w = aWorld();
    w.cluster.delays.ready = Number.POSITIVE_INFINITY;
    const filler = Array.from({ length: 4 }, (_, index) =>
      aPodOf(aWorkload(`o${index}`, { replicas: 3 }), `o${index}`, 'a'),
    );
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
    const current = async () => ({ policy: other, invalid: [] });
    await drive(w.clock, step(w.plans.of(left.metadata.name), execution(2, { current }), w.ports, forever));
    put(w, [aMove(WEB_1, 'b'), aMove(API_1, 'b')]);
    expect(phases(await stepOnce(w))).toEqual(['Planned', 'Evicting']);
    expect(w.cluster.accepted).toEqual(['uid-web-2', 'uid-api-1']);
  });

  it('begins nothing while there are no metrics, and stops the plan when the last ones are too old', async () => {
    const w = aWorld();
    put(w, [aMove(WEB_1, 'b'), aMove(API_1, 'c')]);
    await stepOnce(w, execution(1));
    w.cluster.metered = false;
    await w.clock.advance(30);
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
    w.cluster.putNode(aNode('b', { ...TEN_CORES, terminating: true }));
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
    const stop = { reason: 'BudgetExhausted', message: 'no moves until 18:00', stops: 'Evictions' } as const;
    expect((await run(w, execution(1, { stop: async () => () => stop }))).status).toMatchObject({
      phase: 'Aborted',
      message: stop.message,
    });
    expect(w.plans.of(PLAN).status?.moves?.map(({ phase }) => phase)).toEqual(['Landed', 'Aborted']);
  });

  it('stores at once which moves it has given up, while another one is in flight', async () => {
    const made = aWorld();
    const w = { ...made, ports: made.newProcess(seconds(1_000)) };
    w.cluster.delays.ready = 60;
    put(w, [aMove(WEB_1, 'b'), aMove(API_1, 'c')]);
    await stepOnce(w, execution(1));
    const stop = { reason: 'BudgetExhausted', message: 'no moves until 18:00', stops: 'Evictions' } as const;
    await stepOnce(w, execution(1, { stop: async () => () => stop }));
    expect(phases(w.plans.of(PLAN))[1]).toBe('Aborted');
  });

  it('skips a move whose target is not Ready', async () => {
    const w = world(
      [
        ...Array.from({ length: 19 }, (_, index) => aNode(`n${index}`, TEN_CORES)),
        aNode('a', TEN_CORES),
        aNode('b', { ...TEN_CORES, ready: false }),
      ],
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
        aNode(name, { ...TEN_CORES, labels: { 'topology.kubernetes.io/zone': value } });
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

  it.each<[string, ExecutionPolicy, string]>([
    [
      'edited',
      execution(2, {
        current: async () => ({ policy: { ...policy, metadata: { ...policy.metadata, generation: 2 } }, invalid: [] }),
      }),
      'PolicyChanged',
    ],
    [
      'suspended',
      execution(2, {
        current: async () => ({ policy: { ...policy, spec: { ...policy.spec, suspend: true } }, invalid: [] }),
      }),
      'Suspended',
    ],
    ['deleted', execution(2, { current: async () => undefined, options: undefined }), 'PolicyChanged'],
  ])(
    'begins nothing more once the policy is %s, and follows moves in flight to their end',
    async (_, changed, stopped) => {
      const w = aWorld();
      put(w, [aMove(WEB_1, 'b'), aMove(API_1, 'c')]);
      await stepOnce(w, execution(1));
      const plan = await run(w, changed);
      expect(phases(plan)).toEqual(['Landed', 'Aborted']);
      expect(plan.status).toMatchObject({ phase: 'Aborted', stopped });
      expect(outcomes(plan)[1]).toBe(plan.status?.message);
      expect(w.cluster.accepted).toEqual(['uid-web-1']);
    },
  );

  it('keeps saying why a plan was aborted after the reason went away', async () => {
    const w = aWorld();
    put(w, [aMove(WEB_1, 'b'), aMove(API_1, 'c')]);
    await stepOnce(w, execution(1));
    w.cluster.putNode(aNode('c', { ...TEN_CORES, ready: false }));
    await stepOnce(w, execution(1));
    w.cluster.putNode(aNode('c', TEN_CORES));
    const plan = await run(w, execution(1));
    expect(plan.status).toMatchObject({ phase: 'Aborted', message: '1 of 4 nodes are not Ready' });
  });
});

function replacePod(w: World, changes: Partial<PodInfo>): void {
  w.cluster.vanish('pod', WEB_1.uid);
  const changed = { ...WEB_1, ...changes };
  w.cluster.putPod(changed);
}
