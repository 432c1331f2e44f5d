import { expect, it } from 'vitest';
import { bytesWritten, largePlan, stage } from '../../support/large-plan.ts';

const MOVES = 200;
/** One of 1,000 moves may write 60 MB, 60 kB for each move, and a smaller one less for each: there is less in every write. */
const LIMIT = 40_000 * MOVES;

it.each(['AdmissionPolicy', 'None'] as const)('a plan of 200 moves under %s writes little', async (steering) => {
  const large = largePlan(MOVES);
  expect(large.plan.moves).toHaveLength(MOVES);
  const w = stage(large, steering);
  const { total } = await bytesWritten(w, 100);
  expect(w.cluster.accepted).toHaveLength(MOVES);
  expect(total).toBeLessThan(LIMIT);
});
