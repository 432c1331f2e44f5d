import { describe, expect, it } from 'vitest';
import type { World } from '../../support/fake-world.ts';
import { AUTOMATIC, plansOf, play, tilted } from '../../support/played.ts';

const forever = new AbortController().signal;

/** What each line says in short: `run finished Moves`. */
function story(w: World): readonly string[] {
  return w.lines.map(({ line, fields }) => {
    const about = fields['outcome'] ?? fields['phase'] ?? fields['stopped'] ?? fields['pod'] ?? fields['problem'];
    return about === undefined ? line : `${line} ${String(about)}`;
  });
}

describe('the log of the operator', () => {
  it('tells of an automatic plan from the runs before it to its end, each thing once', async () => {
    const w = tilted();
    w.policies.apply('even', AUTOMATIC);
    await play(w, 60);
    const [plan] = plansOf(w);
    const moved = plan?.spec.moves.map(({ pod }) => `shop/${pod.name}`) ?? [];
    expect(moved).toHaveLength(2);
    expect(story(w).slice(0, 4)).toEqual([
      'run finished Moves',
      'run finished Moves',
      'plan computed Executing',
      'run finished Moves',
    ]);
    expect(story(w).slice(4, 9).toSorted()).toEqual(
      [...moved.flatMap((pod) => [`move landed ${pod}`, `pod evicted ${pod}`]), 'plan finished Completed'].toSorted(),
    );
    expect(w.lines[2]?.fields).toEqual({
      policy: 'even',
      plan: plan?.metadata.name,
      phase: 'Executing',
      moves: 2,
      steering: 'AdmissionPolicy',
      result: expect.stringMatching(/^2 moves narrow the spread from /),
    });
    expect(w.lines[3]?.fields).toMatchObject({
      policy: 'even',
      cause: 'Schedule',
      plan: plan?.metadata.name,
      moves: 2,
    });
  });

  it('tells of an approval', async () => {
    const w = tilted();
    w.policies.apply('even', { mode: 'Approve', interval: '10s', thresholds: { consecutive: 1 } });
    await play(w, 5);
    expect(story(w)).toEqual(['plan computed AwaitingApproval', 'run finished Moves']);
    const [plan] = plansOf(w);
    await w.plans.store.approve(plan?.metadata.name ?? '', forever);
    w.lines.splice(0);
    await play(w, 5);
    expect(w.lines[0]).toEqual({
      line: 'plan approved',
      fields: { policy: 'even', plan: plan?.metadata.name, moves: 2, steering: 'AdmissionPolicy' },
    });
  });

  it('tells that a plan gave way to an edit', async () => {
    const w = tilted();
    w.policies.apply('even', { interval: '10s' });
    await play(w, 5, { 3: () => w.policies.apply('even', { interval: '20s' }) });
    expect(w.lines.find(({ line }) => line === 'plan finished')?.fields).toMatchObject({
      phase: 'Superseded',
      result: 'the policy was edited',
    });
  });

  it('tells which policy failed, with the error', async () => {
    const w = tilted();
    w.policies.apply('even', {});
    w.tap = (when, call) => {
      if (when === 'before' && call === 'reader.snapshot') {
        throw new Error('no answer');
      }
    };
    await play(w, 1);
    expect(w.lines[0]).toEqual({ line: 'policy failed', fields: { policy: 'even', err: new Error('no answer') } });
  });
});
