import { describe, expect, it } from 'vitest';
import type { ClusterReader } from '../../../src/ports.ts';
import { aMove } from '../../support/builders/plan.ts';
import { aNode, aRollout, TEN_CORES } from '../../support/builders.ts';
import { API_1, aWorld, outcomes, phases, put, run, stepOnce, WEB_1, WEB_2, web } from '../../support/execution.ts';

describe('a plan on a cluster that changes meanwhile', () => {
  it.each([
    [0, ['Vacated']],
    [1, ['Vacated', 'Landed']],
  ])(
    'ends a move whose controller is scaled down to %i: nothing too many is made in its place',
    async (count, ends) => {
      const w = aWorld();
      w.cluster.delays.recreate = 30;
      put(w, [aMove(WEB_1, 'b')], { steering: 'AdmissionPolicy' });
      await stepOnce(w);
      w.cluster.scale(web.uid, count);
      const plan = await run(w);
      expect(ends).toContain(phases(plan)[0]);
      expect(w.cluster.accepted).toEqual(['uid-web-1']);
      expect([...w.cluster.hints.keys()]).toEqual([]);
      expect([...w.cluster.pods.values()].filter(({ owner }) => owner?.uid === web.uid)).toHaveLength(count);
    },
  );

  it('finds a replacement while an autoscaler scales up', async () => {
    const w = aWorld();
    put(w, [aMove(WEB_1, 'b')], { steering: 'AdmissionPolicy' });
    await stepOnce(w);
    w.cluster.scale(web.uid, 4);
    const plan = await run(w);
    expect(['Landed', 'Missed']).toContain(phases(plan)[0]);
    expect([...w.cluster.pods.values()].filter(({ owner }) => owner?.uid === web.uid)).toHaveLength(4);
  });

  it('skips what a rollout has begun to replace, and follows what is in flight', async () => {
    const w = aWorld();
    put(w, [aMove(API_1, 'c'), aMove(WEB_1, 'b'), aMove(WEB_2, 'd')], { steering: 'AdmissionPolicy' });
    await stepOnce(w);
    const workload: ClusterReader['workload'] = async (...args) => {
      const found = await w.ports.reader.workload(...args);
      return found?.uid === web.uid ? { ...found, rollout: aRollout(2, { observed: false }) } : found;
    };
    const plan = await run({ ...w, ports: { ...w.ports, reader: { ...w.ports.reader, workload } } });
    expect(phases(plan).slice(0, 2)).toEqual(['Landed', 'Landed']);
    expect(phases(plan)[2]).toBe('Skipped');
    expect(outcomes(plan)[2]).toContain('the controller of ReplicaSet web has');
  });

  it('skips a move whose source is deleted, and one whose target is', async () => {
    const w = aWorld();
    put(w, [aMove(WEB_1, 'b'), aMove(API_1, 'c')]);
    w.cluster.vanish('node', 'c');
    expect(outcomes(await run(w))[1]).toBe('c is gone');
    const v = aWorld();
    put(v, [aMove(WEB_1, 'b')]);
    v.cluster.vanish('node', 'a');
    const plan = await run(v);
    expect(phases(plan)).toEqual(['Skipped']);
    expect(v.cluster.accepted).toEqual([]);
  });

  it('misses a target that is deleted in mid-move', async () => {
    const w = aWorld();
    w.cluster.delays.recreate = 5;
    w.cluster.bindTo = (_, hinted) => (hinted === 'b' ? 'd' : hinted);
    put(w, [aMove(WEB_1, 'b')], { steering: 'AdmissionPolicy' });
    await stepOnce(w);
    w.cluster.putNode(aNode('b', { ...TEN_CORES, ready: false }));
    w.cluster.vanish('node', 'b');
    const plan = await run(w);
    expect(phases(plan)).toEqual(['Missed']);
    expect([...w.cluster.hints.keys()]).toEqual([]);
  });
});
