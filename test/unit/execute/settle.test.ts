import { describe, expect, it } from 'vitest';
import type { MoveStatus, RebalancePlanStatus } from '../../../src/api/v1alpha1/rebalance-plan.ts';
import { createFailures } from '../../../src/execute/failures.ts';
import type { Recorder } from '../../../src/execute/recorder.ts';
import { abortStopped } from '../../../src/execute/settle.ts';
import type { StopReason } from '../../../src/execute/stop-rules.ts';
import { aFailover, aMove } from '../../support/builders/plan.ts';
import { API_1, aWorld, forever, noted, put, WEB_1 } from '../../support/execution.ts';
import type { World } from '../../support/fake-world.ts';

const STOP: StopReason = { reason: 'ClusterUnhealthy', message: '2 of 4 nodes are not Ready', stops: 'Disruptions' };

/** A step of a plan that moves web-1, and replaces api-1, whose node has failed. */
async function aStep(w: World, phase: MoveStatus['phase'], status: RebalancePlanStatus = {}): Promise<Recorder> {
  const runs = [WEB_1, API_1].map(({ uid }) => ({ podUID: uid, phase, attempt: 0 }) as const);
  put(w, [aMove(WEB_1, 'b'), aFailover(API_1, 'c')], { ...status, moves: runs });
  return { plan: await noted(w), ports: w.ports, signal: forever, failures: createFailures(forever) };
}

describe('a plan that a rule stops', () => {
  it('ends the moves that the rule stops, each with the reason, and no other', async () => {
    const w = aWorld();
    const step = await aStep(w, 'Planned');
    await abortStopped(step, STOP);
    expect(step.plan.status).toMatchObject({
      stopped: 'ClusterUnhealthy',
      message: STOP.message,
      moves: [{ phase: 'Aborted', outcome: STOP.message }, { phase: 'Planned' }],
      summary: { total: 2, done: 1, landed: 0 },
    });
    expect(w.plans.of(step.plan.metadata.name).status).toMatchObject({ stopped: 'ClusterUnhealthy' });
    expect(w.ended).toEqual(['Aborted']);
  });

  it('is not stopped when everything has begun that the rule would stop', async () => {
    const w = aWorld();
    const step = await aStep(w, 'Verifying', { message: '2 moves' });
    const before = step.plan;
    w.calls.length = 0;
    await abortStopped(step, STOP);
    expect(step.plan).toBe(before);
    expect([w.calls, w.lines, w.ended]).toEqual([[], [], []]);
  });
});
