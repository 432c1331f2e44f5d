import { describe, expect, it } from 'vitest';
import { plan } from '../../../src/plan/planner.ts';
import { planMarkdown } from '../../../src/report/plan-markdown.ts';
import { toRebalancePlan } from '../../../src/report/plan-resource.ts';
import { planTable } from '../../../src/report/plan-text.ts';
import { pack, someOptions } from '../../support/builders/options.ts';
import { aPolicy } from '../../support/builders/policy.ts';
import { aNode, aPod, aSnapshot } from '../../support/builders.ts';
import { fakePlans } from '../../support/fake-stores.ts';

const requests = { cpu: 1000 };
const snapshot = aSnapshot({
  usage: undefined,
  nodes: ['a', 'b', 'c', 'd'].map((name) => aNode(name)),
  pods: [
    aPod('small', { nodeName: 'a', constraints: { requests: { cpu: 400 } } }),
    aPod('local', { nodeName: 'b', localStorage: true, constraints: { requests: { cpu: 400 } } }),
    aPod('c1', { nodeName: 'c', constraints: { requests } }),
    aPod('c2', { nodeName: 'c', constraints: { requests } }),
  ],
});
const found = plan(snapshot, someOptions({ strategy: pack() }));
const resource = toRebalancePlan(found, aPolicy('pack'), 1, snapshot);

describe('a plan of Pack', () => {
  it('says how many nodes it empties and an autoscaler can remove, and why others stay', () => {
    expect(resource.spec.message).toBe(
      '1 move empties 1 node (a): an autoscaler can remove 2 nodes; 1 node below strategy.pack keeps its pods: on b shop/local keeps data in an emptyDir or hostPath volume, which a move would lose',
    );
    expect(resource.spec.packing).toMatchObject({
      emptied: ['a'],
      removable: ['a', 'd'],
      removableTotal: 2,
      kept: [{ node: 'b', pod: { namespace: 'shop', name: 'local' }, code: 'LocalStorage' }],
    });
  });

  it('is what the CRD accepts', () => {
    expect(() => fakePlans().put(resource)).not.toThrow();
  });

  it('has a row for each of these nodes on the terminal and in Markdown', () => {
    const rows = planTable(resource, false).split('\n');
    expect(
      rows.filter((row) => /removable|keeps its pods {2}/.test(row)).map((row) => row.trim().split(/\s{2,}/)),
    ).toEqual([
      ['a', 'removable', 'the plan empties it'],
      ['d', 'removable', 'it is empty'],
      ['b', 'keeps its pods', expect.stringContaining('shop/local keeps data')],
    ]);
    expect(planMarkdown(resource)).toContain('| d | removable | it is empty |');
  });
});
