import { describe, expect, it } from 'vitest';
import { epochSeconds, seconds } from '../../../../src/model/units.ts';
import type { WorkloadInfo } from '../../../../src/model/workload.ts';
import { rolloutTest } from '../../../../src/plan/budgets/rollout.ts';
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
