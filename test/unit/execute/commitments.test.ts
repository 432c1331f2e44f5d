import { describe, expect, it } from 'vitest';
import type { MovePhase } from '../../../src/api/v1alpha1/rebalance-plan.ts';
import { withCommitments, withoutRemoved, withPromises } from '../../../src/execute/commitments.ts';
import { openMoves } from '../../../src/execute/committed.ts';
import type { JournalEntry } from '../../../src/execute/move.ts';
import { formatInstant } from '../../../src/model/instant.ts';
import type { PodInfo } from '../../../src/model/pod.ts';
import { epochSeconds } from '../../../src/model/units.ts';
import { planningInputOf } from '../../../src/plan/planning-input.ts';
import { resolveOptions } from '../../../src/plan/resolve-options.ts';
import { aFailover, aMove, anAdmission, aPlan, aPreemption, aRemoval } from '../../support/builders/plan.ts';
import { aPolicy } from '../../support/builders/policy.ts';
import { aHostPort } from '../../support/builders/scheduling.ts';
import { aNode, aPod, aSnapshot, NOW, type Resources, resources } from '../../support/builders.ts';

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

  /** What is promised to `pod` on node a, for which the victims are on their way. */
  function promisedTo(pod: PodInfo, victims: readonly PodInfo[]): PodInfo | undefined {
    const admission = anAdmission(
      pod,
      'a',
      victims.map((_, index) => index),
    );
    const moves = [...victims.map(aPreemption), admission];
    const runs = moves.map((move, index) => ({
      podUID: move.pod.uid,
      phase: index < victims.length ? ('Evicting' as const) : ('Planned' as const),
      attempt: 0,
    }));
    const plan = aPlan(aPolicy('qos'), moves, { phase: 'Executing', moves: runs });
    return withPromises([...victims, pod], [plan], NOW).find(({ uid }) => uid === pod.uid);
  }

  it('counts each resource by itself, also those that only one of the pods takes', () => {
    const takes = (name: string, requests: Resources, port: number) =>
      aPod(name, {
        nodeName: 'a',
        constraints: { requests, hostPorts: [aHostPort(port)] },
      });
    const victims = [
      takes('first', { cpu: 300, memory: 700, ephemeralStorage: 10, extended: { gpu: 1, fpga: 2 } }, 81),
      takes('second', { cpu: 200, memory: 100, ephemeralStorage: 30, extended: { gpu: 2, nic: 1 } }, 82),
      takes('third', { cpu: 100, memory: 50, ephemeralStorage: 40, extended: {} }, 83),
    ];
    const pod: PodInfo = {
      ...takes('pod', { cpu: 1000, memory: 800, ephemeralStorage: 100, extended: { gpu: 4, tpu: 3 } }, 80),
      phase: 'Pending',
      nodeName: undefined,
      waiting: { gated: true, pinnedTo: undefined, unschedulable: false },
      nominatedNode: 'b',
    };
    const promised = promisedTo(pod, victims);
    expect(promised).toMatchObject({ nodeName: 'a', waiting: undefined, nominatedNode: undefined });
    expect(promised?.constraints.requests).toEqual(
      resources({ cpu: 700, memory: 700, ephemeralStorage: 30, extended: { gpu: 2, tpu: 3, fpga: 2 } }),
    );
    expect(promised?.constraints.hostPorts.map(({ port }) => port)).toEqual([80, 81]);
  });

  it('counts for a pod whose victims have left its node what it takes', () => {
    const away = { ...victim('away', 1800), nodeName: 'b' };
    expect(promisedTo(waits, [away])?.constraints.requests.cpu).toBe(2000);
    expect(promisedTo(waits, [away, victim('there', 300)])?.constraints.requests.cpu).toBe(2000);
  });

  it('has the first victim take no room of its own, and each as good as deleted, once one was evicted', () => {
    const victims = [victim('one', 300), victim('two', 500)];
    const moves = [...victims.map(aPreemption), anAdmission(waits, 'a', [0, 1])];
    const seen = (first: 'Evicting' | 'Planned') => {
      const runs = moves.map(({ pod }, index) => ({
        podUID: pod.uid,
        phase: index === 0 ? first : ('Planned' as const),
        attempt: 0,
      }));
      const plan = aPlan(aPolicy('qos'), moves, { phase: 'Executing', moves: runs });
      return withPromises([...victims, waits], [plan], NOW).map(({ name, nodeName, terminating }) => [
        name,
        nodeName,
        terminating,
      ]);
    };
    expect(seen('Evicting')).toEqual([
      ['one', undefined, true],
      ['two', 'a', true],
      ['waits', 'a', false],
    ]);
    expect(seen('Planned')).toEqual([
      ['one', 'a', false],
      ['two', 'a', false],
      ['waits', undefined, false],
    ]);
  });
});

describe('what journals know before caches do', () => {
  const ended = (age: number | undefined, phase: MovePhase, move = aMove(OLD, 'b'), node?: string) =>
    aPlan(aPolicy('even'), [move], {
      phase: 'Completed',
      ...(age === undefined ? {} : { finishedAt: formatInstant(epochSeconds(NOW - age)) }),
      moves: [
        {
          podUID: move.pod.uid,
          phase,
          attempt: 1,
          ...(node === undefined ? {} : { replacement: { name: move.pod.name, uid: move.pod.uid, node } }),
        },
      ],
    });

  it.each<[string, number | undefined, MovePhase, readonly string[]]>([
    ['landed a moment ago', 0, 'Landed', ['other']],
    ['landed less than a minute ago', 59, 'Landed', ['other']],
    ['landed a minute ago', 60, 'Landed', ['old', 'other']],
    ['landed in a plan that goes on', undefined, 'Landed', ['other']],
    ['missed its node', 0, 'Missed', ['other']],
    ['left its node', 0, 'Vacated', ['other']],
    ['failed', 0, 'Failed', ['other']],
    ['was skipped', 0, 'Skipped', ['old', 'other']],
    ['was aborted', 0, 'Aborted', ['old', 'other']],
  ])('a pod whose move %s', (_, age, phase, names) => {
    expect(withPromises([OLD, OTHER], [ended(age, phase)], NOW).map(({ name }) => name)).toEqual(names);
  });

  it('have an admitted pod on the node that it was bound to, unless it is known to be on one', () => {
    const pod = aPod('new', { phase: 'Pending', nominatedNode: 'd' });
    const plan = ended(0, 'Landed', anAdmission(pod, 'b'), 'b');
    expect(withPromises([pod, OTHER], [plan], NOW)).toEqual([
      { ...pod, nodeName: 'b', nominatedNode: undefined },
      OTHER,
    ]);
    expect(nodes(withPromises([{ ...pod, nodeName: 'c' }], [plan], NOW))).toEqual([['new', 'c']]);
    expect(withPromises([pod], [ended(0, 'Failed', anAdmission(pod, 'b'))], NOW)).toEqual([pod]);
  });

  const begun = (move: JournalEntry['move'], replacement?: PodInfo) =>
    aPlan(aPolicy('even'), [move], {
      moves: [
        {
          podUID: move.pod.uid,
          phase: 'Evicting',
          attempt: 0,
          ...(replacement === undefined ? {} : { replacement: { name: replacement.name, uid: replacement.uid } }),
        },
      ],
    });

  it.each([
    ['moved', aMove(OLD, 'b')],
    ['moved from a failed node', aFailover(OLD, 'b')],
  ])('leave no controller to pods that are on their way: %s', (_, move) => {
    expect(withPromises([OLD, OTHER], [begun(move)], NOW)).toEqual([
      { ...OLD, nodeName: 'b', owner: undefined },
      OTHER,
    ]);
    const replacement = aPod('new', { phase: 'Pending', nominatedNode: 'd' });
    expect(withPromises([replacement, OTHER], [begun(move, replacement)], NOW)).toEqual([
      { ...replacement, nodeName: 'b', nominatedNode: undefined, owner: undefined },
      OTHER,
    ]);
  });

  it('have a pod that is preempted as good as deleted, with its controller, and leave one alone that is removed', () => {
    expect(withPromises([OLD, OTHER], [begun(aPreemption(OLD))], NOW)).toEqual([{ ...OLD, terminating: true }, OTHER]);
    expect(withPromises([OLD, OTHER], [begun(aRemoval(OLD))], NOW)).toEqual([OLD, OTHER]);
  });

  it('leave failed pods out that a plan removes or has removed', () => {
    const failed = [OLD, OTHER];
    const names = (plan: ReturnType<typeof aPlan>) => withoutRemoved(failed, [plan], NOW).map(({ name }) => name);
    expect(withoutRemoved([], [begun(aRemoval(OLD))], NOW)).toEqual([]);
    expect(names(begun(aRemoval(OLD)))).toEqual(['other']);
    expect(withoutRemoved([OLD], [begun(aRemoval(OLD))], NOW)).toEqual([]);
    expect(names(ended(0, 'Vacated', aRemoval(OLD)))).toEqual(['other']);
    expect(names(ended(60, 'Vacated', aRemoval(OLD)))).toEqual(['old', 'other']);
    expect(names(ended(0, 'Skipped', aRemoval(OLD)))).toEqual(['old', 'other']);
  });

  it('have a pod that waits for its victims on its node, with its controller unless its node has failed', () => {
    const gone = aPod('gone', { nodeName: 'b' });
    const waits = (move: JournalEntry['move']) => {
      const moves = [aPreemption(gone), move];
      const runs = moves.map(({ pod }, index) => ({
        podUID: pod.uid,
        phase: index === 0 ? ('Vacated' as const) : ('Planned' as const),
        attempt: 0,
      }));
      return withPromises([OLD], [aPlan(aPolicy('qos'), moves, { moves: runs })], NOW);
    };
    expect(waits(anAdmission(OLD, 'b', [0]))).toEqual([{ ...OLD, nodeName: 'b' }]);
    expect(waits(aFailover(OLD, 'b', [0]))).toEqual([{ ...OLD, nodeName: 'b', owner: undefined }]);
  });
});
