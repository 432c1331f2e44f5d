import { describe, expect, it } from 'vitest';
import { plan } from '../../../../src/plan/planner.ts';
import { listRejections } from '../../../../src/plan/rejections.ts';
import { CLASS_LABEL } from '../../../../src/qos/class-of.ts';
import { someOptions } from '../../../support/builders/options.ts';
import { aLedger, aServiceClass, type LedgerFields, serviceLevels } from '../../../support/builders/service-levels.ts';
import { aNode, aPod, aSnapshot } from '../../../support/builders.ts';

/** Three pods of one workload of class `batch` on a node, and empty nodes beside it. */
function lopsided(ledger: LedgerFields, empty: readonly string[] = ['low']) {
  const labels = { [CLASS_LABEL]: 'batch' };
  return aSnapshot({
    nodes: ['high', ...empty].map((name) => aNode(name)),
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

  it('counts each move of a plan: a workload that can spare one start does not move twice', () => {
    const times = { useful: 912, pending: 88 };
    const { moves, rejections } = plan(lopsided({ times }, ['low', 'empty']), someOptions());
    expect(moves).toHaveLength(1);
    expect(listRejections(rejections, 1)[0]).toMatchObject({
      code: 'ServiceLevel',
      numbers: { availability: 912 / 1020, moved: 1 },
    });
  });

  it('makes a move cost what the ledger has measured', () => {
    const startup = { hot: 2, cold: 5 };
    const [move] = plan(lopsided({ times: { useful: 3000 }, startup }), someOptions()).moves;
    expect(move?.cost).toBe(5);
  });
});
