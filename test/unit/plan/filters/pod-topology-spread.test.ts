import { describe, expect, it } from 'vitest';
import type { PodInfo } from '../../../../src/model/pod.ts';
import { EVERYTHING as EVERY } from '../../../../src/model/selector.ts';
import { verdictsIn } from '../../../../src/plan/verdicts.ts';
import { aSpread, aTaint } from '../../../support/builders/scheduling.ts';
import { aNode, aPod, aSnapshot } from '../../../support/builders.ts';

const NODES = [
  aNode('a', { labels: { zone: 'a', disk: 'ssd' } }),
  aNode('b', { labels: { zone: 'b' } }),
  aNode('c', { labels: { zone: 'c' }, taints: [aTaint('special')] }),
  aNode('bare'),
];

const web = { app: 'web' };

/** Web pods: as many on each node as its letter is repeated. */
function running(where: string): readonly PodInfo[] {
  return [...where].map((nodeName, index) => aPod(`w${index}`, { nodeName, labels: web }));
}

function fitting(
  constraints: NonNullable<Parameters<typeof aPod>[1]>['constraints'],
  pods: readonly PodInfo[],
  nodes = NODES,
): readonly string[] {
  const verdict = verdictsIn(aSnapshot({ nodes, pods }));
  const pod = aPod('p', { labels: web, ...(constraints === undefined ? {} : { constraints }) });
  const refuses = ({ filter }: { readonly filter: string }): boolean => filter === 'PodTopologySpread';
  return nodes.filter((node) => !verdict(pod, node).refusals.some(refuses)).map(({ name }) => name);
}

describe('PodTopologySpread', () => {
  it('lets a domain have maxSkew pods more than the one that has fewest', () => {
    expect(fitting({ spread: [aSpread(web)] }, running('aab'))).toEqual(['c']);
    expect(fitting({ spread: [aSpread(web)] }, running('aabc'))).toEqual(['b', 'c']);
    expect(fitting({ spread: [aSpread(web, { maxSkew: 2 })] }, running('aab'))).toEqual(['b', 'c']);
  });

  it('takes the least to be 0 with fewer domains than minDomains', () => {
    expect(fitting({ spread: [aSpread(web, { minDomains: 3 })] }, running('abc'))).toEqual(['a', 'b', 'c']);
    expect(fitting({ spread: [aSpread(web, { minDomains: 4 })] }, running('abc'))).toEqual([]);
  });

  it('leaves out nodes that the pod does not tolerate only with nodeTaintsPolicy Honor', () => {
    expect(fitting({ spread: [aSpread(web, { nodeTaintsPolicy: 'Honor' })] }, running('ab'))).toEqual(['a', 'b', 'c']);
    expect(fitting({ spread: [aSpread(web)] }, running('ab'))).toEqual(['c']);
  });

  it('leaves out nodes that the pod does not select, unless nodeAffinityPolicy is Ignore', () => {
    const nodeSelector = new Map([['disk', 'ssd']]);
    expect(fitting({ nodeSelector, spread: [aSpread(web)] }, running('a'))).toContain('a');
    expect(fitting({ nodeSelector, spread: [aSpread(web, { nodeAffinityPolicy: 'Ignore' })] }, running('a'))).toEqual([
      'b',
      'c',
    ]);
  });

  it('counts only nodes that have the keys of all constraints', () => {
    const spread = [aSpread(web), aSpread(web, { topologyKey: 'disk' })];
    expect(fitting({ spread }, running('bb'))).toEqual(['a']);
  });

  it('counts neither terminating pods, nor those of other namespaces, nor any with an empty selector', () => {
    const pods = running('ab').map((pod) => ({ ...pod, terminating: true }));
    expect(fitting({ spread: [aSpread(web)] }, pods)).toEqual(['a', 'b', 'c']);
    expect(
      fitting(
        { spread: [aSpread(web)] },
        running('ab').map((pod) => ({ ...pod, namespace: 'other' })),
      ),
    ).toEqual(['a', 'b', 'c']);
    expect(fitting({ spread: [aSpread(web, { selector: EVERY })] }, running('aab'))).toEqual(['a', 'b', 'c']);
  });

  it('does not count the pod itself where it runs now', () => {
    const mover = aPod('w0', { nodeName: 'a', labels: web, constraints: { spread: [aSpread(web)] } });
    const nodes = NODES.slice(0, 2);
    const verdict = verdictsIn(aSnapshot({ nodes, pods: [mover, aPod('w1', { nodeName: 'b', labels: web })] }));
    expect(nodes.map((node) => verdict(mover, node).refusals.map(({ filter }) => filter))).toEqual([
      [],
      ['PodTopologySpread'],
    ]);
  });

  it('tells the skew that the pod would make, and the domain, in a refusal', () => {
    const verdict = verdictsIn(aSnapshot({ nodes: NODES, pods: running('aaab') }));
    const pod = aPod('p', { labels: web, constraints: { spread: [aSpread(web, { maxSkew: 2 })] } });
    const refusalOn = (name: string) =>
      NODES.flatMap((node) => (node.name === name ? verdict(pod, node).refusals : [])).find(
        ({ filter }) => filter === 'PodTopologySpread',
      );
    expect(refusalOn('a')).toEqual({
      filter: 'PodTopologySpread',
      topologyKey: 'zone',
      domain: 'a',
      skew: 4,
      maxSkew: 2,
    });
    expect(refusalOn('bare')).toEqual({
      filter: 'PodTopologySpread',
      topologyKey: 'zone',
      domain: undefined,
      skew: 0,
      maxSkew: 2,
    });
    expect(refusalOn('b')).toBeUndefined();
  });

  it('does not count a pod that its own constraint does not select', () => {
    const pod = aPod('other', { labels: { app: 'other' }, constraints: { spread: [aSpread(web)] } });
    const verdict = verdictsIn(aSnapshot({ nodes: NODES, pods: running('ab') }));
    const fits = NODES.filter(
      (node) => !verdict(pod, node).refusals.some(({ filter }) => filter === 'PodTopologySpread'),
    );
    expect(fits.map(({ name }) => name)).toEqual(['a', 'b', 'c']);
  });

  it('takes the pod out of the domain that has fewest when it leaves it', () => {
    const mover = aPod('w0', { nodeName: 'a', labels: web, constraints: { spread: [aSpread(web)] } });
    const nodes = NODES.slice(0, 2);
    const refusals = (others: string) =>
      verdictsIn(aSnapshot({ nodes, pods: [mover, ...running(`-${others}`).slice(1)] }))(mover, NODES[1] ?? aNode('b'))
        .refusals;
    expect(refusals('a')).toEqual([]);
    expect(refusals('ab')).toEqual([]);
    expect(refusals('abb')).toMatchObject([{ skew: 2 }]);
  });
});
