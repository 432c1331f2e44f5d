import { describe, expect, it } from 'vitest';
import type { RebalancePlan } from '../../../src/api/v1alpha1/rebalance-plan.ts';
import { moveHistory, withExpired } from '../../../src/control/past-overhead.ts';
import { formatInstant } from '../../../src/model/instant.ts';
import { epochSeconds, seconds } from '../../../src/model/units.ts';
import { lostService } from '../../../src/plan/budgets/overhead.ts';
import { NO_PODS, startupTimes } from '../../../src/plan/startup.ts';
import type { StoredPolicy } from '../../../src/ports.ts';
import { aMove, aPlan, aPreemption } from '../../support/builders/plan.ts';
import { aPolicy } from '../../support/builders/policy.ts';
import { aPod, NOW } from '../../support/builders.ts';
import { AUTOMATIC, plansOf, play, tilted } from '../../support/played.ts';

const even = aPolicy('even');
const HOUR = seconds(3600);

/** A plan whose one move began `ago` seconds ago and cost 20 s. */
function ended(name: string, ago: number): RebalancePlan {
  const pod = aPod(name, { nodeName: 'a' });
  const startedAt = formatInstant(epochSeconds(NOW - ago));
  const run = {
    podUID: pod.uid,
    phase: 'Landed',
    attempt: 1,
    startedAt,
    finishedAt: startedAt,
    unavailableSeconds: 20,
  } as const;
  const plan = aPlan(even, [aMove(pod, 'b')], { phase: 'Completed', finishedAt: startedAt, moves: [run] });
  return { ...plan, metadata: { name } };
}

function policyWith(status: StoredPolicy['policy']['status']): StoredPolicy {
  return { policy: { ...even, ...(status === undefined ? {} : { status }) }, invalid: [] };
}

/** What was lost in the last hour. */
function lost(policies: readonly StoredPolicy[], plans: readonly RebalancePlan[]): number {
  const { pastMoves, spent } = moveHistory(policies, plans);
  return lostService(pastMoves, startupTimes(pastMoves, NO_PODS), HOUR, NOW, spent);
}

describe('what moves have cost', () => {
  it('does not depend on how many plans are kept: a thousand plans of one move each', () => {
    const plans = Array.from({ length: 1000 }, (_, index) => ended(`plan-${index}`, 30 + 3 * index));
    const kept = plans.slice(0, 100);
    const status = withExpired(undefined, plans.slice(100), plans, NOW);
    expect(lost([policyWith(undefined)], plans)).toBe(20_000);
    expect(lost([policyWith({ pastOverhead: status.pastOverhead ?? [] })], kept)).toBe(20_000);
    expect(status.pastOverhead?.length).toBeLessThan(15);
  });

  it('counts a plan once, at every point of its deletion', () => {
    const plans = [ended('old', 1000), ended('new', 30)];
    const [old] = plans as [RebalancePlan, RebalancePlan];
    const counted = withExpired(undefined, [old], plans, NOW);
    // The status is written, and the process dies before the plan is deleted.
    expect(lost([policyWith(counted)], plans)).toBe(40);
    const again = withExpired(counted, [old], plans, NOW);
    expect(again).toEqual(counted);
    expect(lost([policyWith(again)], plans.slice(1))).toBe(40);
    const after = withExpired(again, [], plans.slice(1), NOW);
    expect(after.deletedPlans).toBeUndefined();
    expect(lost([policyWith(after)], plans.slice(1))).toBe(40);
  });

  it('is remembered in whole seconds, none too few', () => {
    const startedAt = formatInstant(epochSeconds(NOW - 600));
    const run = { podUID: 'uid-victim', phase: 'Vacated', attempt: 1, startedAt, finishedAt: startedAt } as const;
    const pod = { ...aPod('victim', { nodeName: 'a' }), uid: 'uid-victim' };
    const plan = aPlan(even, [{ ...aPreemption(pod), cost: '45.25' }], { phase: 'Completed', moves: [run] });
    expect(withExpired(undefined, [plan], [], NOW).pastOverhead?.map(({ seconds: lost }) => lost)).toEqual([46]);
  });

  it('is forgotten after a day', () => {
    const counted = withExpired(undefined, [ended('old', 1000)], [], NOW);
    expect(withExpired(counted, [], [], epochSeconds(NOW + 24 * 3600))).toEqual({});
  });

  it('counts preemptions by what a start takes', () => {
    const pod = aPod('victim', { nodeName: 'a' });
    const startedAt = formatInstant(epochSeconds(NOW - 600));
    const run = { podUID: pod.uid, phase: 'Vacated', attempt: 1, startedAt, finishedAt: startedAt } as const;
    const plan = aPlan(even, [{ ...aPreemption(pod), cost: '45' }], { phase: 'Completed', moves: [run] });
    expect(lost([], [plan])).toBe(45);
  });

  it('holds back the next plan of an operator that has deleted the plans before', async () => {
    const w = tilted();
    const budgets = [{ maxMoves: 1, maxOverhead: '60s', window: '1h' }];
    w.policies.apply('even', { ...AUTOMATIC, budgets, historyLimit: 1 });
    for (const index of Array.from({ length: 120 }).keys()) {
      const { spec, ...plan } = ended(`old-${index}`, 100 + index);
      w.plans.put({ ...plan, spec: { ...spec, policy: { name: 'even', uid: 'uid-even', generation: 1 } } });
    }
    await play(w, 60);
    expect(plansOf(w).length).toBeLessThanOrEqual(101);
    const status = w.policies.stored.get('even')?.policy.status;
    expect(status?.pastOverhead?.reduce((sum, span) => sum + span.seconds, 0)).toBeGreaterThanOrEqual(19 * 20);
    expect(status?.deletedPlans).toBeUndefined();
    for (const { metadata } of plansOf(w)) {
      await w.ports.plans.remove(metadata.name, new AbortController().signal);
    }
    await play(w, 1200);
    expect(w.cluster.accepted).toEqual([]);
  });
});
