import { expect, it } from 'vitest';
import { seconds } from '../../../src/model/units.ts';
import { bytesWritten, largePlan, stage } from '../../support/large-plan.ts';

const MOVES = 100;
/** One of 1,000 moves may write 60 MB, 60 kB for each move, and a smaller one less for each: there is less in every write. */
const LIMIT = 30_000 * MOVES;
const large = largePlan(MOVES);

it.each([
  ['AdmissionPolicy', 100, 'alike'],
  ['None', 100, 'alike'],
  ['AdmissionPolicy', 20, 'one by one'],
  ['None', 2, 'one by one'],
] as const)(
  'a plan of 100 moves under %s writes little, %i at a time, when pods start %s',
  async (steering, concurrent, starts) => {
    expect(large.plan.moves).toHaveLength(MOVES);
    const w = stage(large, steering);
    w.cluster.delays.startup =
      starts === 'alike' ? undefined : { kind: 'LogNormal', mean: seconds(20), p95: seconds(50) };
    const { plans, journals, total } = await bytesWritten(w, concurrent);
    expect(w.cluster.accepted).toHaveLength(MOVES);
    expect(total).toBeLessThan(LIMIT);
    // A batch of moves is one write, and the plan is written beside it now and then.
    expect(plans.length).toBeLessThan(journals.length / 4 + 4);
    expect(w.plans.journals.stored.size).toBe(0);
  },
);
