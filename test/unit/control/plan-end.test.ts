import { describe, expect, it } from 'vitest';
import { deletePlan, supersede } from '../../../src/control/plan-end.ts';
import { aMove } from '../../support/builders/plan.ts';
import { aWorld, forever, PLAN, put, WEB_1 } from '../../support/execution.ts';

describe('a plan', () => {
  it('that will not be carried out says why and when, and is logged', async () => {
    const w = aWorld();
    put(w, [aMove(WEB_1, 'b')], { phase: 'Proposed', steering: 'Gate' });
    const stored = await supersede(w.plans.of(PLAN), 'the policy was edited', w.ports, forever);
    const ended = { phase: 'Superseded', message: 'the policy was edited', finishedAt: '2026-01-01T12:00:00Z' };
    expect(stored.status).toEqual({ ...ended, steering: 'Gate' });
    expect(w.plans.of(PLAN).status).toMatchObject(ended);
    const fields = { policy: 'even', plan: PLAN, phase: 'Superseded', result: 'the policy was edited' };
    expect(w.lines).toEqual([{ line: 'plan finished', fields }]);
  });

  it('that is kept no longer is deleted, and logged', async () => {
    const w = aWorld();
    put(w, [aMove(WEB_1, 'b')]);
    await deletePlan(w.plans.of(PLAN), w.ports, forever);
    expect([...w.plans.stored.keys()]).toEqual([]);
    expect(w.lines).toEqual([{ line: 'plan deleted', fields: { policy: 'even', plan: PLAN } }]);
  });
});
