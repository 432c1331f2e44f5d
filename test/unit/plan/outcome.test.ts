import { describe, expect, it } from 'vitest';
import { seconds } from '../../../src/model/units.ts';
import {
  balancedMessage,
  type DescribedMove,
  describeMoves,
  exhaustedMessage,
  imbalanceOf,
  unhelpedMessage,
} from '../../../src/plan/outcome.ts';
import type { Reason } from '../../../src/plan/plan.ts';
import type { Stays } from '../../../src/plan/rejections.ts';
import { someOptions } from '../../support/builders/options.ts';
import { aNode, aPod, aSnapshot } from '../../support/builders.ts';
import { clusterOf } from '../../support/state.ts';
import { loaded } from './strategies/loaded.ts';

const PERCENT = 1e7;
const startup = { of: () => seconds(7) };

/** A move of 10 % from node 0, at 50 %, to node 1, at 20 %. */
function aMoveOf(pod: number, fields: Partial<DescribedMove> = {}): DescribedMove {
  return {
    pod,
    from: 0,
    to: 1,
    load: 10 * PERCENT,
    gain: 8 * PERCENT,
    before: { from: 50 * PERCENT, to: 20 * PERCENT },
    after: { from: 40 * PERCENT, to: 30 * PERCENT },
    partner: undefined,
    needs: [],
    ...fields,
  };
}

const described = (moves: readonly DescribedMove[], fallbacks: readonly number[][] = []) =>
  describeMoves(clusterOf(loaded([10, 10, 10, 10, 10], [20], [30])), moves, fallbacks, startup);

const CHANGE = 'adds 10.00 % to its node: source 50.00 % -> 40.00 %, target 20.00 % -> 30.00 %';

describe('a move, for people', () => {
  it('has names, fractions, the start-up time of its controller and the other targets in order', () => {
    expect(described([aMoveOf(0)], [[2, 1]])).toEqual([
      {
        pod: { namespace: 'shop', name: 'p0-0', uid: 'uid-shop-p0-0' },
        owner: { kind: 'ReplicaSet', name: 'web', uid: 'uid-web' },
        from: 'n0',
        to: 'n1',
        load: 0.1,
        gain: 0.08,
        cost: 7,
        reason: `${CHANGE}, the higher one falls by 8.00 %`,
        repairs: [],
        after: [],
        partner: undefined,
        fallbacks: ['n2', 'n1'],
      },
    ]);
  });

  it('says what it is worth alone, and when that is nothing', () => {
    const worth = (gain: number) => described([aMoveOf(0, { gain })])[0]?.reason.replace(CHANGE, '');
    expect([worth(1 * PERCENT), worth(0), worth(-1)]).toEqual([
      ', the higher one falls by 1.00 %',
      ', worth it only with the rest of the plan',
      ', worth it only with the rest of the plan',
    ]);
  });

  it('says with which other it goes, where in the plan that is, and what they are worth together', () => {
    const [first, , second] = described([aMoveOf(0, { partner: 2 }), aMoveOf(1), aMoveOf(2, { partner: 0 })]);
    expect([first?.partner, second?.partner]).toEqual([2, 0]);
    expect(first?.reason).toBe(
      `${CHANGE}, worth it only with shop/p0-2: together the highest of their nodes falls by 16.00 %`,
    );
  });

  it('names up to three moves that it waits for', () => {
    const moves = [0, 1, 2, 3].map((pod) => aMoveOf(pod));
    const waitsFor = (...needs: number[]) => {
      const found = described([...moves, aMoveOf(4, { needs })])[4];
      return [found?.after, found?.reason.split('; ')[1]];
    };
    expect(waitsFor()).toEqual([[], undefined]);
    expect(waitsFor(2)).toEqual([[2], 'after shop/p0-2']);
    expect(waitsFor(0, 1, 2)).toEqual([[0, 1, 2], 'after shop/p0-0, shop/p0-1, shop/p0-2']);
    expect(waitsFor(0, 1, 2, 3)).toEqual([[0, 1, 2, 3], 'after shop/p0-0, shop/p0-1, shop/p0-2 and more']);
  });

  it('says what it ends instead of what it is worth, and for which pod and application it is', () => {
    const ended = { repairs: ['Taints' as const], clauses: ['one', 'two'], makesRoomFor: 'shop/other' };
    const [found, plain] = described([aMoveOf(0, { ended, application: 'app', needs: [] }), aMoveOf(1)]);
    expect(found).toMatchObject({
      repairs: ['Taints'],
      makesRoomFor: 'shop/other',
      application: 'app',
      reason: `one; two; ${CHANGE}`,
    });
    expect(Object.keys(plain ?? {})).not.toContain('makesRoomFor');
    expect(Object.keys(plain ?? {})).not.toContain('application');
  });

  it('is none of a pod without a controller: that is a bug of the caller', () => {
    const pods = [aPod('p', { nodeName: 'a', owner: undefined })];
    const cluster = clusterOf(aSnapshot({ nodes: [aNode('a'), aNode('b')], pods, uses: { p: 1 } }));
    expect(() => describeMoves(cluster, [aMoveOf(0)], [], startup)).toThrow(RangeError);
  });
});

describe('a plan without moves', () => {
  const maxMoves: Reason = { code: 'MaxMoves', message: 'the plan already has 1 move', numbers: {} };
  const perNode: Reason = { code: 'PerNode', message: 'no more from a', numbers: {} };
  const notHeavy: Reason = { code: 'NotHeavy', message: 'is not heavy', numbers: {} };
  const stays = (...reasons: readonly Reason[]): Stays => ({
    places: reasons.map((_, place) => place),
    pods: reasons.map((_, place) => aPod(`p${place}`)),
    reasons,
  });
  /** Protections hold the pods at these places. */
  const holding = (...held: readonly number[]) => {
    const of = (pod: number) =>
      held.includes(pod) ? { code: 'MinPodAge' as const, message: 'young', numbers: {} } : undefined;
    return { inScope: new Uint8Array(9).fill(1), of, all: () => [] };
  };

  it('names the budget that keeps most pods that may be moved, in its own words', () => {
    const said = (...reasons: readonly Reason[]) => exhaustedMessage(holding(), stays(...reasons));
    expect(said(perNode, notHeavy, perNode, maxMoves)).toBe('PerNode keeps 2 pods where they are: no more from a');
    expect(said(perNode)).toBe('PerNode keeps 1 pod where it is: no more from a');
    expect(said(perNode, maxMoves, maxMoves)).toBe('the plan already has 1 move');
    expect([said(notHeavy), said()]).toEqual([undefined, undefined]);
  });

  it('does not count pods that are held whatever the budgets', () => {
    expect(exhaustedMessage(holding(0, 1), stays(perNode, perNode, maxMoves))).toBe('the plan already has 1 move');
    expect(exhaustedMessage(holding(0), stays(perNode))).toBeUndefined();
  });

  const search = (discarded: string | undefined): Parameters<typeof unhelpedMessage>[0] =>
    ({ discarded }) as Parameters<typeof unhelpedMessage>[0];

  it('says why pods stay that may be moved, the most frequent reason first', () => {
    const cluster = clusterOf(loaded([10], [20]));
    const said = unhelpedMessage(search(undefined), cluster, holding(3), stays(perNode, notHeavy, notHeavy, perNode));
    expect(said).toBe('no move helps; 3 pods that may be moved stay: NotHeavy 2, PerNode 1');
    expect(unhelpedMessage(search('not worth it'), cluster, holding(), stays(perNode))).toBe('not worth it');
  });

  it('says what capacity is missing, too', () => {
    const cluster = clusterOf(loaded([80, 80], [60]));
    expect(unhelpedMessage(search('not worth it'), cluster, holding(), stays())).toBe(
      'not worth it; the nodes are under-provisioned by 2 cores',
    );
  });

  it('says how far the nodes are apart when they are balanced', () => {
    expect(balancedMessage(5 * PERCENT, 0.1)).toBe(
      'highest and lowest node are 5.00 % apart, thresholds.trigger is 10.00 %',
    );
  });
});

describe('how uneven nodes are', () => {
  it('is measured for a resource also when a node does not offer it, but not when none does', () => {
    const nodes = [aNode('a', { allocatable: { extended: { 'example.com/gpu': 4 } } }), aNode('b')];
    const resources = ['cpu', 'example.com/gpu', 'example.com/nic'].map((name) => ({ name, weight: 1 }));
    const { tables } = clusterOf(aSnapshot({ nodes, pods: [] }), someOptions({ load: { resources } }));
    expect(Object.keys(imbalanceOf(tables, Int32Array.of()))).toEqual(['cpu', 'example.com/gpu']);
  });

  it('is measured over the nodes that offer the resource, with pods where they would be', () => {
    const nodes = [aNode('a'), aNode('b'), aNode('c', { allocatable: { cpu: 0 } })];
    const pods = ['p', 'q', 'r'].map((name) => aPod(name, { nodeName: 'a' }));
    const resources = [
      { name: 'cpu', weight: 1 },
      { name: 'example.com/gpu', weight: 1 },
    ];
    const snapshot = aSnapshot({ nodes, pods, uses: { p: 800, q: 400, r: 400 }, daemons: { b: 400 } });
    const { tables } = clusterOf(snapshot, someOptions({ load: { resources } }));
    const found = imbalanceOf(tables, Int32Array.of(0, 1, -1));
    expect(Object.keys(found)).toEqual(['cpu']);
    expect(found.cpu?.mean).toBeCloseTo(0.2, 12);
    expect(found.cpu).toMatchObject({ ema: 0, stddev: 0, range: 0, max: 0.2 });
    expect(imbalanceOf(tables, Int32Array.of(0, 0, -1)).cpu).toMatchObject({ mean: 0.2, max: 0.3 });
    expect(imbalanceOf(tables, Int32Array.of(0, 0, -1)).cpu?.range).toBeCloseTo(0.2, 12);
    expect(imbalanceOf(tables, Int32Array.of(0, 0, -1)).cpu?.ema).toBeCloseTo(0.1, 12);
    expect(imbalanceOf(tables, Int32Array.of(0, 0, -1)).cpu?.stddev).toBeCloseTo(0.1, 12);
  });
});
