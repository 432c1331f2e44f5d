import { describe, expect, it } from 'vitest';
import { plan } from '../../../../src/plan/planner.ts';
import { listRejections } from '../../../../src/plan/rejections.ts';
import { CLASS_LABEL } from '../../../../src/qos/class-of.ts';
import { someOptions } from '../../../support/builders/options.ts';
import { aLedger, aServiceClass, type LedgerFields, serviceLevels } from '../../../support/builders/service-levels.ts';
import { aNode, aPod, aSnapshot } from '../../../support/builders.ts';

/** Three pods of one workload of class `batch` on a node, and an empty node beside it. */
function lopsided(ledger: LedgerFields) {
  const labels = { [CLASS_LABEL]: 'batch' };
  return aSnapshot({
    nodes: [aNode('high'), aNode('low')],
    pods: ['a', 'b', 'c'].map((name) => aPod(name, { nodeName: 'high', labels })),
    uses: { a: 900, b: 900, c: 900 },
    serviceLevels: serviceLevels(
      [aServiceClass({ slo: 0.9, expectedStartup: 10 })],
      [aLedger({ running: 3, ...ledger })],
    ),
  });
}

describe('the budget of service levels', () => {
  it('lets a workload move that can spare a start', () => {
    expect(plan(lopsided({ times: { useful: 950, pending: 50 } }), someOptions()).moves).toHaveLength(1);
  });

  it('keeps a workload that a start would push below its SLO, with the numbers', () => {
    const { moves, rejections, outcome } = plan(lopsided({ times: { useful: 905, pending: 95 } }), someOptions());
    expect([moves, outcome.kind]).toEqual([[], 'BudgetExhausted']);
    expect(listRejections(rejections, 1)[0]).toMatchObject({
      code: 'ServiceLevel',
      numbers: { availability: 905 / 1010, slo: 0.9, alpha: 10, moved: 0 },
    });
  });

  it('makes a move cost what the ledger has measured', () => {
    const startup = { hot: 2, cold: 5 };
    const [move] = plan(lopsided({ times: { useful: 3000 }, startup }), someOptions()).moves;
    expect(move?.cost).toBe(5);
  });
});
