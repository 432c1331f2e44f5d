import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LEDGER_MODES, type LedgerMode } from '../../src/model/service-level.ts';
import { epochSeconds } from '../../src/model/units.ts';
import { settle } from '../../src/qos/ledger.ts';
import type { KeptLedger } from '../../src/qos/ledger-state.ts';
import { aServiceClass } from '../support/builders/service-levels.ts';
import { createTestKeeper, storedAndRead, type TestKeeper } from '../support/ledger/keeper.ts';
import { createWorld, EPOCH, type World } from '../support/ledger/world.ts';

interface Step {
  /** Milliseconds since the step before. */
  readonly gap: number;
  readonly kind:
    | 'evict'
    | 'force'
    | 'scale'
    | 'restart'
    | 'isolate'
    | 'rollOut'
    | 'complete'
    | 'look'
    | 'crash'
    | 'lose';
  readonly place: number;
  readonly span: number;
}

const ALWAYS = ['evict', 'force', 'restart', 'isolate', 'complete', 'look'] as const;
/** A surge that becomes a wanted replica in the middle of a rollout did so when the workload was scaled, which is on no record. */
const ONE_OF = ['scale', 'rollOut'] as const;

/** Steps at whole multiples of `unit` milliseconds. */
function steps(kinds: readonly Step['kind'][], unit: number, longest: number): fc.Arbitrary<readonly Step[]> {
  return fc.constantFrom(...ONE_OF).chain((one) =>
    fc.array(
      fc.record({
        gap: fc.integer({ min: 0, max: longest / unit }).map((units) => units * unit),
        kind: fc.constantFrom(...ALWAYS, one, ...kinds),
        place: fc.nat(7),
        span: fc.integer({ min: 1, max: 20_000 / unit }).map((units) => units * unit),
      }),
      { minLength: 5, maxLength: 40 },
    ),
  );
}

function disturb(world: World, mode: LedgerMode, { kind, place, span }: Step): void {
  const isTask = mode === 'Task';
  if (kind === 'evict') {
    world.remove(place, 30_000);
  } else if (kind === 'force') {
    world.remove(place, 0);
  } else if (kind === 'scale' && !isTask) {
    world.scale(place);
  } else if (kind === 'restart') {
    world.restart(place, span);
  } else if (kind === 'isolate') {
    world.isolate(place, span);
  } else if (kind === 'rollOut' && !isTask) {
    world.rollOut();
  } else if (kind === 'complete' && isTask) {
    world.complete(place);
  }
}

interface History {
  readonly mode: LedgerMode;
  readonly replicas: number;
  readonly startups: readonly number[];
  readonly steps: readonly Step[];
  readonly skew: number;
  /** How long after each change it is looked at the latest, and how long the keeper is away after a crash; milliseconds. */
  readonly pace: number;
  readonly away: number;
}

interface Played {
  readonly world: World;
  readonly ledger: KeptLedger;
  /** Crashes, and spans in which nothing was heard. */
  readonly gaps: number;
}

/** Plays a history to its end and half a minute more; at each look, what was counted before stays counted. */
function play({ mode, replicas, startups, steps: script, skew, pace, away }: History): Played {
  let start = 0;
  const world = createWorld(mode, replicas, () => startups[start++ % startups.length] ?? 1000);
  const terms = aServiceClass({ name: 'gold', mode });
  const keeper = createTestKeeper(world, terms, skew);
  let gaps = 0;
  world.runUntil(0);
  look(keeper);
  let awayUntil = 0;
  let at = 0;
  for (const step of script) {
    at += step.gap;
    for (let next = world.now + pace; next < at; next += pace) {
      world.runUntil(next);
      if (next >= awayUntil) {
        look(keeper);
      }
    }
    world.runUntil(at);
    if (step.kind === 'crash') {
      gaps += 1;
      keeper.crash();
      keeper.isUp = false;
      awayUntil = at + away;
      world.at(awayUntil, () => {
        look(keeper);
      });
    } else if (step.kind === 'lose') {
      gaps += 1;
      keeper.isUp = false;
      world.at(at + away, () => look(keeper));
    } else if (step.kind === 'look' && at >= awayUntil) {
      look(keeper);
    } else {
      // A change of the workload is looked at, as are those of pods; how many replicas were wanted before is on no record.
      const isSeen = step.kind === 'scale' && at >= awayUntil;
      if (isSeen) {
        look(keeper);
      }
      disturb(world, mode, step);
      if (isSeen) {
        look(keeper);
      }
    }
  }
  world.runUntil(at + 60_000);
  look(keeper);
  if (keeper.ledger === undefined) {
    throw new Error('there is no ledger');
  }
  const bookTerms = { mode, window: terms.window, desired: world.desired, preempted: new Set<string>() };
  const end = epochSeconds(EPOCH + world.now / 1000);
  const ledger = settle(keeper.ledger, end, bookTerms);
  expect(storedAndRead(keeper.ledger, terms)).toEqual(keeper.ledger);
  return { world, ledger, gaps };
}

function look(keeper: TestKeeper): void {
  const before = keeper.ledger;
  keeper.isUp = true;
  keeper.look();
  const after = keeper.ledger;
  if (before !== undefined && after !== undefined) {
    expect(after.asOf).toBeGreaterThanOrEqual(before.asOf);
    expect(after.times.discarded).toBeGreaterThanOrEqual(before.times.discarded);
    expect(after.times.pending).toBeGreaterThanOrEqual(before.times.pending);
    expect(after.times.useful + after.times.discarded).toBeGreaterThanOrEqual(
      before.times.useful + before.times.discarded,
    );
    expect(after.checkpoints.length).toBeLessThanOrEqual(16);
  }
}

const modes = fc.constantFrom(...LEDGER_MODES);
const shape = { mode: modes, replicas: fc.integer({ min: 1, max: 5 }), skew: fc.constant(0) };

describe('a ledger of what was recorded to the second', () => {
  it('is exact when all was seen, whenever it was looked at', () => {
    fc.assert(
      fc.property(
        fc.record({
          ...shape,
          startups: fc.array(
            fc.integer({ min: 1, max: 6 }).map((s) => s * 1000),
            { minLength: 1, maxLength: 5 },
          ),
          steps: steps([], 1000, 12_000),
          pace: fc.constantFrom(1000, 7000, 45_000),
          away: fc.constant(0),
        }),
        (history) => {
          const { world, ledger } = play(history);
          expect({ ...ledger.times }).toEqual({
            useful: Math.round(world.truth.useful),
            discarded: Math.round(world.truth.discarded),
            pending: Math.round(world.truth.pending),
          });
        },
      ),
      { numRuns: 1500 },
    );
  });
});

describe('a ledger of what happened to the millisecond', () => {
  it('is off by a second and the error of the clock at most for each change, and a second for each crash and lost event', () => {
    fc.assert(
      fc.property(
        fc.record({
          ...shape,
          skew: fc.integer({ min: -2, max: 2 }),
          startups: fc.array(fc.integer({ min: 500, max: 6000 }), { minLength: 1, maxLength: 5 }),
          steps: steps(['crash', 'crash', 'lose'], 1, 12_000),
          pace: fc.constantFrom(500, 1000),
          away: fc.integer({ min: 0, max: 1000 }),
        }),
        (history) => {
          const { world, ledger, gaps } = play(history);
          const { useful, discarded, pending } = ledger.times;
          // In mode Concurrent each change is one of all replicas; a clock that is off says when pods were missed.
          const weight = history.mode === 'Concurrent' ? 7 : 1;
          const bound = weight * (world.changes * (1 + Math.abs(history.skew)) + gaps);
          const { truth } = world;
          expect(Math.abs(useful + discarded - truth.useful - truth.discarded)).toBeLessThanOrEqual(bound);
          expect(Math.abs(useful + discarded + pending - sumOf(truth))).toBeLessThanOrEqual(bound);
        },
      ),
      { numRuns: 1000 },
    );
  });
});

describe('a ledger whose keeper is away for long', () => {
  it('is exact all the same, as long as each pod that went was replaced by one that is still there', () => {
    fc.assert(
      fc.property(
        fc.record({
          ...shape,
          mode: fc.constantFrom('Aggregated', 'Independent', 'Concurrent', 'Task'),
          startups: fc.array(
            fc.integer({ min: 1, max: 6 }).map((s) => s * 1000),
            { minLength: 1, maxLength: 5 },
          ),
          kinds: fc.array(fc.tuple(fc.constantFrom('evict', 'force', 'restart'), fc.nat(7)), {
            minLength: 1,
            maxLength: 12,
          }),
          away: fc.integer({ min: 1, max: 30 }).map((s) => s * 1000),
        }),
        ({ kinds, ...rest }) => {
          const script = kinds.flatMap(([kind, place]): readonly Step[] => [
            { gap: 20_000, kind: 'crash', place: 0, span: 0 },
            { gap: 0, kind, place, span: 3000 },
            { gap: 40_000, kind: 'look', place: 0, span: 0 },
          ]);
          const { world, ledger } = play({ ...rest, steps: script, pace: 5000 });
          expect({ ...ledger.times }).toEqual({
            useful: Math.round(world.truth.useful),
            discarded: Math.round(world.truth.discarded),
            pending: Math.round(world.truth.pending),
          });
        },
      ),
      { numRuns: 1000 },
    );
  });
});

function sumOf({ useful, discarded, pending }: World['truth']): number {
  return useful + discarded + pending;
}
