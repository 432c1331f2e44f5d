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
