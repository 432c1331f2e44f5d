import { describe, expect, it } from 'vitest';
import type { MovePhase, RebalancePlanStatus } from '../../../src/api/v1alpha1/rebalance-plan.ts';
import { createFailures } from '../../../src/execute/failures.ts';
import { finishIfDone } from '../../../src/execute/finish-plan.ts';
import type { PlannedMove } from '../../../src/execute/move.ts';
import type { Recorder } from '../../../src/execute/recorder.ts';
import { aMove, aPlan, aPreemption, aRemoval } from '../../support/builders/plan.ts';
import { aPodOf } from '../../support/builders.ts';
import { aWorld, forever, PLAN, policy, web } from '../../support/execution.ts';
import type { World } from '../../support/fake-world.ts';

type Build = (pod: ReturnType<typeof aPodOf>) => PlannedMove;
/** A move, how far it is, and what came of it. */
type Ended = readonly [build: Build, phase: MovePhase, outcome?: string];

const transfer: Build = (pod) => aMove(pod, 'b');
const ofShop: Build = (pod) => ({ ...aMove(pod, 'b'), application: 'shop/checkout' });

/** What becomes of a plan with these moves. */
async function finish(moves: readonly Ended[], status: RebalancePlanStatus = {}): Promise<World> {
  const w = aWorld([]);
  const pods = moves.map((_, place) => aPodOf(web, `pod-${place}`, 'a'));
  const runs = moves.map(([, phase, outcome], place) => ({
    podUID: pods[place]?.uid ?? '',
    phase,
    attempt: 0,
    ...(outcome === undefined ? {} : { outcome }),
  }));
  const planned = moves.map(([build], place) => build(pods[place] ?? expect.fail('no pod')));
  w.plans.put(aPlan(policy, planned, { ...status, moves: runs }));
  const recorder: Recorder = {
    plan: w.plans.of(PLAN),
    ports: w.ports,
    signal: forever,
    failures: createFailures(forever),
  };
  await finishIfDone(recorder);
  expect(recorder.plan.status?.phase).toBe(w.plans.of(PLAN).status?.phase);
  return w;
}

/** The phase and the message that it has then. */
async function end(moves: readonly Ended[], status: RebalancePlanStatus = {}) {
  const { phase, message } = (await finish(moves, status)).plans.of(PLAN).status ?? {};
  return [phase, message];
}

describe('a plan', () => {
  it.each<MovePhase>(['Planned', 'Intent', 'Evicting', 'AwaitingReplacement', 'Verifying'])(
    'goes on while one of its moves is %s, though others have ended',
    async (phase) => {
      const w = await finish([
        [transfer, 'Landed'],
        [transfer, phase],
        [transfer, 'Aborted'],
      ]);
      expect(w.plans.of(PLAN).status).toMatchObject({ phase: 'Executing' });
      expect(w.plans.of(PLAN).status).not.toHaveProperty('finishedAt');
      expect([w.events, w.lines]).toEqual([[], []]);
    },
  );

  it('is completed when all have ended, which is logged, and of which no event tells', async () => {
    const w = await finish([
      [transfer, 'Landed'],
      [transfer, 'Failed'],
      [transfer, 'Skipped'],
    ]);
    const message = '1 of 3 replacements landed as planned';
    expect(w.plans.of(PLAN).status).toMatchObject({ phase: 'Completed', message, finishedAt: '2026-01-01T12:00:00Z' });
    expect(w.plans.of(PLAN).status).not.toHaveProperty('applications');
    const fields = { policy: 'even', plan: PLAN, phase: 'Completed', result: message };
    expect(w.lines).toEqual([{ line: 'plan finished', fields }]);
    expect(w.events).toEqual([]);
  });

  it('is aborted where a rule has stopped it before all had begun, and says why, also by an event', async () => {
    const stopped = { stopped: 'Suspended', message: 'policy even is suspended' } as const;
    const moves: readonly Ended[] = [
      [transfer, 'Landed'],
      [transfer, 'Aborted', 'it was stopped before for another reason'],
    ];
    const w = await finish(moves, stopped);
    expect(w.plans.of(PLAN).status).toMatchObject({ phase: 'Aborted', ...stopped });
    expect(w.events).toEqual([
      {
        type: 'Warning',
        reason: 'PlanAborted',
        note: `plan ${PLAN} was stopped: policy even is suspended`,
        regarding: { kind: 'RebalancePolicy', name: 'even', uid: 'uid-even' },
      },
    ]);
  });

  it('is completed with its result where a rule stopped it once all had begun', async () => {
    const stopped = { stopped: 'Suspended', message: 'policy even is suspended' } as const;
    expect(await end([[transfer, 'Landed']], stopped)).toEqual(['Completed', '1 of 1 replacements landed as planned']);
  });

  it('has given way where moves did not begin and no rule has stopped it, and says what the first of them does', async () => {
    const moves: readonly Ended[] = [
      [transfer, 'Landed'],
      [transfer, 'Aborted', 'a later run made another plan'],
      [transfer, 'Aborted', 'something else'],
    ];
    const w = await finish(moves, { message: 'moves' });
    expect(w.plans.of(PLAN).status).toMatchObject({ phase: 'Superseded', message: 'a later run made another plan' });
    expect(w.events).toEqual([]);
  });

  it('says what became of applications, and which are moved in part', async () => {
    const w = await finish([
      [ofShop, 'Landed'],
      [ofShop, 'Failed'],
    ]);
    expect(w.plans.of(PLAN).status).toMatchObject({
      message: '1 of 2 replacements landed as planned; moved in part: shop/checkout (1 of 2 moves landed)',
      applications: [{ namespace: 'shop', name: 'checkout', phase: 'Partial', landed: 1, moves: 2 }],
    });
    expect(await end([[ofShop, 'Landed']])).toEqual(['Completed', '1 of 1 replacements landed as planned']);
  });
});

describe('the result of a plan', () => {
  it.each<[string, readonly Ended[]]>([
    ['0 of 0 replacements landed as planned', []],
    [
      '2 of 2 replacements landed as planned',
      [
        [transfer, 'Landed'],
        [transfer, 'Landed'],
      ],
    ],
    [
      '1 of 3 replacements landed as planned (missed: Unexplained 2)',
      [
        [transfer, 'Missed'],
        [transfer, 'Landed'],
        [transfer, 'Missed'],
      ],
    ],
    [
      '1 of 1 replacements landed as planned, 1 of 2 preempted pods left',
      [
        [aPreemption, 'Vacated'],
        [transfer, 'Landed'],
        [aPreemption, 'Skipped'],
      ],
    ],
    ['0 of 0 replacements landed as planned, 1 of 1 preempted pods left', [[aPreemption, 'Vacated']]],
    [
      '1 of 2 failed pods removed',
      [
        [aRemoval, 'Vacated'],
        [aRemoval, 'Failed'],
      ],
    ],
    [
      '1 of 2 replacements landed as planned, 1 of 1 failed pods removed',
      [
        [transfer, 'Landed'],
        [transfer, 'Failed'],
        [aRemoval, 'Vacated'],
      ],
    ],
    [
      '1 of 1 replacements landed as planned, 0 of 1 preempted pods left, 2 of 2 failed pods removed',
      [
        [aRemoval, 'Vacated'],
        [transfer, 'Landed'],
        [aPreemption, 'Skipped'],
        [aRemoval, 'Vacated'],
      ],
    ],
    [
      '1 of 1 preempted pods left, 0 of 1 failed pods removed',
      [
        [aPreemption, 'Vacated'],
        [aRemoval, 'Skipped'],
      ],
    ],
  ])('is: %s', async (message, moves) => {
    expect(await end(moves)).toEqual(['Completed', message]);
  });
});
