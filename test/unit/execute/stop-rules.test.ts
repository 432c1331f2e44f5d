import { describe, expect, it } from 'vitest';
import type { MovePhase, MoveStatus } from '../../../src/api/v1alpha1/rebalance-plan.ts';
import type { RebalancePolicy } from '../../../src/api/v1alpha1/rebalance-policy.ts';
import { entries } from '../../../src/execute/journal.ts';
import { type StoppedMoves, stoppedMoves, stopReason } from '../../../src/execute/stop-rules.ts';
import type { PodInfo } from '../../../src/model/pod.ts';
import { aFailover, aMove, anAdmission, aPlan, aPreemption } from '../../support/builders/plan.ts';
import { aPolicy } from '../../support/builders/policy.ts';
import { aNode, aPodOf, aWorkload, TEN_CORES } from '../../support/builders.ts';

const policy = aPolicy('even');
const healthy = [aNode('a', TEN_CORES), aNode('b', TEN_CORES)];

function planWith(...phases: readonly MovePhase[]) {
  const moves = phases.map((phase, index): MoveStatus => ({ podUID: String(index), phase, attempt: 0 }));
  return aPlan(policy, [], { moves });
}

function edited(changes: Partial<RebalancePolicy['metadata']>, spec: Partial<RebalancePolicy['spec']> = {}) {
  return {
    policy: { ...policy, metadata: { ...policy.metadata, ...changes }, spec: { ...policy.spec, ...spec } },
    invalid: [],
  };
}

const nodes = (total: number, notReady: number) =>
  Array.from({ length: total }, (_, index) => aNode(`n${index}`, { ...TEN_CORES, ready: index >= notReady }));

describe('stopReason', () => {
  it('lets a plan go on whose policy is as it was, on healthy nodes', () => {
    expect(stopReason(planWith('Planned'), edited({}), healthy)).toBeUndefined();
  });

  it.each([
    ['deleted', undefined, { reason: 'PolicyChanged', message: 'policy even was deleted', stops: 'All' }],
    [
      'deleted and made anew',
      edited({ uid: 'another' }),
      { reason: 'PolicyChanged', message: 'policy even was deleted', stops: 'All' },
    ],
    [
      'edited',
      edited({ generation: 2 }),
      { reason: 'PolicyChanged', message: 'policy even was edited after the plan was made', stops: 'All' },
    ],
    [
      'suspended',
      edited({ generation: 2 }, { suspend: true }),
      { reason: 'Suspended', message: 'policy even is suspended', stops: 'All' },
    ],
  ])('stops a plan whose policy was %s', (_, stored, reason) => {
    expect(stopReason(planWith('Planned'), stored, healthy)).toEqual(reason);
  });

  it('stops at 20 % of failed moves, and not before', () => {
    const four = planWith('Failed', 'Landed', 'Landed', 'Landed', 'Planned', 'Planned');
    expect(stopReason(four, edited({}), healthy)).toBeUndefined();
    const five = planWith('Failed', 'Landed', 'Missed', 'Skipped', 'Planned');
    expect(stopReason(five, edited({}), healthy)).toEqual({
      reason: 'TooManyFailures',
      message: '1 of 5 moves failed',
      stops: 'Evictions',
    });
  });

  it('does not take skipped and missed moves for failed ones', () => {
    expect(stopReason(planWith('Skipped', 'Missed', 'Aborted', 'Planned'), edited({}), healthy)).toBeUndefined();
  });

  it('stops above 10 % of nodes that are not Ready, and not at 10 %', () => {
    expect(stopReason(planWith('Planned'), edited({}), nodes(10, 1))).toBeUndefined();
    expect(stopReason(planWith('Planned'), edited({}), nodes(10, 2))).toEqual({
      reason: 'ClusterUnhealthy',
      message: '2 of 10 nodes are not Ready',
      stops: 'Disruptions',
    });
  });

  it('stops evictions, and who needs one that has not begun, but nobody else, unless people stop all', () => {
    const [victim, other, whose, free, needy] = ['v', 'w', 'x', 'y', 'z'].map((name) =>
      aPodOf(aWorkload(name, { replicas: 1 }), `${name}-1`, 'a'),
    ) as [PodInfo, PodInfo, PodInfo, PodInfo, PodInfo];
    const moves = [
      aPreemption(victim),
      aPreemption(other),
      anAdmission(whose, 'a', [0]),
      anAdmission(needy, 'b', [0, 1]),
      anAdmission(free, 'c'),
    ];
    const runs = (phase: MovePhase): readonly MoveStatus[] =>
      moves.map(({ pod }, index) => ({ podUID: pod.uid, phase: index === 0 ? phase : 'Planned', attempt: 0 }));
    const stopped = (phase: MovePhase, stops: 'All' | 'Evictions') =>
      stoppedMoves(entries(aPlan(policy, moves, { moves: [...runs(phase)] })), stops).map(({ index }) => index);
    expect(stopped('Planned', 'Evictions')).toEqual([0, 1, 2, 3]);
    expect(stopped('AwaitingReplacement', 'Evictions')).toEqual([1, 3]);
    expect(stopped('Vacated', 'Evictions')).toEqual([1, 3]);
    expect(stopped('Vacated', 'All')).toEqual([1, 2, 3, 4]);
  });

  it('stops moves of pods that run, and who needs one of them, but none from a node that has failed unless evictions stop', () => {
    const [victim, down, needy, runs] = ['v', 'w', 'x', 'y'].map((name) =>
      aPodOf(aWorkload(name, { replicas: 1 }), `${name}-1`, 'a'),
    ) as [PodInfo, PodInfo, PodInfo, PodInfo];
    const moves = [aPreemption(victim), aFailover(down, 'b'), aFailover(needy, 'a', [0]), aMove(runs, 'b')];
    const stopped = (stops: StoppedMoves) =>
      stoppedMoves(entries(aPlan(policy, moves)), stops).map(({ index }) => index);
    expect(stopped('Disruptions')).toEqual([0, 2, 3]);
    expect(stopped('Evictions')).toEqual([0, 1, 2, 3]);
    expect(stopped('All')).toEqual([0, 1, 2, 3]);
  });

  it('has no opinion of a cluster and a plan that are empty', () => {
    expect(stopReason(planWith(), edited({}), [])).toBeUndefined();
  });
});
