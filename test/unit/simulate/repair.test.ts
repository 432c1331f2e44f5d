import { describe, expect, it } from 'vitest';
import { seconds } from '../../../src/model/units.ts';
import { simulationTable } from '../../../src/report/simulation-text.ts';
import type { Scenario } from '../../../src/simulate/scenario.ts';
import { simulate } from '../../../src/simulate/simulate.ts';
import { aPolicy } from '../../support/builders/policy.ts';
import { ALONE, aScenario, aSimulatedNode, aSimulatedWorkload } from '../../support/scenarios.ts';

const TAINT = { key: 'maintenance', value: '', effect: 'NoSchedule' } as const;

const repairing = aPolicy('repairing', {
  strategy: { type: 'None' },
  interval: '1m',
  repair: { taints: {}, duplicates: true, nodeAffinity: 'Required' },
  budgets: [{ maxMoves: 100, perOwner: '100%' }],
  protections: { minReplicas: 1, minPodAge: '0s', stabilization: '0s', cooldown: '0s' },
});

/** Two pods of a workload on each of three nodes; `a` gets a taint after five minutes, and may lose it again. */
const scenario = (fields: Partial<Scenario> = {}): Scenario =>
  aScenario({
    duration: seconds(1800),
    nodes: ['a', 'b', 'c'].map((name) => aSimulatedNode(name)),
    workloads: ['x', 'y', 'z'].map((name) => aSimulatedWorkload(name, { replicas: 2 })),
    incidents: [{ at: 300, kind: 'Taint', node: 'a', taint: TAINT }],
    variants: [ALONE, { name: 'repairing', scheduler: 'None', policies: [repairing] }],
    ...fields,
  });

describe('a node that is tainted in mid-scenario', () => {
  it('is left by its pods where a policy repairs that, and what is left is reported for every variant', async () => {
    const result = await simulate(scenario());
    const [alone, repaired] = result.variants;
    const left = (rule: string, variant = alone) => variant?.violations.find((each) => each.rule === rule)?.pods;
    expect(left('Taints')).toBeGreaterThan(0);
    expect(repaired?.violations).toEqual([
      { rule: 'Taints', pods: 0 },
      { rule: 'NodeAffinity', pods: 0 },
      { rule: 'Duplicates', pods: 0 },
    ]);
    expect(repaired?.moves.transfers).toBe(left('Taints'));
    expect(simulationTable(result)).toMatch(
      /\nViolations left .*\n\nVARIANT +Taints +NodeAffinity +Duplicates\nalone +\d +0 +0\nrepairing +0 +0 +0\n/,
    );
  });

  it('is a node like any other when the taint is gone', async () => {
    const back = [
      { at: 330, kind: 'Taint', node: 'a', taint: TAINT },
      { at: 331, kind: 'Untaint', node: 'a', taint: TAINT },
    ] as const;
    const { variants } = await simulate(scenario({ incidents: back }));
    expect(variants.map(({ moves, violations }) => [moves.transfers, violations[0]])).toEqual([
      [0, { rule: 'Taints', pods: 0 }],
      [0, { rule: 'Taints', pods: 0 }],
    ]);
  });

  it('is not spoken of where no policy repairs anything', async () => {
    const { variants } = await simulate(scenario({ variants: [ALONE] }));
    expect(variants[0]?.violations).toEqual([]);
    expect(simulationTable(await simulate(scenario({ variants: [ALONE] })))).not.toContain('Violations');
  });
});
