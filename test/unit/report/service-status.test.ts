import { describe, expect, it } from 'vitest';
import {
  MAX_SERVICE_CLASSES,
  RebalancePolicyStatus,
  rebalancePolicyKind,
} from '../../../src/api/v1alpha1/rebalance-policy.ts';
import { validateResource } from '../../../src/api/validate.ts';
import type { ServiceReport } from '../../../src/plan/service-report.ts';
import type { PromisedRequest } from '../../../src/qos/fulfilment.ts';
import { ledgerVerdict, oversoldVerdict, serviceFields } from '../../../src/report/service-status.ts';
import {
  aLedger,
  aServiceClass,
  classReports,
  type LedgerFields,
  NO_SERVICES,
} from '../../support/builders/service-levels.ts';
import { NOW } from '../../support/builders.ts';

const batch = aServiceClass({ slo: 0.9 });

function aReport(requests: readonly PromisedRequest[], changes: Partial<ServiceReport> = {}): ServiceReport {
  return { ...NO_SERVICES, classes: classReports(requests, NOW), ...changes };
}

function served(...ledgers: readonly LedgerFields[]): readonly PromisedRequest[] {
  return ledgers.map((fields) => ({ serviceClass: batch, ledger: aLedger(fields) }));
}

describe('serviceFields', () => {
  it('says by class how many reach their SLO, and who lacks how much', () => {
    const requests = served(
      { times: { useful: 100 }, preemptions: 3 },
      { times: { useful: 70, pending: 30 }, owner: { kind: 'Deployment', name: 'api', uid: 'x' } },
    );
    expect(serviceFields(aReport(requests))).toEqual({
      serviceClasses: [
        {
          name: 'batch',
          slo: '0.9',
          workloads: 2,
          fulfilment: '0.5',
          availability: '0.85',
          availabilityOverWindow: '0.85',
          worstDeficit: '0.2',
          worstWorkload: 'Deployment shop/api',
          minAvailability: '0.7',
          gini: '0.088235',
          penalty: '0',
          waiting: 0,
          longestWaitSeconds: 0,
          preemptions: 3,
        },
      ],
      sloMissed: 1,
    });
  });

  it('says nothing where nobody was promised anything, and little where nothing was observed', () => {
    expect(serviceFields(aReport([]))).toEqual({});
    expect(serviceFields(aReport(served({ running: 0 })))).toEqual({
      serviceClasses: [
        {
          name: 'batch',
          slo: '0.9',
          workloads: 1,
          fulfilment: '1',
          worstDeficit: '0',
          gini: '0',
          penalty: '0',
          waiting: 0,
          longestWaitSeconds: 0,
          preemptions: 0,
        },
      ],
      sloMissed: 0,
    });
  });

  it('leaves out the least important classes when there are too many, and still counts who misses their SLO', () => {
    const requests = Array.from({ length: 40 }, (_, place) => ({
      serviceClass: aServiceClass({ name: `c${place}`, importance: 40 - place }),
      ledger: aLedger({ times: { pending: 10 } }),
    }));
    const { serviceClasses, sloMissed } = serviceFields(aReport(requests));
    expect([serviceClasses?.length, sloMissed]).toEqual([MAX_SERVICE_CLASSES, 40]);
    expect(serviceClasses?.[0]?.name).toBe('c39');
  });
});

describe('the condition Oversold', () => {
  it('says how much was promised beyond what there is, and who gives way', () => {
    const oversold = { resource: 'cpu' as const, promised: 12_000, capacity: 10_000, givingWay: ['free', 'batch'] };
    expect(oversoldVerdict({ oversold })).toEqual({
      status: 'True',
      reason: 'PromisesExceedCapacity',
      message:
        '12 cores were promised, the nodes have 10 cores (120.00 %); by importance free, batch give way: add nodes with 2 cores, or lower spec.slo or the replicas there',
    });
    expect(oversoldVerdict({ oversold: { ...oversold, capacity: -5, givingWay: ['free'] } }).message).toMatch(
      /^12 cores were promised, the nodes have 0 cores; by importance free gives way: /,
    );
    expect(oversoldVerdict({ oversold: undefined }).status).toBe('False');
  });
});

describe('what the CRD takes', () => {
  it('has room for the longest names of the most classes', () => {
    const owner = { kind: 'K'.repeat(63), name: 'n'.repeat(253), uid: 'x' };
    const requests = Array.from({ length: 40 }, (_, place) => ({
      serviceClass: aServiceClass({ name: `${place}`.padEnd(253, 'c'), slo: 0.999_999 }),
      ledger: aLedger({ owner, namespace: 's'.repeat(63), times: { useful: 1, pending: 2 }, preemptions: 2 ** 31 - 1 }),
    }));
    const kind = 'RebalancePolicyStatus';
    const definition = { ...rebalancePolicyKind, kind, spec: RebalancePolicyStatus };
    const head = { apiVersion: 'evenkeel.dev/v1alpha1', kind, metadata: { name: 'even' } };
    const spec = serviceFields(aReport(requests));
    expect(validateResource({ ...head, spec }, [definition]).problems).toEqual([]);
    expect(validateResource({ ...head, spec: { sloMissed: 'two' } }, [definition]).problems).not.toEqual([]);
  });
});

describe('condition LedgerFresh', () => {
  const one = served({ times: { useful: 1 } });

  it.each<[string, ServiceReport, string | undefined, string, string]>([
    ['no pod has a class', aReport([]), undefined, 'True NotNeeded', 'no pod in scope has a ServiceClass'],
    ['no pod has a class, and nobody keeps ledgers', aReport([]), 'no', 'True NotNeeded', ''],
    ['all have a ledger', aReport(one), undefined, 'True Fresh', '1 workload with a ledger'],
    [
      'some have none',
      aReport(one, { unkept: ['Deployment shop/a'] }),
      undefined,
      'False LedgersIncomplete',
      'no valid ledger for 1 of 2 workloads: Deployment shop/a',
    ],
    [
      'many have none',
      aReport([], { unkept: ['a', 'b', 'c', 'd', 'e', 'f', 'g'] }),
      undefined,
      'False LedgersIncomplete',
      'no valid ledger for 7 of 7 workloads: a, b, c, d, e and 2 more',
    ],
    [
      'a class does not exist',
      aReport(one, { unknownClasses: ['bacth'] }),
      undefined,
      'False UnknownServiceClass',
      'there is no ServiceClass bacth, which pods name',
    ],
    [
      'nobody keeps them',
      aReport(one, { unkept: ['a'], unknownClasses: ['bacth'] }),
      'forbidden',
      'False LedgersUnavailable',
      'ledgers are not kept: forbidden',
    ],
  ])('says when %s', (_, report, trouble, verdict, message) => {
    const found = ledgerVerdict(report, trouble);
    expect(`${found.status} ${found.reason}`).toBe(verdict);
    expect(found.message).toContain(message);
  });
});
