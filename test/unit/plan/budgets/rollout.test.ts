import { describe, expect, it } from 'vitest';
import { epochSeconds, seconds } from '../../../../src/model/units.ts';
import type { WorkloadInfo } from '../../../../src/model/workload.ts';
import { rolloutOf, rolloutTest } from '../../../../src/plan/budgets/rollout.ts';
import { plan } from '../../../../src/plan/planner.ts';
import { someOptions } from '../../../support/builders/options.ts';
import {
  aNode,
  anOwner,
  aPastMove,
  aPod,
  aRollout,
  aSnapshot,
  aWorkload,
  NOW,
  type SnapshotFields,
} from '../../../support/builders.ts';

const AGO = (span: number) => epochSeconds(NOW - span);

function judge(
  workload: Partial<WorkloadInfo>,
  top: Partial<WorkloadInfo> | undefined = undefined,
  snapshot: SnapshotFields = {},
  stabilization = 600,
) {
  const owner = anOwner('web', {
    workload: aWorkload('web', { replicas: 4, rollout: aRollout(4), ...workload }),
    top:
      top === undefined
        ? undefined
        : aWorkload('shop', { kind: 'Deployment', replicas: 4, rollout: aRollout(4), ...top }),
  });
  return rolloutTest(aSnapshot(snapshot), seconds(stabilization))(owner);
}

describe('a controller is left alone', () => {
  it('but not when it has reached its spec, long ago', () => {
    expect(judge({}, {})).toBeUndefined();
  });

  it('but not for what is not known of it', () => {
    expect(judge({ rollout: undefined })).toBeUndefined();
    expect(rolloutTest(aSnapshot(), seconds(600))(anOwner('web'))).toBeUndefined();
  });

  it.each<{ while: string; workload?: Partial<WorkloadInfo>; top?: Partial<WorkloadInfo>; says: string }>([
    {
      while: 'its controller has not seen its spec',
      workload: { rollout: aRollout(4, { observed: false }) },
      says: 'the controller of ReplicaSet web has not seen its newest spec',
    },
    {
      while: 'its Deployment has old pods left',
      top: { rollout: aRollout(4, { updated: 3 }) },
      says: 'Deployment shop: 3 of 4 replicas are updated',
    },
    {
      while: 'it surges',
      top: { rollout: aRollout(4, { current: 5 }) },
      says: 'Deployment shop has 5 of 4 replicas',
    },
    {
      while: 'it scales',
      workload: { replicas: 6 },
      says: 'ReplicaSet web has 4 of 6 replicas',
    },
    {
      while: 'not all of its pods are ready',
      workload: { rollout: aRollout(4, { ready: 3, available: 2 }) },
      says: 'ReplicaSet web: 3 of 4 replicas are ready, 2 available',
    },
    {
      while: 'it is new: a rollout made it',
      workload: { changedAt: AGO(120) },
      says: 'ReplicaSet web changed 120 s ago, protections.stabilization is 600 s',
    },
    {
      while: 'its Deployment has just rolled out, or back',
      top: { changedAt: AGO(599) },
      says: 'Deployment shop changed 599 s ago, protections.stabilization is 600 s',
    },
  ])('while $while', ({ workload = {}, top, says }) => {
    expect(judge(workload, top)).toMatchObject({ code: 'Rollout', message: says });
    expect(judge(workload, top, {}, 0)).toBeUndefined();
  });

  it('no longer than stabilization', () => {
    expect(judge({ changedAt: AGO(600) }, { changedAt: AGO(600) })).toBeUndefined();
  });

  it('after it got a pod: it was scaled up, or somebody else moves its pods', () => {
    const pods = [aPod('web-1', { createdAt: AGO(90) }), aPod('web-2', { createdAt: AGO(400) })];
    expect(judge({}, {}, { pods })).toMatchObject({
      message: 'ReplicaSet web got a pod that no plan asked for 90 s ago, protections.stabilization is 600 s',
      numbers: { age: 90, stabilization: 600 },
    });
  });

  it('but not for the replacement of a move', () => {
    const replacement = aPod('web-1', { createdAt: AGO(90) });
    const pastMoves = [aPastMove('old', { replacement: { uid: replacement.uid, node: 'b' } })];
    expect(judge({}, {}, { pods: [replacement], pastMoves })).toBeUndefined();
  });

  it('as a whole: none of its pods is moved, and the plan says why', () => {
    const pods = Array.from({ length: 4 }, (_, index) => aPod(`web-${index}`, { nodeName: 'a' }));
    const workloads = [aWorkload('web', { rollout: aRollout(10, { ready: 9 }) })];
    const uses = Object.fromEntries(pods.map(({ name }) => [name, 400]));
    const { moves, rejections } = plan(
      aSnapshot({ nodes: [aNode('a'), aNode('b')], pods, workloads, uses }),
      someOptions(),
    );
    expect(moves).toEqual([]);
    expect(new Set(rejections.reasons.map(({ code }) => code))).toEqual(new Set(['Rollout']));
  });
});

describe('what is said of a controller that is left alone', () => {
  it('has the numbers that it is about', () => {
    expect(judge({ replicas: 5, rollout: aRollout(4, { observed: false }) })?.numbers).toEqual({ replicas: 5 });
    expect(judge({ rollout: aRollout(4, { updated: 3 }) })?.numbers).toEqual({ updated: 3, toUpdate: 4 });
    expect(judge({ rollout: aRollout(4, { current: 5 }) })?.numbers).toEqual({ current: 5, replicas: 4 });
    expect(judge({ rollout: aRollout(4, { ready: 3 }) })?.numbers).toEqual({ ready: 3, available: 4, replicas: 4 });
    expect(judge({ changedAt: AGO(120.4) })?.numbers).toEqual({ age: 120, stabilization: 600, remaining: 480 });
  });

  it('lasts for a fraction of a second as for a whole one', () => {
    expect(judge({ changedAt: AGO(120) }, undefined, {}, 600.5)?.numbers).toMatchObject({ age: 120, remaining: 481 });
  });

  it('takes a change that another clock dates in the future for one of now', () => {
    expect(judge({ changedAt: AGO(-30) })).toMatchObject({
      message: 'ReplicaSet web changed 0 s ago, protections.stabilization is 600 s',
      numbers: { age: 0, remaining: 600 },
    });
  });

  it('is about what stands above it first, and about its newest spec before its replicas', () => {
    const unseen = aRollout(4, { observed: false, updated: 0, current: 0 });
    expect(judge({ rollout: unseen }, { changedAt: AGO(1) })?.message).toContain('Deployment shop changed');
    expect(judge({ rollout: unseen, changedAt: AGO(1) })?.message).toContain('has not seen its newest spec');
    expect(judge({ rollout: aRollout(4, { current: 5 }), changedAt: AGO(1) })?.message).toContain('5 of 4 replicas');
  });
});

describe('the replicas of a controller', () => {
  it.each([
    { what: 'more are updated than have to be', fields: { updated: 5 } },
    { what: 'it does not say how many are updated', fields: { updated: undefined } },
    { what: 'more are ready and available than it asks for', fields: { ready: 5, available: 5 } },
  ])('are complete when $what', ({ fields }) => {
    expect(judge({ rollout: aRollout(4, fields) })).toBeUndefined();
  });

  it.each([{ ready: 3 }, { available: 3 }, { current: 3 }, { current: 5 }, { updated: 3 }])(
    'are not with %o of 4',
    (fields) => {
      expect(judge({ rollout: aRollout(4, fields) })?.code).toBe('Rollout');
    },
  );

  it('count for none when their number is not known', () => {
    expect(judge({ replicas: undefined, rollout: aRollout(0) })).toBeUndefined();
    expect(judge({ replicas: undefined, rollout: aRollout(1) })?.numbers).toEqual({ current: 1, replicas: 0 });
  });

  it('do not count within a plan that is carried out, unlike a spec that nobody has seen, and a recent change', () => {
    const within = (fields: Partial<WorkloadInfo>) =>
      rolloutOf(anOwner('web', { workload: aWorkload('web', { replicas: 4, ...fields }) }), {
        stabilization: seconds(600),
        now: NOW,
        countsReplicas: false,
        newestPod: () => undefined,
      });
    const short = { updated: 1, current: 2, ready: 0, available: 0 };
    expect(within({ rollout: aRollout(4, short) })).toBeUndefined();
    expect(within({ rollout: aRollout(4, { ...short, observed: false }) })?.code).toBe('Rollout');
    expect(within({ rollout: aRollout(4, short), changedAt: AGO(599) })?.code).toBe('Rollout');
  });
});

describe('a new pod of a controller', () => {
  const withPods = (...ages: readonly number[]) => ({
    pods: ages.map((age, index) => aPod(`web-${index}`, { createdAt: AGO(age) })),
  });

  it('counts for as long as stabilization lasts, the newest of several in any order', () => {
    expect(judge({}, {}, withPods(599))?.numbers).toEqual({ age: 599, stabilization: 600, remaining: 1 });
    expect(judge({}, {}, withPods(600))).toBeUndefined();
    expect(judge({}, {}, withPods(400, 90))?.numbers['age']).toBe(90);
    expect(judge({}, {}, withPods(90, 400))?.numbers['age']).toBe(90);
    expect(judge({}, {}, withPods(90), 0)).toBeUndefined();
  });

  it('is part of the rollout that made the controller when it is not younger', () => {
    const at = (changedAt: number, age: number) => judge({ changedAt: AGO(changedAt) }, {}, withPods(age), 600);
    expect(at(600, 599)?.message).toContain('got a pod');
    expect(at(300, 300)?.message).toContain('ReplicaSet web changed');
    const old = { changedAt: AGO(500), rollout: undefined };
    const within = (newest: number) =>
      rolloutOf(anOwner('web', { workload: aWorkload('web', old) }), {
        stabilization: seconds(500),
        now: NOW,
        countsReplicas: true,
        newestPod: () => AGO(newest),
      })?.message;
    expect([within(500), within(499)]).toEqual([undefined, expect.stringContaining('got a pod')]);
    const settled = anOwner('web', { workload: aWorkload('web', { ...old, changedAt: AGO(900) }) });
    const context = { stabilization: seconds(500), now: NOW, countsReplicas: true };
    expect(rolloutOf(settled, { ...context, newestPod: () => AGO(500) })).toBeUndefined();
    expect(rolloutOf(settled, { ...context, newestPod: () => AGO(499) })?.code).toBe('Rollout');
  });

  it('counts for its own controller only, and only one that is known', () => {
    const pods = [
      aPod('api', { owner: 'api', createdAt: AGO(90) }),
      aPod('bare', { owner: undefined, createdAt: NOW }),
    ];
    expect(judge({}, {}, { pods })).toBeUndefined();
    expect(rolloutTest(aSnapshot(withPods(90)), seconds(600))(anOwner('web'))).toBeUndefined();
  });

  it('counts beside the replacement of a move, which does not', () => {
    const pastMoves = [aPastMove('old', { replacement: { uid: 'uid-shop-web-1', node: 'b' } })];
    expect(judge({}, {}, { ...withPods(200, 90), pastMoves })?.numbers['age']).toBe(200);
  });
});

describe('several controllers', () => {
  it('are judged one by one, in any order', () => {
    const test = rolloutTest(aSnapshot(), seconds(600));
    const quiet = anOwner('web', { workload: aWorkload('web', { rollout: aRollout(10) }) });
    const busy = anOwner('api', { workload: aWorkload('api', { rollout: aRollout(9) }) });
    const judged = [quiet, busy, busy, quiet, busy].map((owner) => test(owner)?.message.split(' ')[1]);
    expect(judged).toEqual([undefined, 'api', 'api', undefined, 'api']);
  });
});
