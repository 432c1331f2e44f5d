import { afterEach, describe, expect, it, vi } from 'vitest';
import type { MovePhase, RebalancePlan } from '../../../src/api/v1alpha1/rebalance-plan.ts';
import {
  createLimitWatch,
  type LimitReport,
  type OperatorLimits,
  overConcurrentByAudit,
} from '../../campaigns/limits.ts';
import type { AuditEvent } from '../../control-plane/audit.ts';

const LIMITS: OperatorLimits = {
  maxInFlight: 3,
  policies: new Map([
    ['free', { maxConcurrent: 3 }],
    ['other', { maxConcurrent: 2 }],
    ['thrifty', { maxConcurrent: 1, overhead: { limit: 30, window: 60 } }],
  ]),
};

/** A move that is in flight, in its first try or a later one, or has cost so many seconds. */
type MoveState = MovePhase | readonly [phase: MovePhase, attempt: number] | number;

let version = 0;

/** The next version of a plan of this policy. */
function plan(policy: string, moves: readonly MoveState[], name: string = policy): RebalancePlan {
  version += 1;
  const ref = (kind: string, place: number) => ({
    kind,
    namespace: 'shop',
    name: `${name}-${place}`,
    uid: `${name}-${place}`,
  });
  return {
    apiVersion: 'evenkeel.dev/v1alpha1',
    kind: 'RebalancePlan',
    metadata: { name, uid: name, resourceVersion: String(version) },
    spec: {
      policy: { name: policy, uid: policy, generation: 1 },
      moves: moves.map((_, place) => ({
        pod: ref('Pod', place),
        owner: ref('ReplicaSet', place),
        from: 'a',
        to: 'b',
        cost: '10',
      })),
    },
    status: {
      moves: moves.map((state, place) => ({ podUID: `${name}-${place}`, ...runOf(state) })),
    },
  } as unknown as RebalancePlan;
}

function runOf(state: MoveState) {
  const startedAt = `${new Date().toISOString().slice(0, 19)}Z`;
  if (typeof state === 'number') {
    return { phase: 'Landed', attempt: 0, startedAt, finishedAt: startedAt, unavailableSeconds: state };
  }
  const [phase, attempt] = typeof state === 'string' ? [state, 0] : state;
  return { phase, attempt, ...(phase === 'Planned' ? {} : { startedAt }) };
}

/** What plans come to that are stored in this order and seen in the other one. */
function judged(plans: readonly RebalancePlan[]) {
  return [plans, plans.toReversed()].map((order) => {
    const watch = createLimitWatch(LIMITS);
    for (const object of order) {
      watch.take({ kind: 'Plan', object });
    }
    return watch.report();
  });
}

/** Who had more moves in flight than they may have, and how many. */
function whoExceeded({ overConcurrent }: LimitReport): readonly string[] {
  return overConcurrent.map((text) => text.split(': ').slice(0, 2).join(': '));
}

afterEach(() => {
  vi.useRealTimers();
});

describe('limits by what was stored', () => {
  it('hold where one move ends before the next one begins, in whatever order that is seen', () => {
    const plans = [
      plan('free', ['Intent', 'Evicting', 'Verifying']),
      plan('free', [5, 'Evicting', 'Verifying']),
      plan('other', ['Intent']),
    ];
    for (const report of judged(plans)) {
      expect(report).toMatchObject({ overConcurrent: [], overOverhead: [], mostInFlight: 3, timesAtLimit: 2 });
    }
  });

  it('are exceeded by policies together, and by plans of one policy together', () => {
    const plans = [
      plan('free', ['Intent', 'Evicting']),
      plan('other', ['Intent'], 'other-old'),
      plan('other', ['Intent', 'Intent'], 'other-new'),
    ];
    for (const report of judged(plans)) {
      expect(whoExceeded(report).toSorted()).toEqual(['all: 5', 'other: 3']);
      expect(report.overConcurrent.find((text) => text.startsWith('other'))).toBe(
        'other: 3: other-old other-old-0 Intent try 0, other-new other-new-0 Intent try 0, other-new other-new-1 Intent try 0',
      );
    }
  });

  it('count moves in flight as the operator may have known them, whose end it stores a little later', () => {
    const begun = () => [plan('free', ['Evicting', 'Evicting', 'Evicting']), plan('other', ['Intent'])];
    const ends = (...moves: readonly MoveState[]) => judged([...begun(), plan('free', moves)]).map(whoExceeded);
    expect(ends('Evicting', 'Evicting', 'Verifying')).toEqual([['all: 4'], ['all: 4']]);
    expect(ends('Evicting', 'Evicting', 0)).toEqual([[], []]);
    expect(ends('Evicting', 'Evicting', ['Planned', 1])).toEqual([[], []]);
  });

  it.each([
    ['at once, since it was refused', 12, 0],
    ['later than that of one that was refused, since it may have been sent', 13, 1],
  ])('know that a move was taken back %s', (_, delay, exceeded) => {
    vi.useFakeTimers();
    const watch = createLimitWatch(LIMITS);
    const store = (object: RebalancePlan) => watch.take({ kind: 'Plan', object });
    store(plan('free', ['Intent', 'Intent', 'Intent']));
    store(plan('other', ['Intent']));
    vi.advanceTimersByTime(1000 * delay);
    store(plan('free', ['Intent', 'Intent', ['Planned', 1]]));
    expect(watch.report().overConcurrent.length).toBe(exceeded);
  });

  it('are not exceeded by an intent that was stored late and taken back, however late', () => {
    vi.useFakeTimers();
    const watch = createLimitWatch(LIMITS);
    const store = (object: RebalancePlan) => watch.take({ kind: 'Plan', object });
    store(plan('free', ['Intent', 'Intent', 'Intent']));
    store(plan('other', ['Intent']));
    const late = new Set([version]);
    store(plan('other', ['Evicting']));
    expect(whoExceeded(watch.report(late))).toEqual(['all: 4']);
    vi.advanceTimersByTime(30_000);
    store(plan('other', [['Planned', 1]]));
    expect(whoExceeded(watch.report())).toEqual(['all: 4']);
    expect(whoExceeded(watch.report(late))).toEqual([]);
  });

  it.each([
    ['hold while the next move fits', 20, []],
    [
      'are exceeded by service that another policy has cost',
      21,
      ['thrifty: 21 s were lost and what begins costs 10 s of 30 s; move 0 is Intent in the end'],
    ],
  ])('%s', (_, lost, overOverhead) => {
    const plans = [plan('free', [lost]), plan('thrifty', ['Planned']), plan('thrifty', ['Intent'])];
    for (const report of judged(plans)) {
      expect(report).toMatchObject({ overOverhead, intentsWithinOverhead: 1 });
    }
  });

  it('are not exceeded by an intent that was taken back, until it begins again', () => {
    const late = [
      plan('free', [21]),
      plan('thrifty', ['Planned']),
      plan('thrifty', ['Intent']),
      plan('thrifty', [['Planned', 1]]),
    ];
    expect(judged(late).map(({ overOverhead }) => overOverhead.length)).toEqual([0, 0]);
    const again = [...late, plan('thrifty', [['Intent', 1]])];
    expect(judged(again).map(({ overOverhead }) => overOverhead.length)).toEqual([1, 1]);
  });

  it('count a move as it ended, or not where it was taken back, since that is stored a little later', () => {
    const begun = () => [plan('free', ['Evicting', 'Evicting', 'Evicting']), plan('thrifty', ['Intent'])];
    const ends = (...moves: readonly MoveState[]) =>
      judged([...begun(), plan('free', moves)]).map(({ overOverhead }) => overOverhead.length);
    expect(ends(10, 10, 10)).toEqual([1, 1]);
    expect(ends(10, 10, 0)).toEqual([0, 0]);
    expect(ends('Evicting', 'Evicting', ['Intent', 1])).toEqual([0, 0]);
    expect(ends('Evicting', 'Evicting', 'Skipped')).toEqual([0, 0]);
  });

  it('are not exceeded by an intent that was taken back where that is stored with the next one only', () => {
    const late = [plan('free', [21]), plan('thrifty', ['Planned']), plan('thrifty', ['Intent'])];
    const again = (lost: number) => [...late, plan('free', [lost]), plan('thrifty', [['Intent', 1]])];
    expect(judged(again(20)).map(({ overOverhead }) => overOverhead)).toEqual([[], []]);
    expect(judged(again(21)).map(({ overOverhead }) => overOverhead.length)).toEqual([1, 1]);
  });

  it.each([
    [['Planned', 'Intent'], 0],
    [['Intent', 'Intent'], 1],
  ] as const)('are exceeded by moves that begin together as by one: %j', (moves, exceeded) => {
    const plans = [plan('free', [15]), plan('thrifty', ['Planned', 'Planned']), plan('thrifty', moves)];
    expect(judged(plans).map(({ overOverhead }) => (overOverhead.length > 0 ? 1 : 0))).toEqual([exceeded, exceeded]);
  });

  it.each(['Aborted', 'Skipped'] as const)('are not exceeded by an intent whose move is %s', (phase) => {
    const stopped = [
      plan('free', [21]),
      plan('thrifty', ['Planned']),
      plan('thrifty', ['Intent']),
      plan('thrifty', ['Evicting']),
    ];
    expect(judged(stopped).map(({ overOverhead }) => overOverhead.length)).toEqual([1, 1]);
    expect(judged([...stopped, plan('thrifty', [phase])]).map(({ overOverhead }) => overOverhead)).toEqual([[], []]);
  });

  it('count what moves in flight are expected to cost', () => {
    const plans = [
      plan('free', ['Intent', 'Evicting', 'Planned']),
      plan('thrifty', ['Planned']),
      plan('thrifty', ['Intent']),
    ];
    const more = [
      ...plans,
      plan('free', ['Intent', 'Evicting', 'Verifying']),
      plan('thrifty', ['Planned'], 'again'),
      plan('thrifty', ['Intent'], 'again'),
    ];
    expect(judged(plans).map(({ overOverhead }) => overOverhead.length)).toEqual([0, 0]);
    expect(judged(more).map(({ overOverhead }) => overOverhead.length)).toEqual([1, 1]);
  });
});

describe('limits by the audit log', () => {
  const second = (at: number): string => new Date(1000 * at).toISOString();
  const eviction = (uidPrecondition: string, at: number) =>
    ({
      resource: 'pods',
      subresource: 'eviction',
      code: 201,
      dryRun: false,
      answeredAt: second(at),
      uidPrecondition,
    }) as AuditEvent;
  const finished = (policy: string, ends: readonly number[]): RebalancePlan => {
    const made = plan(
      policy,
      ends.map(() => 1),
    );
    const moves = made.status?.moves?.map((move, place) => ({ ...move, finishedAt: second(ends[place] ?? 0) }));
    return { ...made, status: { ...made.status, moves } } as RebalancePlan;
  };

  it('hold where moves follow each other, and are exceeded where they overlap', () => {
    const events = [
      eviction('thrifty-0', 10),
      eviction('thrifty-1', 20),
      eviction('other-0', 15),
      eviction('other-1', 16),
    ];
    const of = (end: number): readonly string[] =>
      overConcurrentByAudit(events, [finished('thrifty', [end, 30]), finished('other', [30, 30])], LIMITS);
    expect(of(20)).toEqual([]);
    expect(of(21)).toEqual(['all: 4', 'thrifty: 2']);
  });
});
