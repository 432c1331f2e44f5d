import { describe, expect, it } from 'vitest';
import type { NodeInfo } from '../../../src/model/node.ts';
import { participation } from '../../../src/plan/participation.ts';
import type { Plan } from '../../../src/plan/plan.ts';
import { plan } from '../../../src/plan/planner.ts';
import { listRejections } from '../../../src/plan/rejections.ts';
import { type OptionFields, someOptions } from '../../support/builders/options.ts';
import { aTaint, aToleration } from '../../support/builders/scheduling.ts';
import { aNode, aPod, aSample, aSnapshot, constraints, NOW, selecting } from '../../support/builders.ts';
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
      'aws-node-termination-handler/scheduled-maintenance',
      'aws-node-termination-handler/asg-lifecycle-termination',
      'aws-node-termination-handler/rebalance-recommendation',
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

describe('participation', () => {
  /** What is found of nodes whose samples are `samples` of a core, where pods that tolerate nothing may be moved. */
  function judged(
    nodes: readonly NodeInfo[],
    samples: Readonly<Record<string, ReturnType<typeof aSample>>> | undefined,
    fields: OptionFields = {},
    withPods: readonly string[] = nodes.map(({ name }) => name),
  ) {
    const pods = withPods.map((nodeName) => aPod(`on-${nodeName}`, { nodeName }));
    const usage = samples && { nodes: new Map(Object.entries(samples)), pods: new Map() };
    return participation({
      snapshot: aSnapshot({ nodes, pods, usage }),
      nodes,
      pods,
      movable: new Set([constraints()]),
      hasMovablePods: (name) => withPods.includes(name),
      options: someOptions(fields),
    });
  }
  const leftOut = ({ leftOut: left }: ReturnType<typeof judged>) =>
    left.map(({ node, sample, maySource }) => [node.name, sample?.cpu, maySource]);
  const tainted = { taints: [aTaint('gpu')] };
  const drained = { taints: [aTaint('karpenter.sh/disrupted')] };

  it('keeps the samples of those that take part and of those left out whose load is known', () => {
    const nodes = [
      aNode('a'),
      aNode('cordoned', { unschedulable: true }),
      aNode('tainted', tainted),
      aNode('drained', drained),
      aNode('leaving', { unschedulable: true, ...drained }),
      aNode('empty', { allocatable: { cpu: 0 } }),
      aNode('unready', { ready: false }),
      aNode('unknown', { unschedulable: true }),
    ];
    const samples = Object.fromEntries(
      nodes.filter(({ name }) => name !== 'unknown').map(({ name }, place) => [name, aSample(100 * place)]),
    );
    const found = judged(nodes, samples);
    expect(found.participants.map(({ node, sample }) => [node.name, sample?.cpu])).toEqual([['a', 0]]);
    expect(leftOut(found)).toEqual([
      ['cordoned', 100, true],
      ['tainted', 200, true],
      ['drained', 300, false],
      ['leaving', 400, false],
    ]);
    expect([...found.absent]).toEqual([
      ['unready', 'it is not Ready'],
      ['cordoned', 'it is cordoned'],
      ['tainted', 'no pod that may be moved tolerates its taints'],
      ['drained', 'an autoscaler is draining it (taint karpenter.sh/disrupted)'],
      ['leaving', 'an autoscaler is draining it (taint karpenter.sh/disrupted)'],
      ['empty', 'it offers no cpu'],
      ['unknown', 'it is cordoned'],
    ]);
  });

  it('lets a cordoned node give nothing while no pod on it may be moved', () => {
    const nodes = [aNode('a'), aNode('cordoned', { unschedulable: true })];
    expect(leftOut(judged(nodes, { a: aSample(1), cordoned: aSample(2) }, {}, ['a']))).toEqual([
      ['cordoned', 2, false],
    ]);
  });

  it('covers the open nodes alone, cordoned ones count neither with a sample nor without', () => {
    const nodes = [
      aNode('cordoned-1', { unschedulable: true }),
      aNode('a'),
      aNode('cordoned-2', { unschedulable: true }),
      aNode('b'),
      aNode('c'),
      aNode('unready', { ready: false }),
    ];
    const old = aSample(0, 0, { timestamp: NOW });
    const found = judged(nodes, { 'cordoned-1': aSample(9), a: aSample(1), b: old });
    expect(found.coverage).toEqual({ readyNodes: 3, sampledNodes: 2, ratio: 2 / 3, maxAge: 20 });
    expect(found.absent.get('c')).toBe('it has no sample');
  });

  it('lets nodes without metrics take part as idle ones, and covers none of them', () => {
    const nodes = [aNode('a'), aNode('b'), aNode('cordoned', { unschedulable: true })];
    const without = judged(nodes, undefined);
    expect(without.participants.map(({ node, sample }) => [node.name, sample])).toEqual([
      ['a', undefined],
      ['b', undefined],
    ]);
    expect(without.coverage).toEqual({ readyNodes: 2, sampledNodes: 0, ratio: 0, maxAge: 0 });
  });

  it('reads no samples for a policy that goes by requests', () => {
    const nodes = [aNode('a'), aNode('b')];
    const found = judged(nodes, { a: aSample(1) }, { load: { source: 'Requests' } });
    expect(found.participants.map(({ sample }) => sample)).toEqual([undefined, undefined]);
    expect(found.coverage).toEqual({ readyNodes: 2, sampledNodes: 2, ratio: 1, maxAge: undefined });
  });

  it('wants a node to offer one of the resources, and names them all where it offers none', () => {
    const resources = [
      { name: 'cpu' as const, weight: 1 },
      { name: 'memory' as const, weight: 1 },
    ];
    const nodes = [aNode('half', { allocatable: { cpu: 0 } }), aNode('none', { allocatable: { cpu: 0, memory: 0 } })];
    const found = judged(nodes, { half: aSample(1), none: aSample(1) }, { load: { resources } });
    expect(found.participants.map(({ node }) => node.name)).toEqual(['half']);
    expect([...found.absent]).toEqual([['none', 'it offers no cpu and no memory']]);
  });

  it('tells nodes with other taints apart', () => {
    const nodes = [
      aNode('gpu-1', tainted),
      aNode('gpu-2', tainted),
      aNode('soft', { taints: [aTaint('soft', '', 'PreferNoSchedule')] }),
    ];
    const samples = Object.fromEntries(nodes.map(({ name }) => [name, aSample(1)]));
    expect(judged(nodes, samples).participants.map(({ node }) => node.name)).toEqual(['soft']);
    const tolerant = participation({
      snapshot: aSnapshot({ nodes, usage: { nodes: new Map(Object.entries(samples)), pods: new Map() } }),
      nodes,
      pods: [],
      movable: new Set([constraints(), constraints({ tolerations: [aToleration({ key: 'gpu' })] })]),
      hasMovablePods: () => false,
      options: someOptions(),
    });
    expect(tolerant.participants.map(({ node }) => node.name)).toEqual(['gpu-1', 'gpu-2', 'soft']);
  });
});
