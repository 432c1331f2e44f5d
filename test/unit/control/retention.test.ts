import { describe, expect, it } from 'vitest';
import type { MovePhase, PlanPhase, RebalancePlan } from '../../../src/api/v1alpha1/rebalance-plan.ts';
import { expiredPlans, hasEvicted, isOpen, MAX_REMEMBERED } from '../../../src/control/retention.ts';
import { formatInstant } from '../../../src/model/instant.ts';
import { epochSeconds } from '../../../src/model/units.ts';
import { aMove, aPlan, aPreemption, aRemoval } from '../../support/builders/plan.ts';
import { aPolicy } from '../../support/builders/policy.ts';
import { aPod } from '../../support/builders.ts';
import { NOON } from '../../support/test-clock.ts';

const even = aPolicy('even');
const DAY = 24 * 3600;

/** What a plan is like that was made `age` seconds before noon. */
interface Made {
  readonly phase?: PlanPhase;
  /** Of its moves. */
  readonly moves?: readonly MovePhase[];
  /** Seconds before noon at which it ended; undefined where it does not say. */
  readonly ended?: number;
}

function made(name: string, age: number, { phase = 'Completed', moves = [], ended }: Made = {}): RebalancePlan {
  const pods = moves.map((_, place) => aPod(`${name}-${place}`, { nodeName: 'a' }));
  const plan = aPlan(
    even,
    pods.map((pod) => aMove(pod, 'b')),
    {
      phase,
      moves: moves.map((each, place) => ({ podUID: pods[place]?.uid ?? '', phase: each, attempt: 1 })),
      ...(ended === undefined ? {} : { finishedAt: formatInstant(epochSeconds(NOON - ended)) }),
    },
  );
  const takenAt = formatInstant(epochSeconds(NOON - age));
  return { ...plan, metadata: { name }, spec: { ...plan.spec, takenAt } };
}

/** Names of those of the plans that are to be deleted at noon. */
function expired(plans: readonly RebalancePlan[], historyLimit: number): readonly string[] {
  return expiredPlans(plans, historyLimit, NOON).map(({ metadata }) => metadata.name);
}

describe('isOpen', () => {
  it.each<[PlanPhase, boolean]>([
    ['Proposed', true],
    ['AwaitingApproval', true],
    ['Executing', true],
    ['Completed', false],
    ['Aborted', false],
    ['Superseded', false],
  ])('says of a plan in phase %s: %s', (phase, open) => {
    expect(isOpen(made('plan', 60, { phase }))).toBe(open);
  });
});

describe('hasEvicted', () => {
  it.each<[readonly MovePhase[], boolean]>([
    [[], false],
    [['Planned'], false],
    [['Skipped', 'Aborted'], false],
    [['Landed'], true],
    [['Missed'], true],
    [['Failed'], true],
    [['Vacated'], true],
    [['Intent', 'Evicting', 'AwaitingReplacement', 'Verifying'], false],
    [['Skipped', 'Landed', 'Aborted'], true],
  ])('says of a plan whose moves are %j: %s', (moves, evicted) => {
    expect(hasEvicted(made('plan', 60, { moves }))).toBe(evicted);
  });

  it('says yes of a preemption, and no of the removal of a failed pod, which moves no load', () => {
    const pod = aPod('pod', { nodeName: 'a' });
    const done = { phase: 'Completed', moves: [{ podUID: pod.uid, phase: 'Vacated', attempt: 1 }] } as const;
    const evicted = (move: RebalancePlan['spec']['moves'][number]) =>
      hasEvicted(aPlan(even, [move], { ...done, moves: [...done.moves] }));
    expect([evicted(aPreemption(pod)), evicted(aRemoval(pod))]).toEqual([true, false]);
  });

  it('says no of a plan that has no status yet', () => {
    const { status: _, ...plan } = made('plan', 60);
    expect(hasEvicted(plan)).toBe(false);
  });
});

describe('expiredPlans', () => {
  it('keeps as many of the newest plans as the limit says, in whatever order they come', () => {
    const [second, third] = [made('second', 120, { phase: 'Aborted' }), made('third', 180, { phase: 'Superseded' })];
    const plans = [second, made('fourth', 240), made('first', 60), third];
    expect(expired(plans, 0)).toEqual(['first', 'second', 'third', 'fourth']);
    expect(expired(plans, 2)).toEqual(['third', 'fourth']);
    expect(expired(plans, 3)).toEqual(['fourth']);
    expect(expired(plans, 4)).toEqual([]);
    expect(expired(plans, 5)).toEqual([]);
  });

  it('neither deletes a plan that is of use, nor counts it', () => {
    const open = (['Proposed', 'AwaitingApproval', 'Executing'] as const).map((phase, place) =>
      made(phase, 10 + place, { phase }),
    );
    const old = made('executing-long', 9 * DAY, { phase: 'Executing' });
    expect(expired([...open, made('new', 60), old, made('old', 120)], 1)).toEqual(['old']);
  });

  it('keeps every plan of the last day that has evicted pods, whatever the limit', () => {
    const plans = [
      made('landed', 7200, { moves: ['Skipped', 'Landed'], ended: 3600 }),
      made('nothing-moved', 7000, { moves: ['Skipped'], ended: 3600 }),
      made('newest', 60),
    ];
    expect(expired(plans, 1)).toEqual(['nothing-moved']);
    expect(expired(plans, 0)).toEqual(['newest', 'nothing-moved']);
  });

  it.each([
    [DAY - 1, []],
    [DAY, ['landed']],
    [DAY + 1, ['landed']],
  ])('counts that day from when the plan ended, which was %d s ago', (ended, names) => {
    expect(expired([made('landed', 2 * DAY, { moves: ['Landed'], ended })], 0)).toEqual(names);
  });

  it.each([
    [DAY - 1, []],
    [DAY, ['landed']],
  ])('counts it from when the plan was made, %d s ago, where it does not say when it ended', (age, names) => {
    expect(expired([made('landed', age, { moves: ['Landed'] })], 0)).toEqual(names);
  });

  it('keeps no more of those than a hundred, the newest, beside what the limit keeps', () => {
    const plans = Array.from({ length: MAX_REMEMBERED + 3 }, (_, place) =>
      made(`plan-${place}`, 10 * (place + 1), { moves: ['Landed'], ended: 5 }),
    );
    expect(MAX_REMEMBERED).toBe(100);
    expect(expired(plans, 0)).toEqual(['plan-100', 'plan-101', 'plan-102']);
    expect(expired(plans, 102)).toEqual(['plan-102']);
    const withoutMoves = Array.from({ length: 5 }, (_, place) => made(`idle-${place}`, place + 1));
    expect(expired([...withoutMoves, ...plans.slice(0, 100)], 5)).toEqual([]);
  });
});
