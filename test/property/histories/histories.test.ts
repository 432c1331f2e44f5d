import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { crashesOnly, type History, histories } from './history.ts';
import { type End, play } from './play.ts';

/** Nothing goes wrong. */
const SMOOTH: History = {
  maxConcurrent: 1,
  mode: 'Automatic',
  moves: [[6, 'b']],
  steering: 'AdmissionPolicy',
  planning: false,
  minReady: 0,
  noteWait: 0.01,
  journalled: true,
  delays: { grace: 1, recreate: 1, bind: 1, ready: 1 },
  landings: [],
  shared: false,
  rates: [1],
  reported: Number.POSITIVE_INFINITY,
  answers: [],
  mishaps: [],
  writeMishaps: [],
  happenings: [],
};

/** Histories that once broke an invariant. */
const COUNTEREXAMPLES: Readonly<Record<string, History>> = {
  'a policy is made anew while a move of its predecessor is in flight, and plans for the same owner': {
    ...SMOOTH,
    maxConcurrent: 2,
    moves: [
      [0, 'b'],
      [3, 'b'],
    ],
    delays: { grace: 0, recreate: 0, bind: 0, ready: Number.POSITIVE_INFINITY },
    answers: [{ kind: 'Refused', message: 'more than one PodDisruptionBudget' }],
    happenings: [[1, { kind: 'recreate' }]],
  },
};

async function tally(history: History, counts: Map<string, number>): Promise<End> {
  const end = await play(history);
  for (const [what, count] of end.counts) {
    counts.set(what, (counts.get(what) ?? 0) + count);
  }
  return end;
}

describe('replicas of the operator', () => {
  it('14 to 18: keep every promise to the cluster at every step of any history, and end what they began', async () => {
    const counts = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(histories, async (history) => void (await tally(history, counts))),
      { numRuns: 1000 },
    );
    // The histories are worth something only if much is done in them, and much goes wrong.
    for (const what of ['evictions accepted', 'mishap crash', 'end reported', 'move Landed', 'move Aborted']) {
      expect(counts.get(what), what).toBeGreaterThan(500);
    }
    for (const what of ['mishap stop', 'mishap pause', 'election Lost', 'move Failed', 'move Missed', 'move Skipped']) {
      expect(counts.get(what), what).toBeGreaterThan(100);
    }
  });

  it.each(Object.entries(COUNTEREXAMPLES))('14 to 18: %s', async (_, history) => {
    const { counts } = await play(history);
    expect(counts.get('evictions accepted')).toBeGreaterThan(0);
  });

  it('19: leave the same cluster after crashes as without, or make fewer moves', async () => {
    const counts = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(crashesOnly, async (history) => {
        const smooth = await play({ ...history, mishaps: [], writeMishaps: [] });
        const rough = await tally(history, counts);
        expect(smooth.accepted).toHaveLength(history.moves.length);
        expect(smooth.accepted).toEqual(expect.arrayContaining([...rough.accepted]));
        if (rough.accepted.length === smooth.accepted.length) {
          expect(rough.placements).toEqual(smooth.placements);
        }
      }),
      { numRuns: 100 },
    );
    expect(counts.get('mishap crash')).toBeGreaterThan(200);
  });
});
