import { describe, expect, it } from 'vitest';
import type { NodeInfo } from '../../../src/model/node.ts';
import type { Plan } from '../../../src/plan/plan.ts';
import { plan } from '../../../src/plan/planner.ts';
import { listRejections } from '../../../src/plan/rejections.ts';
import { type OptionFields, someOptions } from '../../support/builders/options.ts';
import { aTaint, aToleration } from '../../support/builders/scheduling.ts';
import { aNode, aPod, aSnapshot, selecting } from '../../support/builders.ts';
import { transfersOf } from '../../support/transfers.ts';

/** Node a is full, b is empty, c is `third` with one pod of 5 %. */
function planWith(
  third: NodeInfo,
  fields: OptionFields = {},
  tolerations: readonly ReturnType<typeof aToleration>[] = [],
): Plan {
  const heavy = Array.from({ length: 8 }, (_, index) =>
    aPod(`h-${index}`, { nodeName: 'a', constraints: { tolerations } }),
  );
  const uses = Object.fromEntries(heavy.map(({ name }) => [name, 400] as const));
  const pods = [...heavy, aPod('on-c', { nodeName: 'c' })];
  return plan(
    aSnapshot({ nodes: [aNode('a'), aNode('b'), third], pods, uses: { ...uses, 'on-c': 200 } }),
    someOptions(fields),
  );
}

function targets(plan: Plan): ReadonlySet<string> {
  return new Set(transfersOf(plan).map(({ to }) => to));
}

describe('a node takes part', () => {
  it('when nothing speaks against it', () => {
    expect(targets(planWith(aNode('c')))).toEqual(new Set(['b', 'c']));
  });

  it.each([
    { why: 'it is not Ready', node: aNode('c', { ready: false }) },
    { why: 'it is cordoned', node: aNode('c', { unschedulable: true }) },
    { why: 'it is outside scope.nodeSelector', node: aNode('c', { labels: { pool: 'other' } }) },
    { why: 'it offers no cpu', node: aNode('c', { allocatable: { cpu: 0 } }) },
    { why: 'it is being deleted', node: aNode('c', { terminating: true }) },
    ...[
      'ToBeDeletedByClusterAutoscaler',
      'DeletionCandidateOfClusterAutoscaler',
      'karpenter.sh/disrupted',
      'karpenter.sh/disruption',
      'cloud.google.com/impending-node-termination',
      'aws-node-termination-handler/spot-itn',
    ].map((key) => ({
      why: `an autoscaler is draining it (taint ${key})`,
      // Whatever the effect: the cluster autoscaler marks candidates softly.
      node: aNode('c', { taints: [aTaint(key, '', 'PreferNoSchedule')] }),
    })),
    {
      why: 'no pod that may be moved tolerates its taints',
      node: aNode('c', { taints: [aTaint('node-role.kubernetes.io/control-plane')] }),
    },
  ])('but not when $why', ({ why, node }) => {
    const scope = { nodeSelector: { requirements: [{ key: 'pool', operator: 'DoesNotExist' as const, values: [] }] } };
    const found = planWith(node, { scope });
    expect(targets(found)).toEqual(new Set(['b']));
    expect(found.imbalance.before.cpu?.mean).toBe(0.4);
    const rejection = listRejections(found.rejections).find(({ pod }) => pod.name === 'on-c');
    // Pods on nodes outside of the scope were not considered at all.
    expect(rejection?.message).toBe(why.includes('scope') ? undefined : `c takes no part: ${why}`);
  });

  it('although it is tainted, when a pod that may be moved tolerates the taint', () => {
    const node = aNode('c', { taints: [aTaint('pool', 'batch')] });
    expect(targets(planWith(node, {}, [aToleration({ key: 'pool' })]))).toEqual(new Set(['b', 'c']));
  });

  it('although it prefers to be left alone', () => {
    const node = aNode('c', { taints: [aTaint('pool', 'batch', 'PreferNoSchedule')] });
    expect(targets(planWith(node))).toEqual(new Set(['b', 'c']));
  });
});

describe('the scope', () => {
  it('leaves pods of other namespaces, labels and policies out without a word', () => {
    const heavy = ['shop', 'bank', 'kube-system'].flatMap((namespace) =>
      Array.from({ length: 3 }, (_, index) =>
        aPod(`p-${index}`, { namespace, nodeName: 'a', owner: `web-${namespace}` }),
      ),
    );
    const uses = Object.fromEntries(heavy.map(({ namespace, name }) => [`${namespace}/${name}`, 300] as const));
    const snapshot = aSnapshot({
      nodes: [aNode('a'), aNode('b')],
      pods: heavy,
      uses,
      namespaces: new Map([
        ['shop', new Map([['team', 'red']])],
        ['bank', new Map()],
      ]),
    });
    const seen = (fields: OptionFields): readonly string[] => {
      const { moves, rejections } = plan(snapshot, someOptions(fields));
      return [...new Set([...moves, ...listRejections(rejections)].map(({ pod }) => pod.namespace))].sort();
    };
    expect(seen({})).toEqual(['bank', 'shop']);
    expect(seen({ scope: { namespaceSelector: selecting({ team: 'red' }) } })).toEqual(['shop']);
    expect(seen({ scope: { podSelector: selecting({ app: 'none' }) } })).toEqual([]);
    expect(seen({ scope: { foreignPods: new Set(heavy.map(({ uid }) => uid)) } })).toEqual([]);
  });
});
