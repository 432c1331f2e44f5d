import { describe, expect, it } from 'vitest';
import { withCommitments, withPromises } from '../../../src/execute/commitments.ts';
import { openMoves } from '../../../src/execute/committed.ts';
import type { JournalEntry } from '../../../src/execute/move.ts';
import type { PodInfo } from '../../../src/model/pod.ts';
import { resolveOptions } from '../../../src/plan/options.ts';
import { planningInputOf } from '../../../src/plan/planning-input.ts';
import { aMove, anAdmission, aPlan, aPreemption } from '../../support/builders/plan.ts';
import { aPolicy } from '../../support/builders/policy.ts';
import { aNode, aPod, aSnapshot, NOW } from '../../support/builders.ts';

const OLD = aPod('old', { nodeName: 'a' });
const OTHER = aPod('other', { nodeName: 'c', owner: 'api' });

function entry(run: Partial<JournalEntry['run']> = {}): JournalEntry {
  return { index: 0, move: aMove(OLD, 'b'), run: { podUID: OLD.uid, phase: 'Evicting', attempt: 0, ...run } };
}

const nodes = (pods: readonly PodInfo[]): readonly (readonly [string, string | undefined])[] =>
  pods.map(({ name, nodeName }) => [name, nodeName]);

describe('withCommitments', () => {
  it('has a pod that is about to go where it will be', () => {
    expect(nodes(withCommitments([OLD, OTHER], [entry()]))).toEqual([
      ['old', 'b'],
      ['other', 'c'],
    ]);
  });

  it('has one like it on the planned node while it is being deleted, and leaves it where it still takes room', () => {
    expect(nodes(withCommitments([{ ...OLD, terminating: true }, OTHER], [entry()]))).toEqual([
      ['old', 'a'],
      ['other', 'c'],
      ['old (replacement)', 'b'],
    ]);
  });

  it('has one like it that does not serve yet', () => {
    const serves = { ...OLD, terminating: true, ready: true, readySince: NOW };
    const [, standIn] = withCommitments([serves], [entry()]);
    expect(standIn).toMatchObject({
      phase: 'Pending',
      ready: false,
      readySince: undefined,
      terminating: false,
      owner: undefined,
    });
  });

  it('has a replacement that waits on the planned node, and one that is bound where it is', () => {
    const replacement = aPod('new', { phase: 'Pending' });
    const run = { phase: 'Verifying', replacement: { name: 'new', uid: replacement.uid } } as const;
    expect(nodes(withCommitments([replacement], [entry(run)]))).toEqual([['new', 'b']]);
    expect(nodes(withCommitments([{ ...replacement, nodeName: 'c' }], [entry(run)]))).toEqual([['new', 'c']]);
  });

  it('takes another pod of the controller for a pattern when the evicted one is gone', () => {
    expect(nodes(withCommitments([aPod('sibling', { nodeName: 'c' })], [entry()]))).toEqual([
      ['sibling', 'c'],
      ['old (replacement)', 'b'],
    ]);
    expect(nodes(withCommitments([OTHER], [entry()]))).toEqual([['other', 'c']]);
  });

  it('stands in by pods that no plan moves', () => {
    const pods = withCommitments([{ ...OLD, terminating: true }], [entry()]);
    const snapshot = aSnapshot({ nodes: ['a', 'b', 'c'].map((name) => aNode(name)), pods });
    const { holds, pods: sorted } = planningInputOf(snapshot, resolveOptions(aPolicy('p').spec));
    const place = sorted.findIndex(({ name }) => name === 'old (replacement)');
    expect(holds.of(place)?.code).toBe('NoController');
  });
});

describe('openMoves', () => {
  it.each([
    ['Executing', 1],
    ['AwaitingApproval', 0],
    ['Proposed', 0],
    ['Superseded', 0],
  ] as const)('of a plan in phase %s that has begun none of its moves: %i', (phase, pending) => {
    const moves = [{ podUID: OLD.uid, phase: 'Planned' as const, attempt: 1 }];
    const open = openMoves(aPlan(aPolicy('even'), [aMove(OLD, 'b')], { phase, moves }));
    expect([open.pending.length, open.committed]).toEqual([pending, []]);
  });
});

describe('withPromises', () => {
  const victim = (name: string, cpu: number) => aPod(name, { nodeName: 'a', constraints: { requests: { cpu } } });
  const waits = aPod('waits', {
    phase: 'Pending',
    waiting: { gated: true, pinnedTo: undefined, unschedulable: false },
    constraints: { requests: { cpu: 2000 } },
  });

  it.each([
    ['what it takes beyond the other victims', [300, 500], 1500],
    ['what its first victim still takes, if that is more', [1800, 500], 1800],
    ['all that it takes, where there is one victim', [300], 2000],
  ])('counts for a pod that waits for its victims %s', (_, cpus, counted) => {
    const victims = cpus.map((cpu, place) => victim(`victim-${place}`, cpu));
    const moves = [
      ...victims.map((pod) => aPreemption(pod)),
      anAdmission(
        waits,
        'a',
        victims.map((_pod, index) => index),
      ),
    ];
    const runs = moves.map(({ pod }, index) => ({
      podUID: pod.uid,
      phase: index < victims.length ? ('Evicting' as const) : ('Planned' as const),
      attempt: 0,
    }));
    const plan = aPlan(aPolicy('qos'), moves, { phase: 'Executing', moves: runs });
    const seen = withPromises([...victims, waits], [plan], NOW);
    const placed = seen.find(({ uid }) => uid === waits.uid);
    expect([placed?.nodeName, placed?.constraints.requests.cpu]).toEqual(['a', counted]);
    expect(seen.filter(({ terminating }) => terminating)).toHaveLength(victims.length);
  });
});
