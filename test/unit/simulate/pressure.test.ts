import { describe, expect, it } from 'vitest';
import { seconds } from '../../../src/model/units.ts';
import type { VariantResult } from '../../../src/report/simulation-result.ts';
import type { Scenario, Variant } from '../../../src/simulate/scenario.ts';
import { simulate } from '../../../src/simulate/simulate.ts';
import { constant, steps, type Trace } from '../../../src/simulate/trace.ts';
import { aPolicy } from '../../support/builders/policy.ts';
import { aServiceClass } from '../../support/builders/service-levels.ts';
import { ALONE, aScenario, aSimulatedNode, aSimulatedWorkload } from '../../support/scenarios.ts';

const SLO = 0.9;
const HOUR = 3600;

function byQosDriven(name: string, qosDriven: object): Variant {
  const spec = {
    mode: 'Automatic',
    interval: '30s',
    strategy: { type: 'QoSDriven', qosDriven },
    steering: { mode: 'Gate' },
    protections: { minReplicas: 1 },
  };
  return { name, scheduler: 'None', policies: [aPolicy(name, spec)] };
}

/** 200 millicores, and 1100 from the tenth minute on. */
const RISING = steps([
  { at: 0, value: 200 },
  { at: 600, value: 1100 },
]);

/**
 * For an hour, three requests on a node of two CPU, which come to want 2.3 CPU together, while a node that joined later idles.
 */
function scenario(variants: readonly Variant[]): Scenario {
  const labels = { 'evenkeel.dev/service-class': 'gold' };
  const pod = { schedulingGates: [{ name: 'evenkeel.dev/qos' }] };
  const request = (name: string, cpu: Trace) =>
    aSimulatedWorkload(name, { labels, pod, usage: [{ cpu, memory: constant(0) }] });
  return aScenario({
    duration: seconds(HOUR),
    nodes: [aSimulatedNode('a')],
    incidents: [{ at: 300, kind: 'NodeJoins', node: aSimulatedNode('b') }],
    workloads: [request('hot-1', RISING), request('hot-2', RISING), request('cool', constant(100))],
    classes: [aServiceClass({ name: 'gold', slo: SLO })],
    starvation: true,
    variants,
  });
}

describe('a node whose pods come to want more than it has', async () => {
  const { variants } = await simulate(
    scenario([ALONE, byQosDriven('published', { refinements: 'None' }), byQosDriven('ours', {})]),
  );
  const [alone, published, ours] = variants as [VariantResult, VariantResult, VariantResult];
  const least = ({ classes }: VariantResult) => classes[0]?.least ?? 0;

  it('makes them miss their SLO when nobody moves one of them', () => {
    for (const variant of [alone, published]) {
      expect(least(variant)).toBeLessThan(0.5);
      expect(variant.moves.transfers).toBe(0);
    }
  });

  it('is relieved by one move under QoSDriven, so that nobody misses it', () => {
    expect(ours.moves).toMatchObject({ transfers: 1, preemptions: 0 });
    expect(ours.classes[0]?.least).toBeGreaterThanOrEqual(SLO);
  });
});
