import { describe, expect, it } from 'vitest';
import type { LedgerMode } from '../../../src/model/service-level.ts';
import { epochSeconds, type Seconds, seconds } from '../../../src/model/units.ts';
import {
  addsReplicasUp,
  instancesByPod,
  qosMetric,
  tellsReplicasApart,
  timeToViolate,
} from '../../../src/qos/time-to-violate.ts';
import { aLedger, anInstance, aServiceClass, type LedgerFields, times } from '../../support/builders/service-levels.ts';
import { NOW } from '../../support/builders.ts';

const NO_ALPHA = seconds(0);

/** Q of the pod `p` at NOW. */
function metric(
  slo: number,
  ledger: LedgerFields,
  running: boolean,
  alpha = 0,
  mode: LedgerMode = 'Aggregated',
): Seconds {
  const request = aLedger({ running: running ? 1 : 0, waiting: running ? 0 : 1, ...ledger });
  const instance = tellsReplicasApart(mode) ? instancesByPod(request, ['p']).get('p') : undefined;
  return qosMetric(request, { mode, slo }, { running, instance }, NOW, seconds(alpha));
}

describe('the time to violate', () => {
  it('is shorter for who ran less in sum although its availability is higher (vector 1)', () => {
    const long = metric(0.9, { times: { useful: 58 * 60, pending: 120 } }, true);
    const short = metric(0.9, { times: { useful: 600 } }, true);
    expect([long, short]).toEqual([expect.closeTo(266.67, 1), expect.closeTo(66.67, 1)]);
  });

  it('is negative below the SLO, by what must be made up for and the start (vector 2)', () => {
    expect(metric(0.5, { times: { useful: 300, pending: 400 } }, false, 3)).toBeCloseTo(-103, 9);
    expect(metric(1, { times: { useful: 600 } }, true, 3)).toBeCloseTo(-3, 9);
    expect(metric(1, { times: { useful: 600, pending: 5 } }, true, 3)).toBeCloseTo(-8, 9);
  });

  it('counts from the first second of a request', () => {
    expect(metric(0.5, { times: { pending: 1 } }, false, 3)).toBe(-4);
  });

  it('counts what the other replicas contribute, in mode Aggregated (vector 3)', () => {
    const ledger = (running: number): LedgerFields => ({ running, waiting: 0, times: { useful: 2000 } });
    expect(metric(0.9, ledger(2), true)).toBeCloseTo(250, 9);
    expect(metric(0.9, ledger(20), true)).toBe(Number.POSITIVE_INFINITY);
    expect(metric(0.9, ledger(2), true, 0, 'Concurrent')).toBeCloseTo(111.11, 1);
  });

  it('loses the run of the incarnation that stops, in mode Task (vector 4)', () => {
    const instances = [anInstance({ pod: 'p', running: true, since: epochSeconds(NOW - 400) }), anInstance()];
    const ledger: LedgerFields = { running: 1, waiting: 1, times: { useful: 1000 }, instances };
    expect(metric(0.5, ledger, true, 0, 'Task')).toBeCloseTo(100, 9);
  });

  it('looks at the replica alone in mode Independent', () => {
    const instances = [
      anInstance({ pod: 'p', running: true, ...times({ useful: 90 }) }),
      anInstance({ pod: 'q', ...times({ pending: 1000 }) }),
    ];
    const ledger: LedgerFields = { running: 1, waiting: 1, times: { useful: 90, pending: 1000 }, instances };
    expect(metric(0.9, ledger, true, 0, 'Independent')).toBeCloseTo(10, 9);
  });

  it('is infinite for best effort', () => {
    expect(metric(0, { times: { pending: 400 } }, false, 3)).toBe(Number.POSITIVE_INFINITY);
    expect(metric(0, {}, false, 3)).toBe(Number.POSITIVE_INFINITY);
  });

  it('is 0 for a request that was just admitted, and falls as it waits', () => {
    expect(metric(0.9, {}, false, 3)).toBe(0);
    expect(metric(0.9, { times: { pending: 7 } }, false, 3)).toBe(-10);
  });

  it.each([0, 1, 9, 10, 20])(
    'below the SLO is the recoverability e/O - (e + d + p), while %i of ten replicas contribute',
    (contributing) => {
      const prospect = { times: times({ useful: 0.89 * 990, pending: 0.11 * 990 }), wanted: 10, contributing };
      expect(timeToViolate(prospect, 0.91)).toBeCloseTo(-21.76, 2);
    },
  );

  it.each(['Aggregated', 'Concurrent', 'Independent', 'Task'] as const)(
    'below the SLO is the same whatever the number of replicas, in mode %s',
    (mode) => {
      const short = times({ useful: 0.89 * 990, pending: 0.11 * 990 });
      const instances = [anInstance({ pod: 'p', ...short })];
      const metrics = [0, 1, 9].map((running) =>
        metric(0.91, { running, waiting: 10 - running, times: short, instances }, false, 0, mode),
      );
      expect(metrics).toEqual([0, 1, 9].map(() => expect.closeTo(-21.76, 2)));
    },
  );

  it('at the SLO exactly is 0, and infinite where enough replicas contribute', () => {
    const at = times({ useful: 50, pending: 50 });
    expect(timeToViolate({ times: at, wanted: 2, contributing: 0 }, 0.5)).toBe(0);
    expect(timeToViolate({ times: at, wanted: 2, contributing: 1 }, 0.5)).toBe(Number.POSITIVE_INFINITY);
  });

  it('goes on from the instant up to which the ledger is counted', () => {
    const ledger = aLedger({ times: { useful: 80 }, asOf: epochSeconds(NOW - 10) });
    const replica = { running: true, instance: undefined };
    expect(qosMetric(ledger, aServiceClass({ slo: 0.5 }), replica, NOW, NO_ALPHA)).toBeCloseTo(90, 9);
  });
});

describe('the mode of a ledger', () => {
  it.each([
    ['Aggregated', true, false],
    ['Concurrent', false, false],
    ['Independent', false, true],
    ['Task', true, true],
  ] as const)('%s says whether replicas add up, %s, and may differ, %s', (mode, adds, differ) => {
    expect([addsReplicasUp(mode), tellsReplicasApart(mode)]).toEqual([adds, differ]);
  });
});

describe('the account of a replica', () => {
  const kept = anInstance({ pod: 'kept', running: true, ...times({ useful: 90 }) });
  const left = anInstance({ pod: 'left', running: true, ...times({ useful: 50 }) });
  const vacant = anInstance(times({ pending: 10 }));

  it('is that of the pod that it replaces, also before the ledger knows', () => {
    const found = instancesByPod(aLedger({ instances: [kept, left] }), ['kept', 'new']);
    expect(Object.fromEntries(found)).toEqual({ kept, new: left });
  });

  it('is one each, those without a pod first, and none for who is one too many', () => {
    const ledger = aLedger({ instances: [left, vacant] });
    expect(Object.fromEntries(instancesByPod(ledger, ['first', 'second', 'third']))).toEqual({
      first: vacant,
      second: left,
    });
  });
});
