import { describe, expect, it } from 'vitest';
import type { PodInfo } from '../../../src/model/pod.ts';
import { aMove, aPlan } from '../../support/builders/plan.ts';
import { aPolicy } from '../../support/builders/policy.ts';
import { anAffinityTerm } from '../../support/builders/scheduling.ts';
import { aNode, TEN_CORES } from '../../support/builders.ts';
import type { Tap } from '../../support/fake-tap.ts';
import type { World } from '../../support/fake-world.ts';
import { AUTOMATIC, evictions, OWNERS, plansOf, play, tilted } from '../../support/played.ts';

const POLICY = {
  ...AUTOMATIC,
  budgets: [{ maxConcurrent: 3 }],
  scope: { namespaceSelector: { matchLabels: { even: 'yes' } } },
};

/** A plan whose three moves begin together, in a namespace that the policy selects. */
function batch(): { readonly w: World; readonly pods: readonly PodInfo[] } {
  const w = tilted();
  w.cluster.plannable = false;
  w.cluster.putNode(aNode('d', TEN_CORES));
  w.cluster.namespaces.set('shop', { labels: new Map([['even', 'yes']]), terminating: false });
  w.policies.apply('even', POLICY);
  const pods = OWNERS.slice(0, 3).flatMap(
    ({ uid }) => [...w.cluster.pods.values()].find(({ owner }) => owner?.uid === uid) ?? [],
  );
  const policy = w.policies.stored.get('even')?.policy ?? aPolicy('even');
  w.plans.put(
    aPlan(
      policy,
      pods.map((pod, place) => aMove(pod, 'bcd'.charAt(place))),
    ),
  );
  return { w, pods };
}

/** Something happens right after the first eviction was sent. */
function afterFirst(w: World, happens: () => void): Tap {
  return (when, call, args) => {
    const isFirst = when === 'after' && call === 'evictor.evict' && !(args[1] as { dryRun: boolean }).dryRun;
    if (isFirst && w.cluster.accepted.length === 1) {
      happens();
    }
  };
}

function sent(w: World): readonly string[] {
  return evictions(w).filter((call) => call.startsWith('evict '));
}

function ends(w: World): readonly (string | undefined)[] {
  return plansOf(w)[0]?.status?.moves?.map(({ phase, outcome }) => `${phase}: ${outcome}`) ?? [];
}

describe('before each eviction of a batch', () => {
  it('sends all of them when nothing changes meanwhile', async () => {
    const { w } = batch();
    await play(w, 4);
    expect(sent(w)).toEqual(['evict api-1', 'evict db-1', 'evict mail-1']);
  });

  it.each([
    ['suspended', (w: World) => w.policies.apply('even', { ...POLICY, suspend: true }), 'policy even is suspended'],
    [
      'edited',
      (w: World) => w.policies.apply('even', { ...POLICY, interval: '20s' }),
      'policy even was edited after the plan was made',
    ],
    ['deleted', (w: World) => w.policies.remove('even'), 'policy even was deleted'],
  ])('sends no other once the policy is %s', async (_, change, why) => {
    const { w } = batch();
    w.tap = afterFirst(w, () => change(w));
    await play(w, 3);
    expect(sent(w)).toEqual(['evict api-1']);
    expect(ends(w).slice(1)).toEqual([`Aborted: ${why}`, `Aborted: ${why}`]);
  });

  it('leaves a pod that was protected meanwhile, and sends the others', async () => {
    const { w, pods } = batch();
    const [, second] = pods;
    w.tap = afterFirst(w, () => {
      const annotations = new Map([['evenkeel.dev/do-not-evict', 'true']]);
      w.cluster.putPod({ ...(second as PodInfo), annotations });
    });
    await play(w, 4);
    expect(sent(w)).toEqual(['evict api-1', 'evict mail-1']);
    expect(ends(w)[1]).toContain('Skipped: annotation evenkeel.dev/do-not-evict');
  });

  it('leaves pods whose namespace has left the scope', async () => {
    const { w } = batch();
    w.tap = afterFirst(w, () => w.cluster.namespaces.set('shop', { labels: new Map(), terminating: false }));
    await play(w, 4);
    expect(sent(w)).toEqual(['evict api-1']);
    const why = 'Skipped: scope.namespaceSelector does not select its namespace';
    expect(ends(w).slice(1)).toEqual([why, why]);
  });

  it('leaves pods of a namespace that is being deleted, where no replacement can be made', async () => {
    const { w } = batch();
    w.tap = afterFirst(w, () =>
      w.cluster.namespaces.set('shop', { labels: new Map([['even', 'yes']]), terminating: true }),
    );
    await play(w, 4);
    expect(sent(w)).toEqual(['evict api-1']);
    const why = 'Skipped: its namespace shop is being deleted';
    expect(ends(w).slice(1)).toEqual([why, why]);
  });

  it('leaves a pod whose target has no room any more', async () => {
    const { w } = batch();
    w.tap = afterFirst(w, () => w.cluster.putNode(aNode('c', { ...TEN_CORES, unschedulable: true })));
    await play(w, 4);
    expect(sent(w)).toEqual(['evict api-1', 'evict mail-1']);
    expect(ends(w)[1]).toMatch(/^Skipped: c /);
  });

  it('leaves a pod that the replacement of one sent before keeps away', async () => {
    const { w, pods } = batch();
    for (const [place, name] of [...'abcd'].entries()) {
      w.cluster.putNode(aNode(name, { ...TEN_CORES, labels: { zone: 'wxxz'.charAt(place) } }));
    }
    const [first, second, third] = pods as [PodInfo, PodInfo, PodInfo];
    const marked = { ...first, labels: new Map([...first.labels, ['role', 'front']]) };
    const apart = { ...second.constraints, podAntiAffinity: [anAffinityTerm({ role: 'front' })] };
    w.cluster.putPod(marked);
    w.cluster.putPod({ ...second, constraints: apart });
    const policy = w.policies.stored.get('even')?.policy ?? aPolicy('even');
    w.plans.put(aPlan(policy, [aMove(marked, 'b'), aMove(second, 'c'), aMove(third, 'd')]));
    await play(w, 4);
    expect(sent(w)).toEqual(['evict api-1', 'evict mail-1']);
    expect(ends(w)[1]).toMatch(/^Skipped: c /);
  });

  it('leaves a pod whose node is outside the scope by now', async () => {
    const { w } = batch();
    for (const name of 'bcd') {
      w.cluster.putNode(aNode(name, { ...TEN_CORES, labels: { pool: 'shared' } }));
    }
    const scope = { ...POLICY.scope, nodeSelector: { matchLabels: { pool: 'shared' } } };
    w.policies.apply('even', { ...POLICY, scope });
    w.plans.put(aPlan(w.policies.stored.get('even')?.policy ?? aPolicy('even'), plansOf(w)[0]?.spec.moves ?? []));
    await play(w, 4);
    expect(sent(w)).toEqual([]);
    expect(ends(w)[0]).toBe('Skipped: scope.nodeSelector does not select its node');
  });
});
