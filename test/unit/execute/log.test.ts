import { describe, expect, it } from 'vitest';
import { aMove, aPlan, aRemoval } from '../../support/builders/plan.ts';
import { aPodOf } from '../../support/builders.ts';
import {
  API_1,
  aWorld,
  execution,
  LOGGED_MOVE,
  PLAN,
  policy,
  put,
  run,
  stepOnce,
  WEB_1,
  web,
} from '../../support/execution.ts';
import type { World } from '../../support/fake-world.ts';

const names = (w: World) => w.lines.map(({ line }) => line);
const fieldsOf = (w: World, wanted: string) => w.lines.find(({ line }) => line === wanted)?.fields;

describe('the log of a plan', () => {
  it('has its eviction, its landing and its end, each with policy, plan, pod, from, to and result', async () => {
    const w = aWorld();
    put(w, [aMove(WEB_1, 'b')], { steering: 'AdmissionPolicy' });
    const plan = await run(w);
    expect(names(w)).toEqual(['pod evicted', 'move landed', 'plan finished']);
    expect(fieldsOf(w, 'pod evicted')).toEqual({
      ...LOGGED_MOVE,
      result: 'the API server accepted the eviction',
      why: plan.spec.moves[0]?.reason,
    });
    const [landed] = plan.status?.moves ?? [];
    expect(fieldsOf(w, 'move landed')).toEqual({
      ...LOGGED_MOVE,
      result: 'runs on b',
      replacement: `shop/${landed?.replacement?.name}`,
      unavailableSeconds: landed?.unavailableSeconds,
    });
    expect(fieldsOf(w, 'plan finished')).toEqual({
      policy: 'even',
      plan: PLAN,
      phase: 'Completed',
      result: '1 of 1 replacements landed as planned',
    });
  });

  it('says where a replacement runs that missed its node, and why', async () => {
    const w = aWorld();
    w.cluster.bindTo = () => 'c';
    put(w, [aMove(WEB_1, 'b')], { steering: 'AdmissionPolicy' });
    await run(w);
    expect(names(w)).toEqual(['pod evicted', 'move missed', 'plan finished']);
    expect(fieldsOf(w, 'move missed')?.['result']).toMatch(/^runs on c instead of b \(NotScored: b would have scored/);
  });

  it('has each refusal of a PodDisruptionBudget with the next try, and the skip after the last', async () => {
    const w = aWorld();
    w.cluster.minAvailable.set(web.uid, 2);
    put(w, [aMove(WEB_1, 'b')]);
    await run(w);
    expect(names(w)).toEqual([...Array<string>(4).fill('move postponed'), 'move skipped', 'plan finished']);
    expect(fieldsOf(w, 'move postponed')).toMatchObject({
      ...LOGGED_MOVE,
      attempt: 1,
      notBefore: '2026-01-01T12:00:10Z',
    });
    expect(fieldsOf(w, 'move skipped')?.['result']).toMatch(/^refused 5 times: /);
  });

  it('has a lost answer, and then the eviction once its pod is seen to go', async () => {
    const w = aWorld();
    put(w, [aMove(WEB_1, 'b')]);
    w.cluster.script = (_pod, dryRun) => (dryRun ? undefined : { kind: 'Ambiguous', message: 'reset', acted: true });
    await run(w);
    expect(names(w)).toEqual(['eviction unanswered', 'pod evicted', 'move landed', 'plan finished']);
    expect(fieldsOf(w, 'eviction unanswered')?.['result']).toBe('reset');
    expect(fieldsOf(w, 'pod evicted')?.['result']).toBe(
      'the eviction had no answer, and the pod is gone or terminating',
    );
  });

  it('has the eviction that a crashed leader has sent but not logged', async () => {
    const w = aWorld();
    put(w, [aMove(WEB_1, 'b')]);
    w.tap = (when, call) => {
      if (when === 'after' && call === 'evictor.evict' && w.cluster.accepted.length > 0) {
        throw new Error('killed');
      }
    };
    await expect(stepOnce(w)).rejects.toThrow('killed');
    expect(names(w)).toEqual([]);
    w.tap = () => undefined;
    await run(w);
    expect(names(w)).toEqual(['pod evicted', 'move landed', 'plan finished']);
  });

  it('has the rule that stops it once, and the moves that do not begin', async () => {
    const w = aWorld();
    put(w, [aMove(WEB_1, 'b'), aMove(API_1, 'c')]);
    const suspended = { ...policy, spec: { ...policy.spec, suspend: true } };
    await run(w, execution(2, { current: async () => ({ policy: suspended, invalid: [] }) }));
    expect(names(w)).toEqual(['plan stopped', 'move aborted', 'move aborted', 'plan finished']);
    expect(fieldsOf(w, 'plan stopped')).toEqual({
      policy: 'even',
      plan: PLAN,
      stopped: 'Suspended',
      result: 'policy even is suspended',
    });
  });

  it('has no rule that stops it where all of its moves have begun', async () => {
    const w = aWorld();
    put(w, [aMove(WEB_1, 'b')]);
    await stepOnce(w);
    const suspended = { ...policy, spec: { ...policy.spec, suspend: true } };
    const plan = await run(w, execution(2, { current: async () => ({ policy: suspended, invalid: [] }) }));
    expect(names(w)).toEqual(['pod evicted', 'move landed', 'plan finished']);
    expect(plan.status).toMatchObject({ phase: 'Completed', message: '1 of 1 replacements landed as planned' });
    expect(plan.status?.stopped).toBeUndefined();
  });

  it('has a replacement that does not serve', async () => {
    const w = aWorld();
    w.cluster.delays.ready = Number.POSITIVE_INFINITY;
    put(w, [aMove(WEB_1, 'b')]);
    await run(w);
    expect(names(w)).toEqual(['pod evicted', 'move failed', 'plan finished']);
    expect(fieldsOf(w, 'move failed')?.['result']).toMatch(/is not Ready on b after 600 s$/);
  });

  it('has the eviction of a failed pod and its removal', async () => {
    const failed = { ...aPodOf(web, 'web-9', 'a'), phase: 'Failed', ready: false, readySince: undefined } as const;
    const w = aWorld([failed]);
    w.plans.put(aPlan(policy, [aRemoval(failed)]));
    await run(w);
    expect(names(w)).toEqual(['pod evicted', 'move vacated', 'plan finished']);
    expect(fieldsOf(w, 'move vacated')).toMatchObject({ pod: 'shop/web-9', reason: 'Removal', result: 'removed' });
  });
});
