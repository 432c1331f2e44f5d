import { describe, expect, it } from 'vitest';
import type { MoveStatus } from '../../../src/api/v1alpha1/rebalance-plan.ts';
import { createFailures } from '../../../src/execute/failures.ts';
import type { MoveEvent } from '../../../src/execute/move.ts';
import { noteStop, type Recorder, record } from '../../../src/execute/recorder.ts';
import { seconds } from '../../../src/model/units.ts';
import { aMove } from '../../support/builders/plan.ts';
import { API_1, aWorld, DB_0, forever, LOGGED_MOVE, noted, put, WEB_1 } from '../../support/execution.ts';
import type { World } from '../../support/fake-world.ts';

const SENT = '2026-01-01T11:59:30Z';
const TOLD: MoveEvent = { kind: 'Hold', why: 'its budget is spent' };

/** A step of a plan whose moves of web-1, api-1 and db-0 stand like this; none of them where nothing is said. */
async function aStep(w: World, runs: readonly Omit<MoveStatus, 'podUID' | 'attempt'>[] = []): Promise<Recorder> {
  const pods = [WEB_1, API_1, DB_0];
  put(
    w,
    pods.map((pod) => aMove(pod, 'b')),
    { moves: runs.map((each, index) => ({ podUID: pods[index]?.uid ?? '', attempt: 0, ...each })) },
  );
  const plan = await noted(w);
  w.calls.length = 0;
  return { plan, ports: w.ports, signal: forever, failures: createFailures(forever) };
}

function phasesOf({ plan }: Recorder) {
  return plan.status?.moves?.map(({ phase }) => phase);
}

function begun(w: World): MoveEvent {
  return { kind: 'Begin', serverTime: w.clock.now(), leaderEpoch: undefined, siblings: undefined };
}

describe('what is recorded of moves', () => {
  it('is what they have become, and leaves those alone that nothing has happened to', async () => {
    const w = aWorld();
    const step = await aStep(w);
    const pending = await record(step, new Map([[1, { kind: 'Skip', why: 'b is gone' }]]));
    expect(phasesOf(step)).toEqual(['Planned', 'Skipped', 'Planned']);
    expect(pending.map(({ entry: { index, run }, before }) => [index, before.phase, run.phase])).toEqual([
      [1, 'Planned', 'Skipped'],
    ]);
    expect(step.plan.status?.summary).toEqual({ total: 3, done: 1, landed: 0 });
  });

  it.each<[string, MoveEvent | 'Begin', MoveStatus['phase'], 'stored at once' | 'noted']>([
    ['an intent', 'Begin', 'Planned', 'stored at once'],
    ['the end of a plan that was stopped', { kind: 'Abort', why: 'suspended' }, 'Planned', 'stored at once'],
    ['a refusal', TOLD, 'Planned', 'noted'],
    ['an intent that is given up', TOLD, 'Intent', 'noted'],
    ['a move that is skipped', { kind: 'Skip', why: 'b is gone' }, 'Intent', 'noted'],
  ])('when it is %s', async (_, event, phase, how) => {
    const w = aWorld();
    const step = await aStep(w, [{ phase }]);
    await record(step, new Map([[0, event === 'Begin' ? begun(w) : event]]));
    expect(w.calls).toEqual(how === 'noted' ? [] : ['plans.writeStatus']);
    expect((await noted(w)).status?.moves).toEqual(step.plan.status?.moves);
  });

  it('is stored at once when one of many has to be', async () => {
    const w = aWorld();
    const step = await aStep(w);
    await record(
      step,
      new Map([
        [0, TOLD],
        [2, begun(w)],
      ]),
    );
    expect(w.calls).toEqual(['plans.writeStatus']);
  });

  it('is nothing when it means nothing to the move', async () => {
    const w = aWorld();
    const step = await aStep(w, [{ phase: 'Landed' }]);
    const pending = await record(step, new Map([[0, TOLD]]));
    expect(w.calls).toEqual([]);
    expect(pending).toMatchObject([{ effects: [], before: { phase: 'Landed' } }]);
  });

  it('is logged once for each move that has moved on', async () => {
    const w = aWorld();
    const step = await aStep(w);
    await record(step, new Map([[0, { kind: 'Skip', why: 'b is gone' }]]));
    expect(w.lines).toMatchObject([{ fields: { ...LOGGED_MOVE, result: 'b is gone' } }]);
  });
});

describe('how long an eviction without effect has been looked at', () => {
  it.each<[string, 'Running' | 'Gone', number]>([
    ['goes on while the pod still runs', 'Running', 4],
    ['is forgotten once the eviction has had its effect', 'Gone', 0],
  ])('%s', async (_, pod, since) => {
    const w = aWorld();
    const step = await aStep(w, [{ phase: 'Evicting', startedAt: SENT, sentAt: SENT }]);
    w.ports.firstLooks.since(WEB_1.uid, SENT);
    await w.clock.advance(4);
    const looked: MoveEvent = {
      kind: 'Observed',
      pod,
      deletion: undefined,
      replacement: undefined,
      awaited: true,
      serverTime: w.clock.now(),
      withoutEffect: seconds(4),
    };
    await record(step, new Map([[0, looked]]));
    expect(w.ports.firstLooks.since(WEB_1.uid, SENT)).toBe(since);
  });
});

describe('why a plan was stopped', () => {
  it('is noted in the plan, and logged once', async () => {
    const w = aWorld();
    const step = await aStep(w);
    const stop = { reason: 'Suspended', message: 'policy even is suspended', stops: 'All' } as const;
    noteStop(step, stop);
    noteStop(step, { ...stop, message: 'still suspended' });
    expect(step.plan.status).toMatchObject({ phase: 'Executing', stopped: 'Suspended', message: 'still suspended' });
    expect(w.lines).toEqual([
      {
        line: 'plan stopped',
        fields: expect.objectContaining({ stopped: 'Suspended', result: 'policy even is suspended' }),
      },
    ]);
    expect(w.calls).toEqual([]);
  });
});
