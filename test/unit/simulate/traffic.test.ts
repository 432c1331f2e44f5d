import { describe, expect, it } from 'vitest';
import type { AppGraphInfo } from '../../../src/model/app-graph.ts';
import { seconds } from '../../../src/model/units.ts';
import { simulationTable } from '../../../src/report/simulation-text.ts';
import type { Scenario, ScenarioTraffic } from '../../../src/simulate/scenario.ts';
import { simulate } from '../../../src/simulate/simulate.ts';
import { aPolicy } from '../../support/builders/policy.ts';
import { ALONE, aScenario, aSimulatedNode, aSimulatedWorkload } from '../../support/scenarios.ts';

const ZONE = 'topology.kubernetes.io/zone';
const MEGABIT = 1e6;

const together = aPolicy('together', {
  strategy: { type: 'TrafficAware' },
  load: { source: 'Requests' },
  interval: '1m',
  budgets: [{ maxMoves: 100, perOwner: '100%' }],
  protections: { minReplicas: 1, minPodAge: '0s', stabilization: '0s', cooldown: '0s' },
});

const member = (name: string) => ({ name, workload: { kind: 'ReplicaSet', name } });

function traffic(fields: Partial<AppGraphInfo> = {}, links: ScenarioTraffic['links'] = []): ScenarioTraffic {
  const edges = [{ from: 'web', to: 'db', bandwidth: 40 * MEGABIT }];
  const members = [member('web'), member('db')];
  const graph = { namespace: 'default', name: 'shop', uid: 'shop', generation: 1, members, edges, ...fields };
  return { graphs: [graph], domain: ZONE, links };
}

/** Two pods of web, which the scheduler puts on a node each, and one of db, on nodes in two zones. */
const scenario = (fields: Partial<Scenario> = {}): Scenario =>
  aScenario({
    duration: seconds(1800),
    nodes: ['a', 'b'].map((zone) => aSimulatedNode(zone, {}, { [ZONE]: zone })),
    workloads: [aSimulatedWorkload('web', { replicas: 2 }), aSimulatedWorkload('db', { replicas: 1 })],
    traffic: traffic(),
    ...fields,
  });

describe('traffic between zones', () => {
  it('is what pods in two zones say, shared evenly by pairs, as long as both serve', async () => {
    const [alone] = (await simulate(scenario())).variants;
    // Starts take 10 s, of which the first half window of 7.5 s sees nothing.
    expect(alone?.traffic).toEqual({
      domain: ZONE,
      mean: expect.closeTo((20 * MEGABIT * (1800 - 7.5 - 7.5)) / (1800 - 7.5), -3),
      max: 20 * MEGABIT,
      end: 20 * MEGABIT,
      overloaded: 0,
    });
  });

  it('falls where a policy brings applications together', async () => {
    const variants = [ALONE, { name: 'together', scheduler: 'None', policies: [together] }] as const;
    const result = await simulate(scenario({ variants }));
    const [alone, moved] = result.variants;
    expect(moved?.moves.transfers).toBe(1);
    expect(moved?.traffic).toMatchObject({ max: 20 * MEGABIT, end: 0 });
    expect(moved?.traffic?.mean).toBeLessThan((alone?.traffic?.mean ?? 0) / 2);
    expect(simulationTable(result)).toMatch(
      /\nTraffic between zones\n\nVARIANT +MEAN +MAX +AT THE END +OVER CAPACITY \(S\)\nalone +[\d.]+ Mb\/s +20 Mb\/s +20 Mb\/s +0\n/,
    );
  });

  it('counts the time in which a link carries more than its capacity', async () => {
    const narrow = traffic({}, [{ between: ['b', 'a'], capacity: 19 * MEGABIT }]);
    const [alone] = (await simulate(scenario({ traffic: narrow }))).variants;
    expect(alone?.traffic?.overloaded).toBe(1785 - 7.5 + 7.5);
    const wide = traffic({}, [{ between: ['b', 'a'], capacity: 20 * MEGABIT }]);
    expect((await simulate(scenario({ traffic: wide }))).variants[0]?.traffic?.overloaded).toBe(0);
  });

  it('is not spoken of without AppGraphs', async () => {
    const result = await simulate(scenario({ traffic: undefined }));
    expect(result.variants[0]?.traffic).toBeUndefined();
    expect(simulationTable(result)).not.toContain('Traffic');
  });
});
