import { describe, expect, it } from 'vitest';
import { packPlan } from '../../../src/adapters/kubernetes/packed-plan.ts';
import type { RebalancePlan } from '../../../src/api/v1alpha1/rebalance-plan.ts';
import { digestEnded } from '../../../src/control/ended-plans.ts';
import { pastMovesOf } from '../../../src/observe/project/past-moves.ts';
import { toRebalancePlan } from '../../../src/report/plan-resource.ts';
import { aPolicy } from '../../support/builders/policy.ts';
import { largePlan } from '../../support/large-plan.ts';

const nothing = (): void => {};

const FINISHED = '2026-01-01T12:00:00Z';

function aLargePlan(status: RebalancePlan['status']): RebalancePlan {
  const { plan, snapshot } = largePlan(50);
  const resource = toRebalancePlan(plan, aPolicy('even'), 1, snapshot);
  const moves = resource.spec.moves.map(({ pod, to = '' }, index) => ({
    podUID: pod.uid,
    phase: 'Landed' as const,
    attempt: 1,
    startedAt: '2026-01-01T11:50:00Z',
    finishedAt: '2026-01-01T11:51:00Z',
    unavailableSeconds: 1,
    replacement: { name: `${pod.name}-r`, uid: `r-${index}`, node: to },
  }));
  const metadata = { name: 'even-1', uid: 'u', resourceVersion: '7', managedFields: [{ manager: 'evenkeel' }] };
  return { ...resource, metadata, status: { ...status, moves } };
}

describe('a plan that has ended', () => {
  const plan = aLargePlan({ phase: 'Completed', finishedAt: FINISHED });
  const { managedFields: _, ...metadata } = plan.metadata;

  it('says all that it said, but for who managed which fields', () => {
    const kept = packPlan(plan, nothing);
    expect(kept).toEqual({ ...plan, metadata });
    expect(JSON.parse(JSON.stringify(kept))).toEqual(JSON.parse(JSON.stringify({ ...plan, metadata })));
    expect({ ...kept.status, message: 'x' }).toEqual({ ...plan.status, message: 'x' });
  });

  it('says it after what was unpacked is gone, too', () => {
    const kept = packPlan(plan, nothing);
    const before = kept.spec.moves;
    expect(kept.spec.moves).toBe(before);
    // What a WeakRef points to stays until the present job ends.
    expect(before).not.toBe(plan.spec.moves);
    expect(before).toEqual(plan.spec.moves);
  });

  it('has no status of moves where it had none', () => {
    const { moves: __, ...status } = plan.status ?? {};
    expect(packPlan({ ...plan, status }, nothing).status).toEqual(status);
  });

  it('is digested while its moves are at hand, so that nothing is unpacked for what passes ask', () => {
    let reads = 0;
    const moves = new Proxy(plan.spec.moves, {
      get: (target, key, receiver) => {
        reads += 1;
        return Reflect.get(target, key, receiver) as unknown;
      },
    });
    const kept = packPlan({ ...plan, spec: { ...plan.spec, moves } }, digestEnded);
    expect(reads).toBeGreaterThan(0);
    const [first, second] = [pastMovesOf([kept]), pastMovesOf([kept])];
    expect(first).toHaveLength(plan.spec.moves.length);
    expect(first[0]).toBe(second[0]);
    expect(first).toEqual(pastMovesOf([plan]));
  });
});

it('a plan that has not ended is kept as it is', () => {
  const plan = aLargePlan({ phase: 'Executing' });
  expect(packPlan(plan, nothing)).toBe(plan);
});
