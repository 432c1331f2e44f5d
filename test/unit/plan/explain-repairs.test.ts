import { describe, expect, it } from 'vitest';
import { seconds } from '../../../src/model/units.ts';
import { explainNode } from '../../../src/plan/explain/node.ts';
import { explainPod } from '../../../src/plan/explain/pod.ts';
import { nodeExplanationText, podExplanationText } from '../../../src/report/explanation-text.ts';
import { someOptions } from '../../support/builders/options.ts';
import { aTaint } from '../../support/builders/scheduling.ts';
import { aNode, aPod, aSnapshot, type PodFields } from '../../support/builders.ts';

const FAILED = {
  reasons: undefined,
  exitCodes: undefined,
  includingInit: false,
  minAge: seconds(0),
  excludedOwnerKinds: new Set<string>(),
};
const OPTIONS = someOptions({
  repair: { taints: { soft: false, includedTaints: undefined, excludedTaints: new Set() }, failed: FAILED },
});
const dead = (name: string, fields: PodFields = {}) =>
  aPod(name, { nodeName: 'a', phase: 'Failed', ready: false, reason: 'Evicted', ...fields });

/** Pods on a tainted node of a cluster without metrics: one can move, one keeps data there, one is large; two more have failed. */
const SNAPSHOT = aSnapshot({
  nodes: [aNode('a', { taints: [aTaint('old')], allocatable: { cpu: 9000 } }), aNode('b')],
  pods: [
    aPod('data', { nodeName: 'a', localStorage: true }),
    aPod('large', { nodeName: 'a', constraints: { requests: { cpu: 8000 } } }),
    aPod('other', { nodeName: 'b' }),
    aPod('small', { nodeName: 'a' }),
  ],
  failedPods: [dead('gone'), dead('standalone', { owner: undefined })],
  usage: undefined,
});
const TAINT = 'a has the taint old:NoSchedule, which the pod does not tolerate';

function podOf(name: string, options = OPTIONS) {
  const all = [...SNAPSHOT.pods, ...(SNAPSHOT.failedPods ?? [])];
  const found = explainPod(SNAPSHOT, options, all.find((pod) => pod.name === name)?.uid ?? '');
  expect(found).toBeDefined();
  return found as NonNullable<typeof found>;
}

describe('explain, where a policy repairs', () => {
  it('names the rule that a pod violates, and where it is moved, although no node takes part in balancing', () => {
    const found = podOf('small');
    expect(found.violations).toEqual([{ rule: 'Taints', detail: TAINT }]);
    expect(found).toMatchObject({ movable: true, protections: [], decision: { kind: 'Moves', to: 'b' } });
    expect(found.nodes.map(({ node, absent }) => [node, absent])).toEqual([
      ['b', undefined],
      ['a', undefined],
    ]);
    const text = podExplanationText(found, false);
    expect(text).toContain('In a plan made now it moves to b: a has the taint');
    expect(text).toMatch(/VIOLATES +DETAIL\nTaints +a has the taint old:NoSchedule/);
    expect(text).not.toContain('takes no part');
  });

  it('says why nothing can be done about a violation: what holds the pod, and what refuses it', () => {
    const data = podOf('data');
    expect(data).toMatchObject({ movable: false, decision: { kind: 'Stays', code: 'LocalStorage' } });
    expect(data.protections.map(({ code }) => code)).toEqual(['LocalStorage']);
    const large = podOf('large');
    expect(large.violations).toHaveLength(1);
    expect(large.decision).toMatchObject({ kind: 'Stays', code: 'NodeResourcesFit' });
    expect(podExplanationText(large, false)).toContain('fits on none of 1 other node: b has');
  });

  it('finds nothing wrong with pods that violate nothing, or where the policy repairs nothing', () => {
    expect(podOf('other').violations).toEqual([]);
    expect(podOf('small', someOptions()).violations).toEqual([]);
    expect(podOf('small', someOptions()).protections.map(({ code }) => code)).toEqual(['NodeNotParticipating']);
  });

  it('explains pods that have failed', () => {
    const gone = podOf('gone');
    expect(gone).toMatchObject({
      failed: true,
      movable: true,
      violations: [{ rule: 'Failed', detail: 'its phase is Failed (Evicted)' }],
      decision: { kind: 'Removed' },
      nodes: [],
    });
    expect(podExplanationText(gone, false)).toContain(
      'Pod shop/gone, of ReplicaSet web, has failed on a.\nIn a plan made now it is removed: its phase is Failed (Evicted).',
    );
    expect(podOf('standalone')).toMatchObject({ movable: false, decision: { kind: 'Stays', code: 'NoController' } });
    expect(podOf('gone', someOptions())).toMatchObject({ failed: true, decision: { kind: 'NotConsidered' } });
  });

  it('shows on a node which of its pods violate what, and that repairs move them', () => {
    const node = explainNode(SNAPSHOT, OPTIONS, 'a');
    expect(node).toMatchObject({ repaired: true });
    expect(node?.pods.map(({ pod, violations }) => [pod.name, ...violations.map(({ rule }) => rule)])).toEqual([
      ['data', 'Taints'],
      ['large', 'Taints'],
      ['small', 'Taints'],
      ['gone', 'Failed'],
      ['standalone', 'Failed'],
    ]);
    const text = node === undefined ? '' : nodeExplanationText(node, false);
    expect(text).toContain('Repairs move pods from it and to it.');
    expect(text).toMatch(/shop\/data +- +no +Taints +stays, LocalStorage: a has the taint/);
    expect(text).toMatch(/shop\/gone +- +yes +Failed +is removed/);
  });
});
