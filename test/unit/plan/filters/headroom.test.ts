import { describe, expect, it } from 'vitest';
import { validatePolicy } from '../../../../src/api/validate.ts';
import type { NodeSelectorTerm } from '../../../../src/model/node.ts';
import { createHeadroom, namesGroup } from '../../../../src/plan/filters/headroom.ts';
import { describeRefusal } from '../../../../src/plan/filters/refusal.ts';
import { freeCapacityOf } from '../../../../src/plan/free-capacity.ts';
import { plan } from '../../../../src/plan/planner.ts';
import { resolveOptions } from '../../../../src/plan/resolve-options.ts';
import { greedyLb, someOptions } from '../../../support/builders/options.ts';
import { aNode, aPod, aSnapshot, constraints, labels, type Resources } from '../../../support/builders.ts';
import { aSubject } from './filters.ts';

const GIB = 2 ** 30;
const node = aNode('a', { labels: { pool: 'small' }, allocatable: { cpu: 4000, memory: 8 * GIB } });

/** The entries of a policy, as the planner has them. */
function entriesOf(...headroom: readonly object[]) {
  const head = { apiVersion: 'evenkeel.dev/v1alpha1', kind: 'RebalancePolicy', metadata: { name: 'default' } };
  const { value, problems } = validatePolicy({ ...head, spec: { thresholds: { headroom } } });
  expect(problems).toEqual([]);
  return resolveOptions(value.spec).thresholds.headroom;
}

function verdict(entry: object, requests: Resources, selector: Record<string, string> = {}) {
  const subject = aSubject({ requests, nodeSelector: labels(selector) });
  const beside = [aPod('beside', { nodeName: 'a', constraints: { requests: { cpu: 2000, memory: 4 * GIB } } })];
  return createHeadroom(entriesOf(entry), [node])?.refusalOf(subject, 0, freeCapacityOf(node, beside));
}

describe('headroom', () => {
  it('is nothing without entries', () => {
    expect(createHeadroom([], [node])).toBeUndefined();
  });

  it.each([
    [{ cpu: 1 }, { cpu: 1000 }, { cpu: 1001 }],
    [{ cpu: '500m' }, { cpu: 1500 }, { cpu: 1501 }],
    [{ cpu: '25%' }, { cpu: 1000 }, { cpu: 1001 }],
    [{ memory: '2Gi' }, { memory: 2 * GIB }, { memory: 2 * GIB + 1 }],
    [{ memory: '50%' }, { cpu: 2000 }, { memory: 1 }],
  ])('of %j is left free by %j, and not by %j', (entry, enough, short) => {
    expect(verdict(entry, enough)).toBeUndefined();
    expect(verdict(entry, short)).toMatchObject({ filter: 'Headroom' });
  });

  it('has words with its numbers', () => {
    const refusal = verdict({ cpu: '25%' }, { cpu: 1500 });
    expect(refusal).toEqual({ filter: 'Headroom', resource: 'cpu', need: 1500, free: 2000, headroom: 1000 });
    expect(refusal && describeRefusal(refusal)).toBe(
      'has 2000m cpu free of the 1500m of the pod and the 1000m that thresholds.headroom leaves',
    );
  });

  it('applies to the nodes that it selects, and not to pods that name them', () => {
    const small = { nodeSelector: { pool: 'small' }, cpu: 4 };
    expect(verdict({ nodeSelector: { pool: 'large' }, cpu: 4 }, { cpu: 1 })).toBeUndefined();
    expect(verdict(small, { cpu: 1 })).toBeDefined();
    expect(verdict(small, { cpu: 1 }, { pool: 'small' })).toBeUndefined();
    expect(verdict({ cpu: 4 }, { cpu: 1 }, { pool: 'small' })).toBeDefined();
  });

  it('counts required terms as names when each of them leads to the group alone', () => {
    const term = (...values: string[]): NodeSelectorTerm => ({
      expressions: [{ key: 'pool', operator: 'In', values }],
      fields: [],
    });
    const names = (...nodeAffinity: NodeSelectorTerm[]) =>
      namesGroup(constraints({ nodeAffinity }), labels({ pool: 'small' }));
    expect(names(term('small'))).toBe(true);
    expect(names(term('small'), term('small'))).toBe(true);
    expect(names(term('small'), term('large'))).toBe(false);
    expect(names(term('small', 'large'))).toBe(false);
    expect(names({ expressions: [], fields: [] })).toBe(false);
  });
});

/** Four pods of a core on the first of two nodes. */
function crowded() {
  const pods = ['p1', 'p2', 'p3', 'p4'].map((name) =>
    aPod(name, { nodeName: 'a', constraints: { requests: { cpu: 1000 } } }),
  );
  const nodes = [node, aNode('b', { allocatable: { cpu: 4000, memory: 8 * GIB } })];
  return { nodes, pods };
}

describe.each([
  ['RefineLB', {}],
  ['GreedyLB', { strategy: greedyLb() }],
])('a plan of %s', (_, fields) => {
  const movesWith = (headroom: readonly object[]) =>
    plan(
      aSnapshot({ ...crowded(), usage: undefined }),
      someOptions({
        ...fields,
        load: { source: 'Requests' },
        thresholds: { headroom: entriesOf(...headroom), minGain: 0, minImprovement: 0, minReduction: 0 },
      }),
    );

  it('fills its targets so far and no further, and says why others stay', () => {
    expect(movesWith([{ cpu: 1 }]).moves).toHaveLength(2);
    expect(movesWith([{ cpu: 3 }]).moves).toHaveLength(1);
    const none = movesWith([{ cpu: '76%' }]);
    expect(none.moves).toEqual([]);
    expect(none.rejections.reasons[0]?.message).toContain('Headroom');
  });
});
