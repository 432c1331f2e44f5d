import { describe, expect, it } from 'vitest';
import type { PastMove } from '../../../../src/model/past-move.ts';
import { epochSeconds, seconds } from '../../../../src/model/units.ts';
import type { ActiveBudget } from '../../../../src/plan/budgets/in-force.ts';
import { maxOverhead } from '../../../../src/plan/budgets/max-overhead.ts';
import { lostService } from '../../../../src/plan/budgets/overhead.ts';
import { indexOwners } from '../../../../src/plan/owners.ts';
import { plan } from '../../../../src/plan/planner.ts';
import { sortIntoKinds } from '../../../../src/plan/pod-kinds.ts';
import { DEFAULT_STARTUP, NO_PODS, startupTimes } from '../../../../src/plan/startup.ts';
import { aBudget, refineLb, someOptions } from '../../../support/builders/options.ts';
import { aNode, anOwner, aPastMove, aPod, aSnapshot, NOW, type PodFields } from '../../../support/builders.ts';

const HOUR = seconds(3600);

function ago(span: number, fields: Partial<PastMove> = {}): PastMove {
  return aPastMove('old', { startedAt: epochSeconds(NOW - span), ...fields });
}

function startupOf(pastMoves: readonly PastMove[], pods: readonly PodFields[] = []): number {
  const running = pods.map((fields, index) => aPod(`web-${index}`, fields));
  return startupTimes(pastMoves, { pods: running, owners: indexOwners(sortIntoKinds(running), new Map()) }).of(
    'uid-web',
  );
}

/** A pod that was Ready `span` seconds after its creation. */
function readyAfter(span: number): PodFields {
  return { createdAt: epochSeconds(NOW - 3600), readySince: epochSeconds(NOW - 3600 + span) };
}

describe('the start-up time of a controller', () => {
  it('is the median of its past moves', () => {
    const moves = [40, 7, 12].map((span) => ago(3000, { unavailable: seconds(span) }));
    expect(startupOf(moves, [readyAfter(3)])).toBe(12);
  });

  it('is that of its running pods where none was moved', () => {
    expect(startupOf([], [readyAfter(9), readyAfter(4), readyAfter(5)])).toBe(5);
    expect(startupOf([ago(3000, { phase: 'Failed', unavailable: seconds(600) })], [readyAfter(4)])).toBe(4);
  });

  it('takes the lower of two, since a pod that was not Ready for a while looks like a slow one', () => {
    expect(startupOf([], [readyAfter(500), readyAfter(4)])).toBe(4);
  });

  it('ignores what cannot be a start: longer than ten minutes, or before the creation', () => {
    expect(startupOf([], [readyAfter(601), readyAfter(-5), readyAfter(8)])).toBe(8);
  });

  it('ignores pods that are not Ready, and is 30 s where nothing was measured', () => {
    expect(startupOf([], [{ ...readyAfter(4), ready: false }, { readySince: undefined }])).toBe(DEFAULT_STARTUP);
    expect(DEFAULT_STARTUP).toBe(30);
  });
});

describe('lost service', () => {
  const lost = (moves: readonly PastMove[], window = HOUR): number =>
    lostService(moves, startupTimes([], NO_PODS), window, NOW);

  it.each([
    { what: 'what was measured', moves: [ago(100, { unavailable: seconds(12) })], is: 12 },
    { what: 'the sum of all', moves: [ago(100), ago(200)], is: 20 },
    { what: 'nothing of what is out of the window', moves: [ago(3700, { unavailable: seconds(100) })], is: 0 },
    { what: 'the part inside of what was begun before', moves: [ago(3700, { unavailable: seconds(150) })], is: 50 },
    {
      what: 'what was expected, while it is in flight',
      moves: [ago(5, { phase: 'InFlight', unavailable: undefined, endedAt: undefined, cost: seconds(20) })],
      is: 20,
    },
    {
      what: 'the time that it has taken, once that is more',
      moves: [ago(50, { phase: 'InFlight', unavailable: undefined, endedAt: undefined, cost: seconds(20) })],
      is: 50,
    },
    {
      what: 'the default where nobody knows',
      moves: [ago(300, { unavailable: undefined, cost: undefined })],
      is: DEFAULT_STARTUP,
    },
  ])('is $what', ({ moves, is }) => {
    expect(lost(moves)).toBe(is);
  });

  it('is also what was spent by moves that nobody remembers, while its five minutes reach into the window', () => {
    const forgotten = (...spans: readonly number[]) => {
      const spent = spans.map((span) => ({ from: epochSeconds(NOW - span), lost: seconds(7) }));
      return lostService([], startupTimes([], NO_PODS), HOUR, NOW, spent);
    };
    expect([forgotten(3600), forgotten(3899), forgotten(3900), forgotten(9000), forgotten(100, 9000, 200)]).toEqual([
      7, 7, 0, 0, 14,
    ]);
  });

  it('slides with the window', () => {
    const moves = [ago(100), ago(1000), ago(3000)];
    expect([50, 500, 2000, 3600].map((span) => lost(moves, seconds(span)))).toEqual([0, 10, 20, 30]);
  });
});

describe('maxOverhead', () => {
  const pods = Array.from({ length: 8 }, (_, index) => aPod(`web-${index}`, { nodeName: 'a', ...readyAfter(20) }));
  const uses = Object.fromEntries(pods.map(({ name }) => [name, 300]));
  const planWith = (limit: number, pastMoves: readonly PastMove[] = []) =>
    plan(
      aSnapshot({ nodes: ['a', 'b', 'c'].map((name) => aNode(name)), pods, uses, pastMoves }),
      someOptions({
        strategy: refineLb({ overload: 1 }),
        budgets: [aBudget({ place: 1, overhead: { limit: seconds(limit), window: HOUR } })],
      }),
    );
  /** Of a controller that is gone, so that it says nothing of start-up times or cooldown here. */
  const gone = ago(100, { owner: { kind: 'ReplicaSet', name: 'gone', uid: 'gone' }, unavailable: seconds(35) });

  it('lets as many pods be moved as their starts fit into it', () => {
    expect([19, 20, 59, 60].map((limit) => planWith(limit).moves.length)).toEqual([0, 1, 2, 3]);
    expect(planWith(60).moves.map(({ cost }) => cost)).toEqual([20, 20, 20]);
  });

  it('counts what earlier moves have cost', () => {
    expect(planWith(60, [gone]).moves).toHaveLength(1);
  });

  it('says no with its numbers', () => {
    const { outcome, rejections } = planWith(40, [gone]);
    expect(outcome.kind).toBe('BudgetExhausted');
    expect(rejections.reasons.find(({ code }) => code === 'MaxOverhead')).toMatchObject({
      message:
        'a start takes 20 s: with 35 s lost in the last 3600 s, 0 s by this plan, maxOverhead of budgets[1] allows 40 s',
      numbers: { cost: 20, lost: 35, planned: 0, limit: 40, window: 3600 },
    });
  });

  it('that is not a number allows nothing', () => {
    expect(planWith(Number.NaN).moves).toEqual([]);
  });
});

describe('the service that moves may cost', () => {
  const within = (fields: Parameters<typeof aBudget>[0]): ActiveBudget => ({ ...aBudget(fields), until: undefined });
  const owners = { list: [anOwner('web'), anOwner('api')], ofPod: Int32Array.of(0, 1, 0) };
  const overheadOf = (limit: number, window: number) => ({ limit: seconds(limit), window: seconds(window) });
  const history = {
    startup: { of: (owner: string) => seconds(owner === 'uid-web' ? 10 : 40) },
    lost: (window: number) => seconds(window / 100),
    underWay: [true, false].map((isSent) => ({
      ...{ purpose: 'one', from: 'a', namespace: 'shop', owner: 'uid-web' },
      ...{ isSent, cost: seconds(isSent ? 1000 : 5) },
    })),
  };

  it('is limited by what was lost, what is under way but not sent, what is planned and the start of the pod itself', () => {
    // 36 s were lost, and 5 s are under way.
    const budget = maxOverhead([within({ overhead: overheadOf(61, 3600) })], owners, history);
    expect([0, 1, 2].map((pod) => budget?.check(pod)?.code)).toEqual([undefined, 'MaxOverhead', undefined]);
    budget?.spend(0);
    expect(budget?.check(2)).toBeUndefined();
    budget?.spend(2);
    expect(budget?.check(0)).toEqual({
      code: 'MaxOverhead',
      message:
        'a start takes 10 s: with 36 s lost in the last 3600 s, 25 s by this plan, maxOverhead of budgets[0] allows 61 s',
      numbers: { cost: 10, lost: 36, planned: 25, limit: 61, window: 3600 },
    });
    budget?.refund(2);
    expect(budget?.check(0)).toBeUndefined();
  });

  it('is limited by each entry, over its own window', () => {
    const entries = [within({ overhead: overheadOf(100, 3600) }), within({ place: 1, overhead: overheadOf(20, 600) })];
    const budget = maxOverhead([within({}), ...entries], owners, history);
    expect(budget?.check(0)?.message).toContain(
      '6 s lost in the last 600 s, 5 s by this plan, maxOverhead of budgets[1]',
    );
    expect(maxOverhead([within({ maxMoves: 1 })], owners, history)).toBeUndefined();
    const broken = maxOverhead([within({ overhead: overheadOf(Number.NaN, 600) })], owners, history);
    expect(broken?.check(0)?.code).toBe('MaxOverhead');
  });
});
