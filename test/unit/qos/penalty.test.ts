import { describe, expect, it } from 'vitest';
import type { PenaltyTier } from '../../../src/model/service-level.ts';
import { epochSeconds } from '../../../src/model/units.ts';
import { penaltyOf, penaltyOver, tierOf } from '../../../src/qos/fulfilment.ts';
import { aLedger, anInstance, aServiceClass, type ClassFields, times } from '../../support/builders/service-levels.ts';
import { NOW } from '../../support/builders.ts';

/** Penalties of the published evaluation (algorithms.md 8). */
function agreed(slo: number, below: readonly number[], fields: ClassFields = {}) {
  const surcharges = [0.1, 0.3, 1];
  const penalties = below.map((bound, place): PenaltyTier => ({ below: bound, surcharge: surcharges[place] ?? 1 }));
  return aServiceClass({ slo, penalties, ...fields });
}

const A = agreed(1, [0.9999, 0.99, 0.95]);
const B = agreed(0.9, [0.9, 0.8911, 0.8556]);
/** One tier for all that is below the SLO, without a surcharge. */
const PLAIN: ClassFields = { slo: 0.5, penalties: [{ below: 0.5, surcharge: 0 }] };

describe('the penalty', () => {
  it('is the deficit over time and cores with the surcharge of its tier (vector 10)', () => {
    const account = { times: times({ useful: 3546, pending: 54 }), instances: [] };
    expect(penaltyOf(A, account, 2)).toBeCloseTo(140.4, 9);
  });

  it('has tiers that end where the next one begins (vector 10)', () => {
    const surcharges = [0.9, 0.8911, 0.891, 0.8556, 0.8555].map((each) => tierOf(B.penalties, each)?.surcharge);
    expect(surcharges).toEqual([undefined, 0.1, 0.3, 0.3, 1]);
  });

  it('is nothing without a deficit, an agreement or anything observed', () => {
    const nearly = { times: times({ useful: 99995, pending: 5 }), instances: [] };
    expect(penaltyOf(A, nearly, 2)).toBe(0);
    expect(penaltyOf(aServiceClass({ penalties: [] }), { times: times({ pending: 100 }), instances: [] }, 2)).toBe(0);
    expect(penaltyOf(A, { times: times(), instances: [] }, 2)).toBe(0);
  });

  it('is for all time that was wanted, not for run time: less service never costs less', () => {
    const owed = [1800, 1200, 600, 0].map((useful) =>
      penaltyOf(aServiceClass(PLAIN), { times: times({ useful, pending: 3600 - useful }), instances: [] }, 2),
    );
    // What was promised and not given: (1800 - useful) s of two cores.
    expect(owed.map(Math.round)).toEqual([0, 1200, 2400, 3600]);
  });

  it('is for all replicas together, but in mode Independent for each with its own deficit', () => {
    const instances = [times({ useful: 1000 }), times({ useful: 300, pending: 700 })];
    const account = { times: times({ useful: 700, pending: 1300 }), instances };
    const owed = (['Aggregated', 'Concurrent', 'Task', 'Independent'] as const).map((mode) =>
      penaltyOf(aServiceClass({ ...PLAIN, mode }), account, 1),
    );
    expect(owed.map(Math.round)).toEqual([300, 300, 300, 200]);
  });
});

describe('the penalty of a ledger over the window of its class', () => {
  const admittedAt = epochSeconds(NOW - 2000);

  it('is that of the replicas that fall short, in mode Independent', () => {
    const ledger = aLedger({
      admittedAt,
      times: { useful: 2600, pending: 1400 },
      instances: [anInstance(times({ useful: 2000 })), anInstance(times({ useful: 600, pending: 1400 }))],
    });
    const serviceClass = aServiceClass({ ...PLAIN, mode: 'Independent', window: 1000 });
    // The second had 30 % of its time, over a window of 1000 s.
    expect(penaltyOver({ ledger, serviceClass }, 1, NOW)).toBeCloseTo(200, 9);
  });

  it('is for no longer than the window, in mode Task, too', () => {
    const ledger = aLedger({
      admittedAt,
      times: { useful: 200, discarded: 1700, pending: 100 },
      checkpoints: [{ at: epochSeconds(NOW - 600), ...times({ useful: 1400 }) }],
    });
    const serviceClass = aServiceClass({ ...PLAIN, mode: 'Task', window: 600 });
    expect(penaltyOver({ ledger, serviceClass }, 1, NOW)).toBeCloseTo(300, 9);
  });
});
