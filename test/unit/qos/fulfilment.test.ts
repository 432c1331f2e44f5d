import { describe, expect, it } from 'vitest';
import { epochSeconds } from '../../../src/model/units.ts';
import { fulfilmentByClass, gini, isFulfilled, summarize } from '../../../src/qos/fulfilment.ts';
import { aLedger, anInstance, aServiceClass, times } from '../../support/builders/service-levels.ts';
import { NOW } from '../../support/builders.ts';

const batch = aServiceClass({ slo: 0.9 });

describe('how a class is served', () => {
  it('counts who falls short by more than a start explains, and names who lacks the most', () => {
    const ledgers = [
      { useful: 950, pending: 50 },
      { useful: 899, pending: 101 },
      { useful: 890, pending: 110 },
    ].map((got) => aLedger({ times: got }));
    const [found, ...others] = fulfilmentByClass(
      ledgers.map((ledger) => ({ serviceClass: batch, ledger })),
      NOW,
    );
    expect(others).toEqual([]);
    expect(found).toMatchObject({ requests: 3, missed: 1, worst: { ledger: ledgers[2] } });
    expect(found?.worst?.deficit).toBeCloseTo(0.01);
    expect(found?.availability).toBeCloseTo((0.95 + 0.899 + 0.89) / 3);
  });

  it('judges by the window of the class, not by what was before', () => {
    const ledger = aLedger({
      admittedAt: epochSeconds(NOW - 1000),
      times: { useful: 200, pending: 800 },
      checkpoints: [{ at: epochSeconds(NOW - 200), ...times({ pending: 800 }) }],
    });
    const [found] = fulfilmentByClass([{ serviceClass: aServiceClass({ slo: 0.9, window: 200 }), ledger }], NOW);
    expect(found).toMatchObject({ missed: 0, worst: undefined, availability: 0.2, availabilityOverWindow: 1 });
  });

  it('is as good as the worst replica in mode Independent', () => {
    const instances = [anInstance(times({ useful: 100 })), anInstance(times({ useful: 80, pending: 20 }))];
    const ledger = aLedger({ instances, running: 2, times: { useful: 180, pending: 20 } });
    const independent = aServiceClass({ slo: 0.9, mode: 'Independent' });
    expect(fulfilmentByClass([{ serviceClass: batch, ledger }], NOW)[0]?.missed).toBe(0);
    expect(fulfilmentByClass([{ serviceClass: independent, ledger }], NOW)[0]).toMatchObject({ missed: 1 });
  });

  it('lacks nothing where the worst request has just what it was promised', () => {
    const [found] = fulfilmentByClass(
      [{ serviceClass: batch, ledger: aLedger({ times: { useful: 900, pending: 100 } }) }],
      NOW,
    );
    expect(found).toMatchObject({ missed: 0, worst: undefined, least: 0.9 });
  });

  it('holds nothing against a request of which nothing was observed yet', () => {
    const [found] = fulfilmentByClass([{ serviceClass: batch, ledger: aLedger({ running: 0 }) }], NOW);
    expect(found).toMatchObject({ requests: 1, missed: 0, availability: undefined, worst: undefined });
  });

  it('sums up preemptions, and what share of all time they cost', () => {
    const ledgers = [
      aLedger({ times: { useful: 90 }, preemptions: 2, overhead: 10 }),
      aLedger({ times: { useful: 290 }, preemptions: 1, overhead: 10 }),
    ];
    const [found] = fulfilmentByClass(
      ledgers.map((ledger) => ({ serviceClass: batch, ledger })),
      NOW,
    );
    expect(found).toMatchObject({ preemptions: 3, preemptionOverhead: 20 / 400 });
  });

  it('lists the most important class first, then by name, and nothing without requests', () => {
    const classes = [
      aServiceClass({ name: 'free', importance: 3 }),
      aServiceClass({ name: 'b', importance: 1 }),
      aServiceClass({ name: 'a', importance: 1 }),
    ];
    const found = fulfilmentByClass(
      classes.map((serviceClass) => ({ serviceClass, ledger: aLedger() })),
      NOW,
    );
    expect(found.map(({ serviceClass }) => serviceClass.name)).toEqual(['a', 'b', 'free']);
    expect(fulfilmentByClass([], NOW)).toEqual([]);
  });
});

describe('a summary of availabilities', () => {
  it('has the least of however few there are', () => {
    expect(summarize([], 0.9).least).toBeUndefined();
    expect(summarize([0.95], 0.9)).toMatchObject({ mean: 0.95, least: 0.95, missed: 0, deficit: 0 });
    expect(summarize([0.95, 0.8], 0.9)).toMatchObject({ least: 0.8, missed: 1 });
  });

  it('has the mean of what those lack that fall short by more than the tolerance', () => {
    expect(summarize([0.95, 0.899, 0.8, 0.6], 0.9).deficit).toBeCloseTo((0.1 + 0.3) / 2, 12);
    expect([0.9 - 0.002, 0.8979].map((availability) => isFulfilled(availability, 0.9))).toEqual([true, false]);
  });
});

describe('the Gini coefficient', () => {
  it.each([
    [0, []],
    [0, [0, 0]],
    [0, [0.9, 0.9, 0.9]],
    [0.25, [3, 1]],
    [0.75, [0, 0, 0, 5]],
  ])('is %d for %j', (coefficient, values) => {
    expect(gini(values)).toBeCloseTo(coefficient, 12);
  });
});
