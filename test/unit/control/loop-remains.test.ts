import { describe, expect, it } from 'vitest';
import type { RebalancePlan } from '../../../src/api/v1alpha1/rebalance-plan.ts';
import { podsInFlight } from '../../../src/execute/journal.ts';
import { aMove, aPlan } from '../../support/builders/plan.ts';
import { aPolicy } from '../../support/builders/policy.ts';
import { aPodOf, aWorkload } from '../../support/builders.ts';
import { AUTOMATIC, plansOf, play, tilted } from '../../support/played.ts';

describe('runLoop, with what was left behind,', () => {
  it('ends a plan whose policy was deleted, and looks after the others', async () => {
    const w = tilted();
    w.cluster.delays.ready = 60;
    w.policies.apply('even', AUTOMATIC);
    let ended: RebalancePlan | undefined;
    w.tap = (when, call, [name]) => {
      ended = when === 'before' && call === 'plans.remove' ? w.plans.of(String(name)) : ended;
    };
    await play(w, 300, { 25: () => w.policies.remove('even') });
    expect(ended?.status).toMatchObject({ phase: 'Completed', summary: { total: 2, done: 2, landed: 2 } });
    expect(plansOf(w)).toEqual([]);
    expect(w.cluster.accepted).toHaveLength(2);
    expect([...w.cluster.hints.keys()]).toEqual([]);
  });

  it('deletes plans that wait for nobody any more, and leaves those that a person made from a file', async () => {
    const w = tilted();
    w.policies.apply('even', {});
    await play(w, 60);
    const [proposed] = plansOf(w);
    const fromFile = aPlan(aPolicy('file'), [], { phase: 'Proposed' });
    w.plans.put({ ...fromFile, spec: { ...fromFile.spec, policy: { name: 'file', uid: '', generation: 0 } } });
    w.policies.remove('even');
    await play(w, 60);
    expect(proposed?.status?.phase).toBe('Proposed');
    expect(plansOf(w).map(({ spec }) => spec.policy.name)).toEqual(['file']);
  });

  it('begins again beside what a deleted policy of the same name left in flight, within the same limits', async () => {
    const w = tilted();
    w.cluster.delays.ready = 60;
    const one = { ...AUTOMATIC, budgets: [{ maxConcurrent: 1 }] };
    w.policies.apply('even', one);
    const inFlight: number[] = [];
    w.tap = (when, call, [, options]) => {
      if (when === 'before' && call === 'evictor.evict' && !(options as { dryRun: boolean }).dryRun) {
        inFlight.push(podsInFlight(plansOf(w)).size);
      }
    };
    await play(w, 400, { 25: () => w.policies.remove('even'), 26: () => w.policies.apply('even', one) });
    expect(new Set(inFlight)).toEqual(new Set([1]));
    expect(w.cluster.accepted.length).toBeGreaterThan(1);
  });

  it('removes hints that belong to no move in flight, and leaves the others', async () => {
    const w = tilted();
    const signal = new AbortController().signal;
    const pod = [...w.cluster.pods.values()][0] ?? aPodOf(aWorkload('web', { replicas: 3 }), 'web', 'a');
    const inFlight = { podUID: pod.uid, phase: 'Verifying', attempt: 0, startedAt: '2026-01-01T12:00:00Z' } as const;
    w.plans.put(aPlan(aPolicy('gone'), [aMove(pod, 'b')], { moves: [inFlight] }));
    const hint = { ownerUID: 'x', nodeName: 'b', plan: 'p' };
    const stale = w.plans.of('gone-0123456789');
    await w.cluster.steering.place('shop', { ...hint, podUID: pod.uid }, stale, signal);
    await w.cluster.steering.place('shop', { ...hint, podUID: 'stale' }, stale, signal);
    await play(w, 5);
    expect([...w.cluster.hints.keys()]).toEqual([pod.uid]);
  });

  it('ends a plan that was cut off between its creation and its first status', async () => {
    const w = tilted();
    w.policies.apply('even', { interval: '1h' });
    const { status: _, ...plan } = aPlan(aPolicy('even'), [], {});
    w.plans.put({ ...plan, metadata: { ...plan.metadata, name: 'even-cut' } });
    await play(w, 5);
    expect(w.plans.of('even-cut').status).toMatchObject({
      phase: 'Superseded',
      message: expect.stringContaining('interrupted'),
    });
  });

  it('deletes ended plans beyond historyLimit', async () => {
    const w = tilted();
    w.policies.apply('even', { historyLimit: 1 });
    const policy = aPolicy('even');
    for (const day of [1, 2, 3]) {
      const plan = aPlan(policy, [], { phase: 'Completed', finishedAt: '2025-12-03T00:00:00Z' });
      w.plans.put({
        ...plan,
        metadata: { name: `even-${day}` },
        spec: { ...plan.spec, takenAt: `2025-12-0${day}T00:00:00Z` },
      });
    }
    await play(w, 5);
    expect([...w.plans.stored.keys()].filter((name) => /even-\d$/.test(name))).toEqual(['even-3']);
  });

  it('carries on after a restart in the middle of a plan', async () => {
    const w = tilted();
    w.cluster.delays.ready = 20;
    w.policies.apply('even', { ...AUTOMATIC, interval: '1h', thresholds: { consecutive: 1 } });
    for (let restart = 0; restart < 20; restart += 1) {
      await play(w, 3);
    }
    expect(plansOf(w).map(({ status }) => status?.phase)).toEqual(['Completed']);
    expect(new Set(w.cluster.accepted).size).toBe(w.cluster.accepted.length);
  });
});
