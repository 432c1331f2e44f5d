import { describe, expect, it } from 'vitest';
import type { PlacementHint } from '../../../src/api/v1alpha1/placement-hint.ts';
import type { PodRef } from '../../../src/model/pod.ts';
import { ConflictError } from '../../../src/ports.ts';
import { aMove, aPlan } from '../../support/builders/plan.ts';
import { aPolicy } from '../../support/builders/policy.ts';
import type { World } from '../../support/fake-world.ts';
import { AUTOMATIC, condition, messageOf, OWNERS, plansOf, play, tilted } from '../../support/played.ts';

/** A hint that no move needs. */
async function leaveHint(w: World, podUID: string, plan: string): Promise<void> {
  const spec = { ownerUID: 'x', nodeName: 'b', plan, podUID };
  const named = aPlan(aPolicy('even'), []);
  await w.ports.steering.place('shop', spec, named, new AbortController().signal);
}

/** A plan of two moves of policy even. */
function putPlan(w: World): void {
  w.cluster.plannable = false;
  w.policies.apply('even', AUTOMATIC);
  const pods = OWNERS.slice(0, 2).flatMap(
    ({ uid }) => [...w.cluster.pods.values()].find(({ owner }) => owner?.uid === uid) ?? [],
  );
  const policy = w.policies.stored.get('even')?.policy ?? aPolicy('even');
  const moves = pods.map((pod, place) => aMove(pod, 'bc'.charAt(place)));
  w.plans.put(aPlan(policy, moves, { steering: 'AdmissionPolicy' }));
}

function outcomesOf(w: World): readonly (string | undefined)[] {
  return plansOf(w)[0]?.status?.moves?.map(({ phase, outcome }) => `${phase}: ${outcome}`) ?? [];
}

describe('one bad object', () => {
  it('such as a hint that cannot be deleted stops neither other hints nor policies, and its policy says so', async () => {
    const w = tilted();
    putPlan(w);
    await leaveHint(w, 'stuck', 'even-0123456789');
    await leaveHint(w, 'other', 'even-0123456789');
    let isRefused = true;
    w.tap = (when, call, args) => {
      const [hint] = args as readonly [PlacementHint];
      const isDeletion = call === 'steering.discard' && hint.spec.podUID === 'stuck';
      const isOld = call === 'steering.remove' && args[1] === 'stuck';
      if (isRefused && when === 'before' && (isDeletion || isOld)) {
        throw new Error('may not delete placementhints');
      }
    };
    await play(w, 60);
    expect([...w.cluster.hints.keys()]).toEqual(['stuck']);
    expect(outcomesOf(w)).toEqual(['Landed: runs on b', 'Landed: runs on c']);
    expect(condition(w, 'even', 'Degraded')).toBe('True HintsRemain');
    expect(messageOf(w, 'even', 'Degraded')).toBe(
      'PlacementHint shop/hint-stuck remains and goes on steering pods: may not delete placementhints',
    );
    isRefused = false;
    await play(w, 60);
    expect([...w.cluster.hints.keys()]).toEqual([]);
    expect(condition(w, 'even', 'Degraded')).toBe('False AsExpected');
  });

  it('such as a pod that cannot be read, before its move or during it, holds up none of the other moves', async () => {
    for (const from of [0, 3]) {
      const w = tilted();
      putPlan(w);
      const [bad] = plansOf(w)[0]?.spec.moves ?? [];
      w.cluster.delays.ready = 5;
      const start = w.clock.now();
      w.tap = (when, call, args) => {
        const [pod] = args as readonly [PodRef];
        if (when === 'before' && call === 'reader.pod' && pod.name === bad?.pod.name && w.clock.now() >= start + from) {
          throw new Error('Pod shop/api-1: spec.containers is not a list');
        }
      };
      await play(w, 60);
      expect(outcomesOf(w)[1]).toBe('Landed: runs on c');
      const said = from === 0 ? outcomesOf(w)[0] : messageOf(w, 'even', 'Degraded');
      expect(said).toContain('Pod shop/api-1: spec.containers is not a list');
    }
  });

  it('such as a hint that cannot be placed keeps back its own move, which is not sent, and ends in the open', async () => {
    const w = tilted();
    putPlan(w);
    const [bad] = plansOf(w)[0]?.spec.moves ?? [];
    w.tap = (when, call, args) => {
      if (
        when === 'before' &&
        call === 'steering.place' &&
        (args[1] as PlacementHint['spec']).podUID === bad?.pod.uid
      ) {
        throw new Error('may not create placementhints in namespace shop');
      }
    };
    await play(w, 1_200);
    expect(outcomesOf(w)).toEqual([
      'Skipped: refused 5 times: the move could not begin: may not create placementhints in namespace shop',
      'Landed: runs on c',
    ]);
    expect(w.cluster.accepted).toHaveLength(1);
    expect(plansOf(w)[0]?.status?.phase).toBe('Completed');
  });

  it('such as an old plan that cannot be removed leaves the status of its policy to be written', async () => {
    const w = tilted();
    w.cluster.plannable = false;
    w.policies.apply('even', { ...AUTOMATIC, historyLimit: 1 });
    const policy = w.policies.stored.get('even')?.policy ?? aPolicy('even');
    for (const [place, name] of ['old-a', 'old-b', 'old-c'].entries()) {
      const plan = aPlan(policy, [], { phase: 'Completed', finishedAt: `2026-01-01T0${place}:00:00Z` });
      w.plans.put({ ...plan, metadata: { name } });
    }
    w.tap = (when, call) => {
      if (when === 'before' && call === 'plans.remove') {
        throw new Error('may not delete rebalanceplans');
      }
    };
    await play(w, 30);
    expect(condition(w, 'even', 'Accepted')).toBe('True Valid');
    expect(messageOf(w, 'even', 'Degraded')).toBe('may not delete rebalanceplans');
  });

  it('such as rights to list hints that are missing stops no policy', async () => {
    const w = tilted();
    putPlan(w);
    w.tap = (when, call) => {
      if (when === 'before' && call === 'steering.list') {
        throw new Error('may not list placementhints');
      }
    };
    await play(w, 60);
    expect(outcomesOf(w)).toEqual(['Landed: runs on b', 'Landed: runs on c']);
    expect(w.failures()).toBeGreaterThan(0);
  });

  it('may be a conflict over the plan, which degrades nothing', async () => {
    const w = tilted();
    putPlan(w);
    const conflicts = [3, 9, 14];
    let writes = 0;
    w.tap = (when, call) => {
      writes += when === 'before' && call === 'plans.writeStatus' ? 1 : 0;
      if (when === 'before' && call === 'plans.writeStatus' && conflicts.includes(writes)) {
        throw new ConflictError('somebody else wrote first');
      }
      expect(condition(w, 'even', 'Degraded')).not.toMatch(/^True/);
    };
    await play(w, 120);
    expect(writes).toBeGreaterThan(3);
    expect(outcomesOf(w)).toEqual(['Landed: runs on b', 'Landed: runs on c']);
    expect(w.failures()).toBe(0);
  });
});
