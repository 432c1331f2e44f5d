import { describe, expect, it } from 'vitest';
import { oversold } from '../../../src/plan/oversold.ts';
import { CLASS_LABEL } from '../../../src/qos/class-of.ts';
import { someOptions } from '../../support/builders/options.ts';
import { aServiceClass, serviceLevels } from '../../support/builders/service-levels.ts';
import { aNode, aPod, aSnapshot, constraints, type PodFields, selecting } from '../../support/builders.ts';

const { scope } = someOptions();
const levels = serviceLevels([
  aServiceClass({ name: 'gold', slo: 1, importance: 1 }),
  aServiceClass({ name: 'batch', slo: 0.5, importance: 2 }),
  aServiceClass({ name: 'spare', slo: 0, importance: 3 }),
]);
/** One core, 1 GiB and ten places. */
const nodes = [aNode('a', { allocatable: { cpu: 1_000, memory: 2 ** 30, pods: 10 } })];

function pod(name: string, className: string | undefined, cpu: number, fields: PodFields = {}) {
  const labels = className === undefined ? {} : { [CLASS_LABEL]: className };
  return aPod(name, { labels, nodeName: undefined, constraints: constraints({ requests: { cpu } }), ...fields });
}

const found = (...pods: readonly ReturnType<typeof pod>[]) =>
  oversold(aSnapshot({ nodes, pods, serviceLevels: levels }), scope);

describe('what was promised beyond capacity', () => {
  it('is nothing while the sum of SLO x requests fits', () => {
    expect(found(pod('g', 'gold', 500), pod('b', 'batch', 1_000))).toBeUndefined();
    expect(found(pod('s', 'spare', 5_000))).toBeUndefined();
    expect(found(pod('g', 'gold', 500), pod('b', 'batch', 1_001))).toMatchObject({ promised: 1_000.5 });
    expect(found()).toBeUndefined();
  });

  it('is what exceeds it, and names the classes that give way, the least important first', () => {
    expect(found(pod('g', 'gold', 800), pod('b', 'batch', 1_000))).toEqual({
      resource: 'cpu',
      promised: 1_300,
      capacity: 1_000,
      givingWay: ['batch'],
    });
    expect(found(pod('g', 'gold', 1_500), pod('b', 'batch', 1_000))?.givingWay).toEqual(['batch', 'gold']);
  });

  it('does not name a class whose promises fill all that is left, nor one that was promised nothing', () => {
    const pods = [pod('s', 'spare', 100), pod('b', 'batch', 1_000), pod('g', 'gold', 1_000)];
    expect(found(...pods)?.givingWay).toEqual(['batch']);
    expect(found(...pods, pod('h', 'gold', 1))?.givingWay).toEqual(['batch', 'gold']);
    expect(found(pod('g', 'gold', 1_001))?.givingWay).toEqual(['gold']);
  });

  it('counts what pods without a class, or out of scope, take on those nodes', () => {
    const others = [
      pod('plain', undefined, 300, { nodeName: 'a' }),
      pod('system', 'gold', 300, { nodeName: 'a', namespace: 'kube-system' }),
    ];
    const within = { ...scope, excludedNamespaces: new Set(['kube-system']) };
    const snapshot = aSnapshot({ nodes, pods: [...others, pod('g', 'gold', 500)], serviceLevels: levels });
    expect(oversold(snapshot, within)).toMatchObject({ promised: 500, capacity: 400 });
  });

  it('leaves out pods that have ended or leave, and nodes that take none', () => {
    const gone = [
      pod('done', 'gold', 900, { phase: 'Succeeded' }),
      pod('failed', 'gold', 900, { phase: 'Failed' }),
      pod('done-elsewhere', undefined, 900, { phase: 'Failed', nodeName: 'a' }),
      pod('leaving', 'gold', 900, { nodeName: 'a', terminating: true }),
    ];
    expect(found(...gone, pod('g', 'gold', 900))).toBeUndefined();
    const cordoned = nodes.map((node) => ({ ...node, unschedulable: true }));
    const snapshot = aSnapshot({ nodes: cordoned, pods: [pod('g', 'gold', 1)], serviceLevels: levels });
    expect(oversold(snapshot, scope)).toMatchObject({ capacity: 0, givingWay: ['gold'] });
  });

  it('counts the nodes that are ready, and that the policy selects, with what runs there', () => {
    const two = (fields: Parameters<typeof aNode>[1]) => [
      ...nodes,
      aNode('b', { allocatable: { cpu: 1_000, memory: 2 ** 30, pods: 10 }, ...fields }),
    ];
    const pods = [pod('g', 'gold', 2_500), pod('plain', undefined, 300, { nodeName: 'b' })];
    const capacity = (fields: Parameters<typeof aNode>[1], selector = scope.nodeSelector) =>
      oversold(aSnapshot({ nodes: two(fields), pods, serviceLevels: levels }), { ...scope, nodeSelector: selector })
        ?.capacity;
    expect(capacity({})).toBe(1_700);
    expect(capacity({ ready: false })).toBe(1_000);
    expect(capacity({ unschedulable: true })).toBe(1_000);
    expect(capacity({ labels: { pool: 'blue' } }, selecting({ pool: 'blue' }))).toBe(700);
  });

  it('tells of a resource that nobody has before one that is short', () => {
    const bare = [aNode('a', { allocatable: { cpu: 1_000, memory: 0, pods: 10 } })];
    const asking = pod('g', 'gold', 5_000, { constraints: constraints({ requests: { cpu: 5_000, memory: 1 } }) });
    const snapshot = aSnapshot({ nodes: bare, pods: [asking], serviceLevels: levels });
    expect(oversold(snapshot, scope)).toMatchObject({ resource: 'memory', promised: 1, capacity: 0 });
  });

  it('tells of the resource that is short the most, places for pods included', () => {
    const many = Array.from({ length: 20 }, (_, index) => pod(`g-${index}`, 'gold', 60));
    expect(found(...many)).toMatchObject({ resource: 'pods', promised: 20, capacity: 10 });
  });
});
