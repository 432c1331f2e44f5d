import { describe, expect, it } from 'vitest';
import type { LedgerMode } from '../../../../src/model/service-level.ts';
import type { Budget } from '../../../../src/plan/budgets/budget.ts';
import { serviceLevel } from '../../../../src/plan/budgets/service-level.ts';
import { plan } from '../../../../src/plan/planner.ts';
import { listRejections } from '../../../../src/plan/rejections.ts';
import { CLASS_LABEL } from '../../../../src/qos/class-of.ts';
import { someOptions } from '../../../support/builders/options.ts';
import { aLedger, aServiceClass, type LedgerFields, serviceLevels } from '../../../support/builders/service-levels.ts';
import { aNode, aPod, aSnapshot, NOW } from '../../../support/builders.ts';

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

/** The budget of pods of one workload, whose starts take ten seconds unless another time is given. */
function budgetOf(mode: LedgerMode, fields: LedgerFields, expectedStartup = 10): Budget {
  const ledger = aLedger(fields);
  const serviceClass = aServiceClass({ mode, slo: 0.9, expectedStartup });
  return serviceLevel({ classOf: () => serviceClass, ledgerOf: () => ledger }, NOW);
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

  it('lets a workload move that comes out exactly at its SLO, and no lower', () => {
    expect(plan(lopsided({ times: { useful: 909, pending: 91 } }), someOptions()).moves).toHaveLength(1);
    expect(plan(lopsided({ times: { useful: 908, pending: 92 } }), someOptions()).moves).toEqual([]);
  });

  it('counts the time of all replicas of a workload that is of use only together, while one of them starts', () => {
    const together = (running: number, waiting = 0) => {
      const budget = budgetOf('Concurrent', { running, waiting, times: { useful: 1000 } });
      return budget.check(0)?.numbers['availability'];
    };
    // Ten seconds for the start, of each of the replicas: 1000 / 1100 keeps the SLO.
    expect([together(10), together(5, 5)]).toEqual([undefined, undefined]);
    expect([together(12), together(6, 6)]).toEqual([1000 / 1120, 1000 / 1120]);
  });

  it('counts a single replica that is of use only together with others as one', () => {
    const alone = (useful: number, running = 1) => {
      const budget = budgetOf('Concurrent', { running, times: { useful } });
      return budget.check(0)?.numbers['availability'];
    };
    expect([alone(90), alone(89), alone(90, 0), alone(89, 0)]).toEqual([undefined, 89 / 99, undefined, 89 / 99]);
  });

  it('counts one start for each move, of one replica where each is of use alone', () => {
    const budget = budgetOf('Aggregated', { running: 12, times: { useful: 200 } });
    const mayMove = (): boolean => budget.check(0) === undefined;
    expect(mayMove()).toBe(true);
    budget.spend(0);
    expect(mayMove()).toBe(true);
    budget.spend(0);
    expect(budget.check(0)?.numbers).toMatchObject({ availability: 200 / 230, alpha: 10, moved: 2 });
    budget.refund(0);
    expect(mayMove()).toBe(true);
  });

  it('keeps a workload of which nothing was observed yet, and lets it move where a start takes no time', () => {
    const fresh = (expectedStartup: number) => {
      const budget = budgetOf('Aggregated', {}, expectedStartup);
      return budget.check(0)?.numbers['availability'];
    };
    expect([fresh(10), fresh(0)]).toEqual([0, undefined]);
  });

  it('lets pods move as they like that have no class, or no ledger', () => {
    const short = aLedger({ times: { pending: 1000 } });
    const nobody = serviceLevel({ classOf: () => undefined, ledgerOf: () => short }, NOW);
    const unknown = serviceLevel({ classOf: () => aServiceClass(), ledgerOf: () => undefined }, NOW);
    for (const budget of [nobody, unknown]) {
      budget.spend(0);
      expect(budget.check(0)).toBeUndefined();
      budget.refund(0);
    }
  });

  it('makes a move cost what the ledger has measured', () => {
    const startup = { hot: 2, cold: 5 };
    const [move] = plan(lopsided({ times: { useful: 3000 }, startup }), someOptions()).moves;
    expect(move?.cost).toBe(5);
  });
});
