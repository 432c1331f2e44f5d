import { describe, expect, it } from 'vitest';
import type { MoveStatus } from '../../../src/api/v1alpha1/rebalance-plan.ts';
import type { PodInfo } from '../../../src/model/pod.ts';
import { describeMisses, explainMiss } from '../../../src/steer/explain-miss.ts';
import { aNode, aPod, aSnapshot, selecting } from '../../support/builders.ts';

const NODES = ['a', 'b', 'c'].map((name) => aNode(name));
const placement = { target: 'b', fallbacks: [], alternatives: undefined };

/** Why a replacement that runs on `c` missed `b`. */
function why(pod: Partial<PodInfo> = {}, others: readonly PodInfo[] = [], nodes = NODES) {
  const replacement = { ...aPod('new', { nodeName: 'c', placement }), ...pod };
  return explainMiss(aSnapshot({ nodes, pods: [replacement, ...others] }), replacement.uid, 'b', true);
}

describe('explainMiss', () => {
  it('says which room was taken', () => {
    const big = aPod('big', { nodeName: 'b', owner: 'big', constraints: { requests: { cpu: 3950 } } });
    expect(why({}, [big])).toEqual({ reason: 'RoomTaken', message: expect.stringMatching(/^b .*cpu/) });
  });

  it('says which other filter refuses the target, or that it is gone', () => {
    const nodes = NODES.map((node) => (node.name === 'b' ? { ...node, unschedulable: true } : node));
    expect(why({}, [], nodes)).toMatchObject({ reason: 'TargetRefused', message: 'b is cordoned' });
    expect(why({}, [], [aNode('a'), aNode('c')])).toEqual({ reason: 'TargetRefused', message: 'b is gone' });
  });

  it('says what the scheduler preferred', () => {
    const likes = {
      weight: 100,
      term: { expressions: selecting({ 'kubernetes.io/hostname': 'c' }).requirements, fields: [] },
    };
    const constraints = { ...aPod('p').constraints, preferredNodeAffinity: [likes, likes] };
    expect(why({ constraints })).toEqual({
      reason: 'OutscoredBy',
      message: expect.stringMatching(/^c scores \d+, b \d+: NodeAffinity 200 against 100/),
    });
  });

  it('says that the scheduler did not look at the target, which it would have preferred', () => {
    expect(why()).toMatchObject({ reason: 'NotScored', message: expect.stringMatching(/^b would have scored \d+, c/) });
  });

  it('says that the pod was created without the preference', () => {
    expect(why({ placement: undefined })?.reason).toBe('NotSteered');
  });

  it('says nothing of a pod that is not there', () => {
    expect(explainMiss(aSnapshot({ nodes: NODES }), 'gone', 'b', true)).toBeUndefined();
  });
});

describe('describeMisses', () => {
  it('counts them by reason, the most frequent first', () => {
    const run = (phase: MoveStatus['phase'], miss?: MoveStatus['miss']): MoveStatus => ({
      podUID: 'p',
      phase,
      attempt: 0,
      ...(miss === undefined ? {} : { miss }),
    });
    const missed = (reason: NonNullable<MoveStatus['miss']>['reason']) => run('Missed', { reason, message: '' });
    const runs = [run('Landed'), missed('RoomTaken'), missed('NotScored'), missed('NotScored'), run('Missed')];
    expect(describeMisses(runs)).toBe('NotScored 2, RoomTaken 1, Unexplained 1');
    expect(describeMisses([run('Landed')])).toBe('');
  });
});
