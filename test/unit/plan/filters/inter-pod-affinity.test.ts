import { describe, expect, it } from 'vitest';
import type { PodInfo } from '../../../../src/model/pod.ts';
import type { ClusterSnapshot } from '../../../../src/model/snapshot.ts';
import { verdictsIn } from '../../../../src/plan/verdicts.ts';
import { anAffinityTerm } from '../../../support/builders/scheduling.ts';
import { aNode, aPod, aSnapshot, labels, selecting } from '../../../support/builders.ts';

const NODES = [
  aNode('a1', { labels: { zone: 'a' } }),
  aNode('a2', { labels: { zone: 'a' } }),
  aNode('b1', { labels: { zone: 'b' } }),
  aNode('bare'),
];

function fitting(pod: PodInfo, pods: readonly PodInfo[], rest: Partial<ClusterSnapshot> = {}): readonly string[] {
  const verdict = verdictsIn({ ...aSnapshot({ nodes: NODES, pods }), ...rest });
  return NODES.filter((node) => verdict(pod, node).refusals.length === 0).map(({ name }) => name);
}

const web = { app: 'web' };
const near = (fields: Parameters<typeof anAffinityTerm>[1] = {}) => ({ podAffinity: [anAffinityTerm(web, fields)] });
const apart = (fields: Parameters<typeof anAffinityTerm>[1] = {}) => ({
  podAntiAffinity: [anAffinityTerm(web, fields)],
});

describe('InterPodAffinity', () => {
  it('lets a pod run only where the pods are that it wants to be near', () => {
    const pods = [aPod('w', { nodeName: 'a1', labels: web })];
    expect(fitting(aPod('p', { constraints: near() }), pods)).toEqual(['a1', 'a2']);
  });

  it('lets the first of a group that is near itself run anywhere but on a node without the topology key', () => {
    const first = aPod('p', { labels: web, constraints: near() });
    expect(fitting(first, [])).toEqual(['a1', 'a2', 'b1']);
    expect(fitting(aPod('p', { constraints: near() }), [])).toEqual([]);
  });

  it('does not count the pod itself where it runs now', () => {
    const mover = aPod('p', { nodeName: 'a1', labels: web, constraints: near() });
    expect(fitting(mover, [mover])).toEqual(['a1', 'a2', 'b1']);
    expect(fitting(mover, [mover, aPod('w', { nodeName: 'b1', labels: web })])).toEqual(['b1']);
  });

  it('wants one pod that matches all terms, not one for each', () => {
    const both = { podAffinity: [anAffinityTerm(web), anAffinityTerm({ tier: 'x' })] };
    const half = [aPod('w', { nodeName: 'a1', labels: web }), aPod('x', { nodeName: 'a2', labels: { tier: 'x' } })];
    expect(fitting(aPod('p', { constraints: both }), half)).toEqual([]);
    const whole = aPod('wx', { nodeName: 'b1', labels: { ...web, tier: 'x' } });
    expect(fitting(aPod('p', { constraints: both }), [...half, whole])).toEqual(['b1']);
  });

  it('keeps a pod from those that it wants to be apart from; a node without the key is no domain', () => {
    const pods = [aPod('w', { nodeName: 'a1', labels: web })];
    expect(fitting(aPod('p', { constraints: apart() }), pods)).toEqual(['b1', 'bare']);
  });

  it('keeps a pod without terms from those that want to be apart from it', () => {
    const pods = [aPod('guard', { nodeName: 'b1', constraints: apart() })];
    expect(fitting(aPod('p', { labels: web }), pods)).toEqual(['a1', 'a2', 'bare']);
  });

  it.each([
    { what: 'no namespaces', fields: {}, expected: ['a1', 'a2', 'b1', 'bare'] },
    { what: 'a list of namespaces', fields: { namespaces: ['other'] }, expected: ['b1', 'bare'] },
    { what: 'an empty selector', fields: { namespaceSelector: selecting({}) }, expected: ['b1', 'bare'] },
    { what: 'a selector', fields: { namespaceSelector: selecting({ team: 'red' }) }, expected: ['b1', 'bare'] },
    {
      what: 'a selector of others',
      fields: { namespaceSelector: selecting({ team: 'blue' }) },
      expected: ['a1', 'a2', 'b1', 'bare'],
    },
  ])('looks for pods of another namespace by $what', ({ fields, expected }) => {
    const pods = [aPod('w', { namespace: 'other', nodeName: 'a1', labels: web })];
    const namespaces = new Map([
      ['shop', labels()],
      ['other', labels({ team: 'red' })],
    ]);
    expect(fitting(aPod('p', { constraints: apart(fields) }), pods, { namespaces })).toEqual(expected);
  });

  it('matches nothing with a null selector', () => {
    const pods = [aPod('w', { nodeName: 'a1', labels: web })];
    expect(fitting(aPod('p', { constraints: { podAntiAffinity: [anAffinityTerm(undefined)] } }), pods)).toHaveLength(4);
    expect(fitting(aPod('p', { constraints: { podAffinity: [anAffinityTerm(undefined)] } }), pods)).toEqual([]);
  });
});

describe('a refusal of InterPodAffinity', () => {
  const refusalOn = (node: string, pod: PodInfo, pods: readonly PodInfo[]) => {
    const on = NODES.find(({ name }) => name === node) ?? aNode(node);
    return verdictsIn(aSnapshot({ nodes: NODES, pods }))(pod, on).refusals[0];
  };
  const inZone = { filter: 'InterPodAffinity', topologyKey: 'zone', domain: 'a' };

  it('counts the pods of the whole domain that a term matches, but the pod itself', () => {
    const pods = ['a1', 'a1', 'a2', 'b1'].map((nodeName, index) => aPod(`w${index}`, { nodeName, labels: web }));
    const mover = aPod('p', { nodeName: 'a1', labels: web, constraints: apart() });
    expect(refusalOn('a2', mover, [...pods, mover])).toEqual({ ...inZone, rule: 'antiAffinity', pods: 3 });
    const guards = ['a1', 'a2'].map((nodeName, index) => aPod(`g${index}`, { nodeName, constraints: apart() }));
    expect(refusalOn('a2', aPod('p', { labels: web }), guards)).toEqual({
      ...inZone,
      rule: 'existingAntiAffinity',
      pods: 2,
    });
  });

  it('names the term that is not met, and the domain if there is one', () => {
    const both = {
      podAffinity: [anAffinityTerm({ tier: 'x' }, { topologyKey: 'kubernetes.io/hostname' }), anAffinityTerm(web)],
    };
    const whole = aPod('wx', { nodeName: 'a1', labels: { ...web, tier: 'x' } });
    expect(refusalOn('a2', aPod('p', { constraints: both }), [whole])).toEqual({
      ...inZone,
      rule: 'affinity',
      topologyKey: 'kubernetes.io/hostname',
      domain: 'a2',
      pods: 0,
    });
    expect(refusalOn('bare', aPod('p', { constraints: near() }), [whole])).toEqual({
      ...inZone,
      rule: 'affinity',
      domain: undefined,
      pods: 0,
    });
  });

  it('asks the own affinity first, then the own anti-affinity, then that of others', () => {
    const pods = [aPod('w', { nodeName: 'a1', labels: web, constraints: apart() })];
    const pod = aPod('p', { labels: web, constraints: { ...apart(), podAffinity: [anAffinityTerm({ tier: 'x' })] } });
    expect(refusalOn('a1', pod, pods)).toMatchObject({ rule: 'affinity' });
    expect(refusalOn('a1', aPod('p', { labels: web, constraints: apart() }), pods)).toMatchObject({
      rule: 'antiAffinity',
    });
  });

  it('lets the first of a group run only while no pod anywhere matches', () => {
    const first = aPod('p', { nodeName: 'bare', labels: web, constraints: near() });
    // On a node without the key a pod counts in no domain, so its group has still no member.
    expect(fitting(first, [first])).toEqual(['a1', 'a2', 'b1']);
    expect(fitting(first, [first, aPod('w', { nodeName: 'b1', labels: web })])).toEqual(['b1']);
  });
});
