import { describe, expect, it } from 'vitest';
import { epochSeconds } from '../../../src/model/units.ts';
import {
  accountAt,
  accountOver,
  accountSince,
  availabilityByMode,
  NO_SERVICE,
} from '../../../src/qos/service-account.ts';
import { aLedger, anInstance, aServiceClass, times } from '../../support/builders/service-levels.ts';
import { NOW } from '../../support/builders.ts';

describe('the account of a request', () => {
  const account = {
    times: times({ useful: 60, pending: 40 }),
    instances: [times({ useful: 9, pending: 1 }), times(), times({ useful: 3, discarded: 6, pending: 1 })],
  };

  it.each(['Aggregated', 'Concurrent', 'Task'] as const)('has the availability of all in mode %s', (mode) => {
    expect(availabilityByMode(account, mode)).toBe(0.6);
    expect(availabilityByMode(NO_SERVICE, mode)).toBeUndefined();
  });

  it('has that of the worst replica of which anything was observed in mode Independent', () => {
    expect(availabilityByMode(account, 'Independent')).toBe(0.3);
    expect(availabilityByMode({ ...account, instances: [times()] }, 'Independent')).toBeUndefined();
    expect(availabilityByMode(NO_SERVICE, 'Independent')).toBeUndefined();
  });

  const ledger = aLedger({
    admittedAt: epochSeconds(NOW - 1000),
    asOf: epochSeconds(NOW - 10),
    times: { useful: 500, discarded: 200, pending: 290 },
    running: 1,
    waiting: 0,
    instances: [
      anInstance({
        ...times({ useful: 500, discarded: 200, pending: 290 }),
        running: true,
        since: epochSeconds(NOW - 10),
      }),
    ],
  });

  it('goes on since the ledger was counted last', () => {
    const now = times({ useful: 510, discarded: 200, pending: 290 });
    expect(accountAt(ledger, 'Aggregated', NOW)).toEqual({ times: now, instances: [now] });
  });

  it('takes each replica to have got the same share of the window as of all its time', () => {
    const over = (window: number) => accountOver(ledger, aServiceClass({ window }), NOW).instances;
    expect(over(500)).toEqual([times({ useful: 255, discarded: 100, pending: 145 })]);
    expect(over(1000)).toEqual([times({ useful: 510, discarded: 200, pending: 290 })]);
    expect(over(4000)).toEqual([times({ useful: 510, discarded: 200, pending: 290 })]);
    const fresh = aLedger({ instances: [anInstance()] });
    expect(accountOver(fresh, aServiceClass({ window: 500 }), NOW).instances).toEqual([times()]);
  });

  it('has what was added since an earlier one, of each replica, and all of one that has come since', () => {
    const earlier = { times: times({ useful: 50, pending: 40 }), instances: [times({ useful: 4, pending: 1 })] };
    expect(accountSince(account, earlier)).toEqual({
      times: times({ useful: 10 }),
      instances: [times({ useful: 5 }), times(), times({ useful: 3, discarded: 6, pending: 1 })],
    });
  });
});
