import { describe, expect, it } from 'vitest';
import type { RebalancePlan } from '../../../src/api/v1alpha1/rebalance-plan.ts';
import { inquire } from '../../../src/plan/explain/inquiry.ts';
import type { Plan } from '../../../src/plan/plan.ts';
import { plan } from '../../../src/plan/planner.ts';
import { historyText } from '../../../src/report/history-text.ts';
import { podDetail } from '../../../src/report/page/explain.ts';
import { policyRow } from '../../../src/report/page/policies.ts';
import { diffMarkdown, diffPlans, diffTable } from '../../../src/report/plan-diff.ts';
import { planMarkdown } from '../../../src/report/plan-markdown.ts';
import { outcomeMessage, toRebalancePlan } from '../../../src/report/plan-resource.ts';
import { planTable } from '../../../src/report/plan-text.ts';
import { ALL_REPAIRS, someOptions } from '../../support/builders/options.ts';
import { aPolicy } from '../../support/builders/policy.ts';
import { aTaint } from '../../support/builders/scheduling.ts';
import { aNode, aPod, aSnapshot } from '../../support/builders.ts';

const none = { strategy: { type: 'None' } as const, repair: ALL_REPAIRS };
const pods = [aPod('p', { nodeName: 'a' })];
const snapshot = aSnapshot({ usage: undefined, nodes: [aNode('a', { taints: [aTaint('old')] }), aNode('b')], pods });
const repaired = plan(snapshot, someOptions(none));
const idle = plan(snapshot, someOptions());
const policy = aPolicy('even', { strategy: { type: 'None' }, repair: { taints: {} } });
const resource = toRebalancePlan(repaired, policy, 1, snapshot);

/** The same plan with a failed pod that is removed. */
const removing: RebalancePlan = {
  ...resource,
  spec: {
    ...resource.spec,
    moves: resource.spec.moves.map(({ to: _, ...move }) => ({ ...move, removal: true, repairs: ['Failed'] })),
  },
};

describe('a move that repairs', () => {
  it('is counted in a sentence of its own', () => {
    expect(outcomeMessage(repaired)).toBe('1 move; 1 repair: Taints 1');
  });

  it('has no gain where it only moves load, in tables and Markdown', () => {
    expect(planTable(resource, false)).toMatch(
      /\nPOD +FROM +TO +LOAD +GAIN +REPAIRS\nshop\/p +a +b +2\.50 % +- +Taints\n/,
    );
    expect(planMarkdown(resource)).toContain('| shop/p | a | b | 2.50 % | - | Taints |');
  });

  it('is shown with what it repairs where two plans are compared', () => {
    const diff = diffPlans({ policy: 'old', plan: idle }, { policy: 'new', plan: repaired });
    expect(diff.moves).toMatchObject([{ change: 'appears', pod: 'shop/p', repairs: ['Taints'] }]);
    expect([diff.old.repairs, diff.new.repairs]).toEqual([0, 1]);
    expect(diffTable(diff)).toMatch(/\nrepairs +0 +1\n/);
    expect(diffTable(diff)).toMatch(/\nappears +shop\/p +a +stays +b +Taints\n/);
    expect(diffMarkdown(diff)).toContain('| appears | shop/p | a | stays | b | Taints |');
  });

  it('is counted in the wide history', () => {
    const balanced = { ...resource, spec: { ...resource.spec, moves: [] } };
    expect(historyText([resource, balanced], true)).toMatch(/ REPAIRS +LANDED .*\n.* 1 +0 of 1 .*\n.* 0 +0 of 0 /);
    expect(historyText([balanced], false)).not.toContain('REPAIRS');
  });

  it('is on the page with what it repairs', () => {
    const row = (of: RebalancePlan) => policyRow({ policy, invalid: [] }, [of], snapshot);
    expect(row(resource).plan?.moves['0']).toMatchObject({ from: 'a', to: 'b', repairs: ['Taints'] });
    expect(row(resource).plan).toMatchObject({ message: '1 move', notes: ['1 repair: Taints 1'] });
    expect(row(removing).plan?.moves['0']).toMatchObject({ from: 'a', removal: true, repairs: ['Failed'] });
  });
});

describe('details of a move that repairs', () => {
  it('name no gain where there is none', () => {
    const detail = podDetail(inquire(snapshot, someOptions(none)), 'even', 'shop/p');
    expect(detail?.message).toMatch(/^to b: a has the taint old:NoSchedule/);
  });
});

describe('a failed pod that is removed', () => {
  const removal: Plan = {
    ...repaired,
    moves: repaired.moves.map((move) => ({ ...move, from: 'a', to: undefined, removal: true })),
  };

  it('goes nowhere where two plans are compared', () => {
    const diff = diffPlans({ policy: 'old', plan: idle }, { policy: 'new', plan: removal });
    expect(diff.moves).toMatchObject([{ change: 'appears', new: null, removal: true }]);
    expect(diffTable(diff)).toMatch(/\nappears +shop\/p +a +stays +\(removed\) +Taints\n/);
  });

  it('is not what a pod is that goes back to the queue', () => {
    const queued: Plan = {
      ...repaired,
      moves: repaired.moves.map((move) => ({ ...move, from: 'a', to: undefined })),
    };
    const diff = diffPlans({ policy: 'old', plan: queued }, { policy: 'new', plan: removal });
    expect(diff.moves).toMatchObject([{ change: 'goes elsewhere' }]);
  });
});
