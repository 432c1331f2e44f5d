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

describe('a node that no pod may come to', () => {
  const uses = { 'c-0': 1200, 'c-1': 1200, 'on-a': 400, 'on-b': 400 };
  const tolerations = [aToleration({ key: 'node.kubernetes.io/unschedulable' })];
  /** a and b at 10 %, c at 60 % and as `fields` say. */
  function planWithHot(fields: Parameters<typeof aNode>[1], pod: Parameters<typeof aPod>[1] = {}): Plan {
    const pods = [
      ...['c-0', 'c-1'].map((name) => aPod(name, { nodeName: 'c', ...pod })),
      ...['a', 'b'].map((nodeName) => aPod(`on-${nodeName}`, { nodeName, constraints: { tolerations } })),
    ];
    return plan(aSnapshot({ nodes: [aNode('a'), aNode('b'), aNode('c', fields)], pods, uses }), someOptions());
  }
  const messageOf = ({ outcome }: Plan): string | undefined =>
    outcome.kind === 'Moves' ? outcome.obstacle : outcome.message;

  it.each([
    { what: 'cordoned', fields: { unschedulable: true } },
    { what: 'tainted', fields: { taints: [aTaint('leaving', 'yes')] } },
  ])('gives pods when it is the hottest and $what', ({ fields }) => {
    const found = planWithHot(fields);
    expect(transfersOf(found)[0]).toMatchObject({ from: 'c', to: 'a' });
    expect(targets(found).has('c')).toBe(false);
    expect(found.imbalance.before.cpu?.max).toBe(0.6);
  });

  it('is named where its pods must stay', () => {
    const found = planWithHot({ unschedulable: true }, { localStorage: true });
    expect(found.outcome.kind).toBe('Balanced');
    expect(messageOf(found)).toContain('c takes no part at 60.00 %: it is cordoned');
  });

  it('is named where an autoscaler drains it', () => {
    const found = planWithHot({ unschedulable: true, taints: [aTaint('karpenter.sh/disrupted')] });
    expect(messageOf(found)).toContain('c takes no part at 60.00 %: an autoscaler is draining it');
  });

  it('is never a target, not even of pods that tolerate it', () => {
    const pods = [
      ...Array.from({ length: 5 }, (_, index) =>
        aPod(`a-${index}`, { nodeName: 'a', constraints: { tolerations, requests: { cpu: 10 } } }),
      ),
      aPod('on-c', { nodeName: 'c', constraints: { requests: { cpu: 10 } } }),
      aPod('filler', { nodeName: 'b', owner: undefined, constraints: { requests: { cpu: 3990 } } }),
    ];
    const hot = Object.fromEntries(pods.map(({ name }) => [name, name === 'filler' ? 100 : 700]));
    const nodes = [aNode('a'), aNode('b'), aNode('c', { unschedulable: true })];
    expect(targets(plan(aSnapshot({ nodes, pods, uses: { ...hot, 'on-c': 2000 } }), someOptions())).has('c')).toBe(
      false,
    );
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
