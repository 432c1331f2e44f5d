import { describe, expect, it } from 'vitest';
import type { RebalancePlan } from '../../../src/api/v1alpha1/rebalance-plan.ts';
import { aMove, aPlan } from '../../support/builders/plan.ts';
import { aPolicy } from '../../support/builders/policy.ts';
import { aPodOf, aWorkload } from '../../support/builders.ts';
import { AUTOMATIC, condition, evictions, messageOf, plansOf, play, tilted, twoOfEach } from '../../support/played.ts';

describe('runLoop, while a plan is carried out,', () => {
  it('stops a running plan when its policy is suspended, and follows what is in flight', async () => {
    const w = tilted();
    w.policies.apply('even', AUTOMATIC);
    w.cluster.delays.ready = 60;
    w.policies.apply('even', { ...AUTOMATIC, budgets: [{ maxConcurrent: 1 }] });
    await play(w, 300, { 25: () => w.policies.apply('even', { ...AUTOMATIC, suspend: true }) });
    const [plan] = plansOf(w);
    expect(plan?.status).toMatchObject({ phase: 'Aborted', stopped: 'Suspended' });
    expect(w.cluster.accepted).toHaveLength(1);
    const [first, ...others] = plan?.status?.moves?.map(({ phase }) => phase) ?? [];
    expect(first).toBe('Landed');
    expect(others).not.toEqual([]);
    expect(new Set(others)).toEqual(new Set(['Aborted']));
  });

  it('begins nothing for a policy that is suspended while the pass is busy with another one', async () => {
    const w = tilted();
    const scope = (app: string) => ({ scope: { podSelector: { matchLabels: { app } } } });
    w.policies.apply('a-first', { ...AUTOMATIC, ...scope('api') });
    w.policies.apply('b-second', AUTOMATIC);
    await play(w, 15);
    w.tap = (when, call, [plan]) => {
      const { spec } = (plan ?? {}) as Partial<RebalancePlan>;
      if (when === 'before' && call === 'plans.writeStatus' && spec?.policy.name === 'a-first') {
        w.policies.apply('b-second', { ...AUTOMATIC, suspend: true });
      }
    };
    const [pod] = [...w.cluster.pods.values()].filter(({ owner }) => owner?.name === 'api');
    const first = w.policies.stored.get('a-first')?.policy ?? aPolicy('a-first');
    const second = w.policies.stored.get('b-second')?.policy ?? aPolicy('b-second');
    const other = [...w.cluster.pods.values()].find(({ owner }) => owner?.name === 'web');
    w.plans.put(aPlan(first, [aMove(pod ?? aPodOf(aWorkload('x', { replicas: 3 }), 'x', 'a'), 'b')]));
    w.plans.put(aPlan(second, [aMove(other ?? aPodOf(aWorkload('y', { replicas: 3 }), 'y', 'a'), 'c')]));
    await play(w, 3);
    expect(evictions(w).filter((call) => call.startsWith('evict '))).toEqual([`evict ${pod?.name}`]);
  });

  it('stops a running plan when a window closes the cluster to moves, says until when, and goes on after it', async () => {
    const w = tilted();
    w.cluster.delays.ready = 60;
    const office = { maxMoves: 0, schedule: '1 12 * * *', duration: '1h', timeZone: 'Etc/UTC' };
    w.policies.apply('even', { ...AUTOMATIC, budgets: [{ maxConcurrent: 1 }, office] });
    await play(w, 600);
    const [plan] = plansOf(w);
    expect(plan?.status).toMatchObject({
      phase: 'Aborted',
      message: 'budgets[1] came into force after the plan was made, until 13:01 Etc/UTC',
    });
    expect(w.cluster.accepted).toHaveLength(1);
    expect(condition(w, 'even', 'PlanReady')).toBe('False BudgetExhausted');
    expect(condition(w, 'even', 'Converged')).toBe('False BudgetExhausted');
    expect(messageOf(w, 'even', 'PlanReady')).toBe('no moves until 13:01 Etc/UTC: budgets[1]');
    expect(w.events.filter(({ reason }) => reason === 'BudgetExhausted').map(({ note }) => note)).toEqual([
      'no moves until 13:01 Etc/UTC: budgets[1]',
    ]);
    await play(w, 3_600);
    expect(w.cluster.accepted.length).toBeGreaterThan(1);
  });

  it('stops a running plan when its moves cost more service than was expected', async () => {
    const w = tilted();
    // Pods were Ready 100 s after their creation: two such starts fit in, but not one of 200 s and one of 100 s.
    w.cluster.delays.ready = 200;
    const budgets = [
      { maxConcurrent: 1, perNode: 2 },
      { maxOverhead: '290s', window: '1h' },
    ];
    w.policies.apply('even', { ...AUTOMATIC, budgets });
    await play(w, 600);
    const [plan] = plansOf(w);
    expect(plan?.spec.moves.map(({ cost }) => cost)).toEqual(['100', '100']);
    expect(plan?.status?.moves?.map(({ phase }) => phase)).toEqual(['Landed', 'Aborted']);
    expect(plan?.status?.message).toMatch(
      /^19\d s of service were lost in the last 3600 s, the next move would cost 100 s: maxOverhead of budgets\[1\] allows 290 s$/,
    );
    expect(plan?.status?.moves?.[0]?.unavailableSeconds).toBeGreaterThanOrEqual(200);
    expect(messageOf(w, 'even', 'PlanReady')).toMatch(/^MaxOverhead keeps \d pods where they are: a start takes /);
    expect(w.cluster.accepted).toHaveLength(1);
  });

  it('stops a running plan when a move takes so long that the workload falls below its SLO', async () => {
    const w = tilted();
    w.cluster.delays.ready = 90;
    w.policies.apply('even', {
      ...AUTOMATIC,
      interval: '10m',
      thresholds: { consecutive: 1 },
      budgets: [{ maxConcurrent: 1, perNode: 2 }],
    });
    w.cluster.serviceLevels = twoOfEach(0, { running: 2, waiting: 0 });
    await play(w, 600, {
      3: () => {
        w.cluster.serviceLevels = twoOfEach(3, { running: 1, waiting: 1 });
      },
    });
    const [plan] = plansOf(w);
    expect(plan?.status).toMatchObject({ phase: 'Aborted', stopped: 'ServiceLevelMissed' });
    expect(plan?.status?.message).toMatch(
      /^ReplicaSet shop\/\w+ has 94\.\d\d % over 600 s, its class batch promises 95\.00 %: the plan has cost it 6\d s of service$/,
    );
    expect(w.cluster.accepted).toHaveLength(1);
    expect(condition(w, 'even', 'Degraded')).toBe('True ServiceLevelMissed');
  });
});
