import { describe, expect, it } from 'vitest';
import { plan } from '../../../src/plan/planner.ts';
import { policyRow } from '../../../src/report/page/policies.ts';
import { planMarkdown } from '../../../src/report/plan-markdown.ts';
import { outcomeMessage, toRebalancePlan } from '../../../src/report/plan-resource.ts';
import { messageParts, planTable } from '../../../src/report/plan-text.ts';
import { someOptions } from '../../support/builders/options.ts';
import { aPolicy } from '../../support/builders/policy.ts';
import { aNode, aPod, aSnapshot } from '../../support/builders.ts';

const small = { labels: { pool: 'small' }, allocatable: { cpu: 1000 } };
const waiting = (name: string) =>
  aPod(name, {
    phase: 'Pending',
    ready: false,
    waiting: { gated: false, pinnedTo: undefined, unschedulable: true },
    constraints: { requests: { cpu: 1000 }, nodeSelector: new Map([['pool', 'small']]) },
  });
const snapshot = aSnapshot({
  usage: undefined,
  nodes: [aNode('s', small), aNode('l')],
  pods: [aPod('p', { nodeName: 's', constraints: { requests: { cpu: 1000 } } }), waiting('w1'), waiting('w2')],
});
const found = plan(snapshot, someOptions({ strategy: { type: 'None' }, makesRoom: true }));
const policy = aPolicy('room', { strategy: { type: 'None' }, makeRoom: 'Pinned' });
const resource = toRebalancePlan(found, policy, 1, snapshot);

describe('a move that makes room', () => {
  it('is counted in a sentence of its own, and so are pods that get none', () => {
    expect(messageParts(outcomeMessage(found))).toEqual([
      '1 move',
      '1 move makes room for 1 pinned pod',
      '1 pinned pod without a node cannot be served; the first: shop/w2 has no node, and no room can be made for it on the only node that it may run on: s has 0m of 1000m cpu free; no pod is left there that could make room',
    ]);
  });

  it('is shown with the pod in tables, Markdown, resource and page', () => {
    expect(resource.spec.moves).toMatchObject([{ pod: { name: 'p' }, makesRoomFor: 'shop/w1' }]);
    expect(planTable(resource, false)).toMatch(/ GAIN +MAKES ROOM FOR\nshop\/p +s +l +\S+ % +\S+ % +shop\/w1\n/);
    expect(planMarkdown(resource)).toContain('| MAKES ROOM FOR |');
    expect(planMarkdown(resource)).toContain('| shop/w1 |');
    expect(planMarkdown(resource)).toContain('makes room for shop/w1; adds ');
    const row = policyRow({ policy, invalid: [] }, [resource], snapshot);
    expect(row.plan?.moves['0']).toMatchObject({ pod: 'shop/p', makesRoomFor: 'shop/w1' });
  });
});
