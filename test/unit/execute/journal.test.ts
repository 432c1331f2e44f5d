import { describe, expect, it } from 'vitest';
import type { MoveStatus, RebalancePlan } from '../../../src/api/v1alpha1/rebalance-plan.ts';
import {
  entries,
  inFlightElsewhere,
  openJournal,
  podsInFlight,
  summarize,
  withRuns,
} from '../../../src/execute/journal.ts';
import { aMove, aPlan } from '../../support/builders/plan.ts';
import { aPolicy } from '../../support/builders/policy.ts';
import { aPodOf, aWorkload } from '../../support/builders.ts';

const web = aWorkload('web', { replicas: 3 });
const pods = ['web-1', 'web-2', 'web-3'].map((name) => aPodOf(web, name, 'a'));
const plan = aPlan(
  aPolicy('even'),
  pods.map((pod) => aMove(pod, 'b')),
);

describe('the journal', () => {
  it('opens with every move Planned, in the order of the plan', () => {
    expect(openJournal(plan)).toEqual(pods.map(({ uid }) => ({ podUID: uid, phase: 'Planned', attempt: 0 })));
  });

  it('takes a move without an entry for Planned, and finds entries by pod, not by place', () => {
    const landed = { podUID: 'uid-web-3', phase: 'Landed', attempt: 0 } as const;
    const runs = entries({ ...plan, status: { moves: [landed] } }).map(({ index, run }) => [index, run]);
    expect(runs).toEqual([
      [0, { podUID: 'uid-web-1', phase: 'Planned', attempt: 0 }],
      [1, { podUID: 'uid-web-2', phase: 'Planned', attempt: 0 }],
      [2, landed],
    ]);
  });

  it('remembers the entries of an open plan, which are asked for again and again, and not of one that has ended', () => {
    const ended = { ...plan, status: { ...plan.status, finishedAt: '2026-01-01T12:10:00Z' } };
    expect(entries(plan)).toBe(entries(plan));
    expect(entries(ended)).not.toBe(entries(ended));
    expect(entries(ended)).toEqual(entries(plan));
  });

  it('replaces entries and counts anew, leaving the rest of the status', () => {
    const run = { podUID: 'uid-web-2', phase: 'Landed', attempt: 1 } as const;
    const status = withRuns(plan, new Map([[1, run]]));
    expect(status.moves?.map(({ phase }) => phase)).toEqual(['Planned', 'Landed', 'Planned']);
    expect(status.summary).toEqual({ total: 3, done: 1, landed: 1 });
    expect(status.phase).toBe('Executing');
  });

  it('counts every final phase as done', () => {
    const phases = ['Landed', 'Missed', 'Failed', 'Skipped', 'Aborted', 'Planned', 'Verifying'] as const;
    const moves = phases.map((phase) => ({ podUID: phase, phase, attempt: 0 }));
    expect(summarize(moves)).toEqual({ total: 7, done: 5, landed: 1 });
  });

  it('knows which pods may have an eviction outstanding, over all plans', () => {
    const phases = ['Intent', 'Verifying', 'Landed'] as const;
    const moves = pods.map(
      ({ uid }, index): MoveStatus => ({ podUID: uid, phase: phases[index] ?? 'Planned', attempt: 0 }),
    );
    expect([...podsInFlight([{ ...plan, status: { moves } }, plan])]).toEqual(['uid-web-1', 'uid-web-2']);
  });

  it('tells what other plans of the same policy have in flight from what those of others have', () => {
    const planOf = (policy: string, name: string, pod: string): RebalancePlan => {
      const made = aPlan(aPolicy(policy), [aMove(aPodOf(web, pod, 'a'), 'b')]);
      const moves = [{ podUID: `uid-${pod}`, phase: 'Evicting', attempt: 0 } as const];
      return { ...made, metadata: { name }, status: { ...made.status, moves } };
    };
    const own = planOf('even', 'even-1', 'web-1');
    const plans = [own, planOf('even', 'even-2', 'web-2'), planOf('tidy', 'tidy-1', 'web-3')];
    const { ofPolicy, ofOthers } = inFlightElsewhere(own, plans);
    expect(ofPolicy.map(({ run }) => run.podUID)).toEqual(['uid-web-2']);
    expect(ofOthers.map(({ run }) => run.podUID)).toEqual(['uid-web-3']);
  });
});
