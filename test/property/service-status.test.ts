import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { serviceStop } from '../../src/execute/service-stop.ts';
import { formatInstant } from '../../src/model/instant.ts';
import { LEDGER_MODES } from '../../src/model/service-level.ts';
import { epochSeconds } from '../../src/model/units.ts';
import { serviceFields } from '../../src/report/service-status.ts';
import { aMove, aPlan } from '../support/builders/plan.ts';
import { aPolicy } from '../support/builders/policy.ts';
import { aLedger, aServiceClass, classReports, serviceLevels, times } from '../support/builders/service-levels.ts';
import { aPodOf, aWorkload, NOW } from '../support/builders.ts';

const RUNS = { numRuns: 1000 };
const slos = fc.constantFrom(0, 0.5, 0.9, 0.99, 1);

const requests = fc.array(
  fc
    .record({
      rank: fc.integer({ min: 1, max: 3 }),
      useful: fc.nat({ max: 5000 }),
      pending: fc.nat({ max: 5000 }),
      discarded: fc.nat({ max: 500 }),
      running: fc.nat({ max: 3 }),
      waiting: fc.nat({ max: 3 }),
      age: fc.nat({ max: 500 }),
      preemptions: fc.nat({ max: 9 }),
    })
    .map(({ rank, useful, pending, discarded, age, ...rest }) => ({
      rank,
      ledger: aLedger({
        ...rest,
        times: { useful, pending, discarded },
        admittedAt: epochSeconds(NOW - age - 10_000),
        asOf: epochSeconds(NOW - age),
        overhead: 2 * rest.preemptions,
      }),
    })),
  { maxLength: 12 },
);

describe('what is told of classes', () => {
  it('counts every workload once, keeps shares within their bounds, and is the same in any order', () => {
    fc.assert(
      fc.property(requests, slos, fc.constantFrom(...LEDGER_MODES), (found, slo, mode) => {
        const classes = [1, 2, 3].map((importance) =>
          aServiceClass({ name: `class-${importance}`, importance, slo, mode }),
        );
        const promised = found.flatMap(({ rank, ledger }) => {
          const serviceClass = classes[rank - 1];
          return serviceClass === undefined ? [] : [{ serviceClass, ledger }];
        });
        const told = classReports(promised, NOW);
        expect(told.reduce((sum, each) => sum + each.requests, 0)).toBe(promised.length);
        for (const each of told) {
          expect(each.missed).toBeLessThanOrEqual(each.requests);
          expect(each.missed > 0 && each.worst === undefined).toBe(false);
          for (const share of [each.availability, each.availabilityOverWindow, each.preemptionOverhead]) {
            expect(share === undefined || (share >= 0 && share <= 1)).toBe(true);
          }
          expect(each.worst === undefined || (each.worst.deficit > 0 && each.worst.deficit <= slo)).toBe(true);
        }
        const reversed = classReports(promised.toReversed(), NOW);
        const figures = (all: typeof told) =>
          (serviceFields({ classes: all }).serviceClasses ?? []).map(({ worstWorkload: _, ...rest }) => rest);
        expect(figures(reversed)).toEqual(figures(told));
      }),
      RUNS,
    );
  });
});

/** One replica second by second, from its admission until now: whether it serves, or why it does not. */
type Second = 'Up' | 'Own' | 'Plan';

const histories = fc
  .record({ age: fc.integer({ min: 10, max: 400 }), window: fc.integer({ min: 60, max: 300 }), slo: slos })
  .chain(({ age, window, slo }) =>
    fc
      .array(
        fc.record({
          own: fc.nat({ max: age }),
          quiet: fc.nat({ max: age }),
          moved: fc.boolean(),
          span: fc.nat({ max: age }),
        }),
        { minLength: 1, maxLength: 4 },
      )
      .map((replicas) => ({ age, window, slo, replicas })),
  );

function secondsOf({ own, quiet, moved, span }: Replica, age: number): readonly Second[] {
  const start = own + quiet;
  return Array.from({ length: age }, (_, second) => {
    if (second < own) {
      return 'Own';
    }
    return moved && second >= start && second < start + span ? 'Plan' : 'Up';
  });
}

interface Replica {
  /** It does not serve at first, by itself. */
  readonly own: number;
  /** It serves for so long before it is moved. */
  readonly quiet: number;
  readonly moved: boolean;
  /** How long the move takes, as far as that is over. */
  readonly span: number;
}

describe('the rule that stops plans', () => {
  it('agrees with a count of every second of every replica, with the plan and without it', () => {
    let stops = 0;
    fc.assert(
      fc.property(histories, ({ age, window, slo, replicas }) => {
        const seconds = replicas.map((replica) => secondsOf(replica, age));
        const count = (what: Second, from: number) =>
          seconds.reduce((sum, each) => sum + each.slice(from).filter((second) => second === what).length, 0);
        const begin = Math.max(0, age - window);
        const [up, own, lost] = [count('Up', begin), count('Own', begin), count('Plan', begin)];
        const promised = slo * (up + own + lost);
        fc.pre(Math.abs(up - promised) > 1e-6 && Math.abs(up + lost - promised) > 1e-6);
        const isWanted = up < promised && up + lost > promised;
        stops += isWanted ? 1 : 0;

        const workload = aWorkload('web', { replicas: 3 });
        const started = replicas.flatMap((replica, place) => {
          const start = replica.own + replica.quiet;
          return replica.moved && start < age
            ? [{ ...replica, start, pod: aPodOf(workload, `web-${place}`, 'a') }]
            : [];
        });
        const plan = aPlan(
          aPolicy('even'),
          started.map(({ pod }) => aMove(pod, 'b')),
          {
            moves: started.map(({ pod, start, span }) => ({
              podUID: pod.uid,
              attempt: 0,
              startedAt: formatInstant(epochSeconds(NOW - age + start)),
              ...(start + span < age ? { phase: 'Landed', unavailableSeconds: span } : { phase: 'Verifying' }),
            })),
          },
        );
        const [useful, pending] = [count('Up', 0), count('Own', 0) + count('Plan', 0)];
        const ledger = aLedger({
          running: replicas.length,
          admittedAt: epochSeconds(NOW - age),
          times: { useful, pending },
          checkpoints: [
            { at: epochSeconds(NOW - age + begin), ...times({ useful: useful - up, pending: pending - own - lost }) },
          ],
        });
        const stop = serviceStop(plan, serviceLevels([aServiceClass({ slo, window })], [ledger]), NOW);
        expect(stop?.reason).toBe(isWanted ? 'ServiceLevelMissed' : undefined);
      }),
      RUNS,
    );
    expect(stops).toBeGreaterThan(RUNS.numRuns / 20);
  });
});
