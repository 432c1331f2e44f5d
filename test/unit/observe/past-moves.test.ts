import { describe, expect, it } from 'vitest';
import { packPlan } from '../../../src/adapters/kubernetes/packed-plan.ts';
import { parseObjects } from '../../../src/adapters/snapshot-file/read-files.ts';
import { writeSnapshot } from '../../../src/adapters/snapshot-file/write-snapshot.ts';
import { MOVE_PHASES, type RebalancePlan } from '../../../src/api/v1alpha1/rebalance-plan.ts';
import { pastMovesOf as projectedMoves } from '../../../src/observe/project/past-moves.ts';
import { buildSnapshot } from '../../../src/observe/snapshot-builder.ts';
import { aMove, aPlan, aPreemption } from '../../support/builders/plan.ts';
import { aPolicy } from '../../support/builders/policy.ts';
import { aPodOf, aWorkload } from '../../support/builders.ts';
import { NOON } from '../../support/test-clock.ts';

type Run = NonNullable<NonNullable<RebalancePlan['status']>['moves']>[number];

const pod = aPodOf(aWorkload('web', { replicas: 3 }), 'web-1', 'a');
const RUN: Run = {
  podUID: pod.uid,
  phase: 'Landed',
  attempt: 0,
  startedAt: '2026-01-01T11:00:00Z',
  finishedAt: '2026-01-01T11:00:30Z',
  unavailableSeconds: 12,
  replacement: { name: 'web-9', uid: 'uid-web-9', node: 'b' },
};

function aStoredPlan(run: Partial<Run> = {}, name = 'even-1'): RebalancePlan {
  const plan = aPlan(aPolicy('even'), [{ ...aMove(pod, 'b'), cost: '2.5' }], { moves: [{ ...RUN, ...run }] });
  return { ...plan, metadata: { name } };
}

function pastMovesOf(...plans: readonly unknown[]) {
  return buildSnapshot(plans).pastMoves;
}

describe('past moves', () => {
  it('are what the journals say of pods that were evicted', () => {
    expect(pastMovesOf(aStoredPlan())).toEqual([
      {
        plan: 'even-1',
        pod: { namespace: 'shop', name: 'web-1', uid: 'uid-web-1' },
        owner: { kind: 'ReplicaSet', name: 'web', uid: 'uid-web' },
        from: 'a',
        to: 'b',
        replacement: { uid: 'uid-web-9', node: 'b' },
        phase: 'Landed',
        startedAt: NOON - 3600,
        endedAt: NOON - 3570,
        unavailable: 12,
        cost: 2.5,
      },
    ]);
  });

  it('count from the intent on, for the eviction may have been sent', () => {
    const known = MOVE_PHASES.filter((phase) => pastMovesOf(aStoredPlan({ phase })).length > 0);
    expect(known).toEqual([
      'Intent',
      'Evicting',
      'AwaitingReplacement',
      'Verifying',
      'Vacated',
      'Landed',
      'Missed',
      'Failed',
    ]);
  });

  it.each(['', '2,5', '-1', '1e3', '12345678901', '1.1234567'])('are not believed at a cost of %j', (cost) => {
    const { spec, ...plan } = aStoredPlan();
    const moves = spec.moves.map((move) => ({ ...move, cost }));
    const { pastMoves, problems } = buildSnapshot([{ ...plan, spec: { ...spec, moves } }]);
    expect(pastMoves).toEqual([]);
    expect(problems.join()).toContain('spec.moves[0].cost');
  });

  it.each(['0', '0.5', '123456789', '1.123456'])('have cost what their plan expected, %s', (cost) => {
    const { spec, ...plan } = aStoredPlan();
    const moves = spec.moves.map((move) => ({ ...move, cost }));
    expect(pastMovesOf({ ...plan, spec: { ...spec, moves } }).map((move) => move.cost)).toEqual([Number(cost)]);
  });

  it('say only what is known of them', () => {
    const { startedAt = '', podUID, phase, attempt } = RUN;
    const plan = aPlan(aPolicy('even'), [aMove(pod, 'b')], { moves: [{ startedAt, podUID, phase, attempt }] });
    expect(pastMovesOf(plan)).toMatchObject([
      { startedAt: NOON - 3600, endedAt: undefined, unavailable: undefined, replacement: undefined, cost: undefined },
    ]);
  });

  it('have a replacement without a node until it has one', () => {
    const nodeOf = (node: string | undefined) =>
      pastMovesOf(
        aStoredPlan({ replacement: { name: 'web-9', uid: 'uid-web-9', ...(node !== undefined && { node }) } }),
      );
    for (const moves of [nodeOf(undefined), nodeOf('')]) {
      expect(moves[0]?.replacement).toEqual({ uid: 'uid-web-9', node: undefined });
    }
  });

  it.each([
    [-5, 0],
    [0, 0],
    [1, 1],
  ])('cost no less than no time: %i counts as %i', (unavailableSeconds, unavailable) => {
    expect(pastMovesOf(aStoredPlan({ unavailableSeconds }))[0]?.unavailable).toBe(unavailable);
  });

  it('have no node that was planned where the pod made room for another', () => {
    const plan = aPlan(aPolicy('even'), [aPreemption(pod)], { moves: [{ ...RUN, phase: 'Vacated' }] });
    expect(pastMovesOf(plan)).toMatchObject([{ from: 'a', to: undefined, phase: 'Vacated' }]);
    const { pastMoves, problems } = buildSnapshot([aPlan(aPolicy('even'), [aMove(pod, '')], { moves: [RUN] })]);
    expect([pastMoves, problems]).toEqual([[], [expect.stringContaining('spec.moves[0].to: is missing')]]);
  });

  it('are none before it is written when they began', () => {
    const { startedAt: _, ...run } = RUN;
    expect(pastMovesOf(aPlan(aPolicy('even'), [aMove(pod, 'b')], { moves: [run] }))).toEqual([]);
  });

  it('belong to the pod that the journal names, whatever the order of the journal', () => {
    const other = aPodOf(aWorkload('db', { replicas: 3 }), 'db-1', 'a');
    const untouched = aPodOf(aWorkload('db', { replicas: 3 }), 'db-2', 'a');
    const plan = aPlan(aPolicy('even'), [aMove(pod, 'b'), aMove(other, 'c'), aMove(untouched, 'c')], {
      moves: [
        { ...RUN, podUID: other.uid, phase: 'Failed' },
        { ...RUN, podUID: 'of no move', phase: 'Missed' },
        { ...RUN, podUID: pod.uid },
      ],
    });
    expect(pastMovesOf(plan).map((move) => [move.pod.name, move.owner.name, move.to, move.phase])).toEqual([
      ['db-1', 'db', 'c', 'Failed'],
      ['web-1', 'web', 'b', 'Landed'],
    ]);
  });

  it('are in the order of their starts, then of their plans, then of their pods', () => {
    const [web, db] = [pod, aPodOf(aWorkload('db', { replicas: 3 }), 'db-1', 'a')];
    const early = '2026-01-01T10:00:00Z';
    const planOf = (name: string, webStart: string) => ({
      ...aPlan(aPolicy('even'), [aMove(web, 'b'), aMove(db, 'b')], {
        moves: [
          { ...RUN, podUID: web.uid, startedAt: webStart },
          { ...RUN, podUID: db.uid },
        ],
      }),
      metadata: { name },
    });
    const plans = [planOf('even-2', early), planOf('even-1', '2026-01-01T11:00:00Z')];
    const expected = [
      ['even-2', 'web-1'],
      ['even-1', 'db-1'],
      ['even-1', 'web-1'],
      ['even-2', 'db-1'],
    ];
    for (const each of [plans, plans.toReversed()]) {
      expect(projectedMoves(each).map((move) => [move.plan, move.pod.name])).toEqual(expected);
      expect(pastMovesOf(...each).map((move) => [move.plan, move.pod.name])).toEqual(expected);
    }
  });

  it('share the owner of the pods of one workload, and no other', () => {
    const web = aWorkload('web', { replicas: 3 });
    const pods = [
      aPodOf(web, 'web-1', 'a'),
      aPodOf(web, 'web-2', 'a'),
      aPodOf(aWorkload('db', { replicas: 3 }), 'db-1', 'a'),
    ];
    const plan = aPlan(
      aPolicy('even'),
      pods.map((each) => aMove(each, 'b')),
      { moves: pods.map(({ uid }) => ({ ...RUN, podUID: uid })) },
    );
    const owners = new Map(projectedMoves([plan]).map((move) => [move.pod.name, move.owner]));
    expect(owners.get('web-2')).toBe(owners.get('web-1'));
    expect(owners.get('db-1')?.name).toBe('db');
  });

  it('are none where nothing was begun', () => {
    expect(pastMovesOf(aPlan(aPolicy('even'), [aMove(pod, 'b')]))).toEqual([]);
    expect(pastMovesOf({ ...aStoredPlan(), status: undefined })).toEqual([]);
  });

  it('are in the same order whatever the order of the plans', () => {
    const plans = [
      aStoredPlan({ startedAt: '2026-01-01T11:30:00Z' }, 'even-3'),
      aStoredPlan({}, 'even-2'),
      aStoredPlan({}, 'even-1'),
    ];
    const names = (all: readonly unknown[]) => pastMovesOf(...all).map(({ plan }) => plan);
    expect(names(plans)).toEqual(['even-1', 'even-2', 'even-3']);
    expect(names(plans.toReversed())).toEqual(names(plans));
  });

  it('survive a snapshot file, and nothing else of a plan does', () => {
    const stored = aStoredPlan();
    const text = writeSnapshot([{ ...stored, spec: { ...stored.spec, message: 'SECRET' } }], NOON);
    expect(pastMovesOf(...parseObjects(text, 'file.yaml'))).toEqual(pastMovesOf(stored));
    expect(text).not.toContain('SECRET');
    expect(text).not.toContain('a test wants it so');
  });

  it.each(['failover', 'removal'])('are none where no pod was taken away that ran: a %s', (kind) => {
    const stored = aStoredPlan();
    const moves = stored.spec.moves.map(({ to, ...move }) =>
      kind === 'removal' ? { ...move, removal: true } : { ...move, ...(to && { to }), failover: true },
    );
    const plan = { ...stored, spec: { ...stored.spec, moves } };
    expect(pastMovesOf(plan)).toEqual([]);
    expect(pastMovesOf(...parseObjects(writeSnapshot([plan], NOON), 'file.yaml'))).toEqual([]);
    expect(
      projectedMoves([packPlan({ ...plan, status: { ...plan.status, finishedAt: '2026-01-01T12:00:00Z' } }, () => {})]),
    ).toEqual([]);
  });

  it.each<[string, unknown, string]>([
    ['a phase that does not exist', { phase: 'Gone' }, 'status.moves[0].phase: "Gone" is not a phase: write Planned'],
    ['a start that is no time', { startedAt: 'noon' }, 'status.moves[0].startedAt: "noon" is not a time'],
    ['no phase', { phase: undefined }, 'status.moves[0].phase: undefined is not a phase'],
    ['a replacement without a UID', { replacement: { name: 'web-9' } }, 'status.moves[0].replacement.uid: is missing'],
    ['an end that is no time', { finishedAt: 'noon' }, 'status.moves[0].finishedAt: "noon" is not a time'],
    ['seconds that are no number', { unavailableSeconds: 'x' }, 'status.moves[0].unavailableSeconds: "x" is not'],
  ])('of a plan with %s take no part, and the snapshot says so', (_, run, problem) => {
    const { pastMoves, problems } = buildSnapshot([aStoredPlan(run as Partial<Run>)]);
    expect(pastMoves).toEqual([]);
    expect(problems[0]).toContain(`RebalancePlan even-1: ${problem}`);
  });
});
