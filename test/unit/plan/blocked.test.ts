import { describe, expect, it } from 'vitest';
import { epochSeconds, seconds } from '../../../src/model/units.ts';
import type { PlanOutcome } from '../../../src/plan/plan.ts';
import { plan } from '../../../src/plan/planner.ts';
import { type OptionFields, someOptions } from '../../support/builders/options.ts';
import { aNode, aPod, aSnapshot, NOW, type PodFields } from '../../support/builders.ts';

/** What becomes of pods of 400 millicores on one of two nodes of 4000, by their ages in seconds, where pods are young for 300. */
function outcome(ages: readonly number[], fields: PodFields = {}, use = 400, options: OptionFields = {}): PlanOutcome {
  const pods = ages.map((age, index) =>
    aPod(`p${index}`, { nodeName: 'a', createdAt: epochSeconds(NOW - age), ...fields }),
  );
  const uses = Object.fromEntries(pods.map(({ name }) => [name, use]));
  const protections = { minPodAge: seconds(300), stabilization: seconds(0) };
  return plan(aSnapshot({ nodes: [aNode('a'), aNode('b')], pods, uses }), someOptions({ ...options, protections }))
    .outcome;
}

describe('a cluster above the trigger', () => {
  it('is Blocked while all pods are too young, until the oldest of them is not', () => {
    expect(outcome([10, 20, 30, 120])).toEqual({
      kind: 'Blocked',
      message: 'all 4 pods in scope are protected by minPodAge; the earliest is free at 12:03 UTC',
    });
  });

  it('has a plan as soon as one pod may move', () => {
    expect(outcome([10, 20, 30, 301]).kind).toBe('Moves');
  });

  it('is given no time for what does not end by itself', () => {
    expect(outcome([1_000, 1_000], { localStorage: true })).toEqual({
      kind: 'Blocked',
      message: 'all 2 pods in scope are protected by localStorage',
    });
  });

  const local: PodFields = { localStorage: true };
  const critical: PodFields = { priority: 2_000_000_000 };

  it.each<[string, readonly PodFields[]]>([
    ['CriticalPriority 1, localStorage 1', [local, critical]],
    ['CriticalPriority 1, localStorage 1', [critical, local]],
    ['localStorage 2, CriticalPriority 1', [local, critical, local]],
  ])('names what protects the most pods first, then in the order of names: %s', (expected, protectedPods) => {
    const pods = protectedPods.map((fields, index) =>
      aPod(`p${index}`, { nodeName: 'a', createdAt: epochSeconds(NOW - 1_000), ...fields }),
    );
    const uses = Object.fromEntries(pods.map(({ name }) => [name, 400]));
    const { outcome: found } = plan(aSnapshot({ nodes: [aNode('a'), aNode('b')], pods, uses }), someOptions({}));
    expect(found).toEqual({ kind: 'Blocked', message: `no pod may be moved: ${expected}` });
  });

  it('is Blocked where the pods that may move gain too little, and large ones may not for now', () => {
    const young = outcome([10, 1_000], {}, 1_000, { thresholds: { minGain: 0.26 } });
    expect(young.kind).toBe('NoBeneficialMove');
    const large = outcome([10, 1_000], {}, 1_800, { thresholds: { minGain: 0.2, minImprovement: 0.9 } });
    expect(large).toEqual({
      kind: 'Blocked',
      message: expect.stringMatching(
        /; on a 1 pod is protected for now: minPodAge 1; the earliest is free at 12:05 UTC$/,
      ),
    });
  });
});
