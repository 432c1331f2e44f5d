import { describe, expect, it } from 'vitest';
import type { ClusterSnapshot } from '../../../src/model/snapshot.ts';
import type { Plan } from '../../../src/plan/plan.ts';
import { plan } from '../../../src/plan/planner.ts';
import { resolveOptions } from '../../../src/plan/resolve-options.ts';
import { aPolicy } from '../../support/builders/policy.ts';
import { aNode, aPod, aSnapshot, constraints, type Resources } from '../../support/builders.ts';

const GPU = 'example.com/gpu';

/** `count` pods on node a with these requests, next to an empty node b. */
function lopsided(count: number, requests: Resources, allocatable: Resources & { pods?: number }): ClusterSnapshot {
  const pods = Array.from({ length: count }, (_, index) =>
    aPod(`p${index}`, { nodeName: 'a', constraints: constraints({ requests }) }),
  );
  const nodes = ['a', 'b'].map((name) => aNode(name, { allocatable }));
  return aSnapshot({ nodes, pods });
}

function planFor(snapshot: ClusterSnapshot, names: readonly string[], load: object = {}): Plan {
  const spec = { budgets: [{ maxMoves: 100 }], load: { resources: names.map((name) => ({ name })), ...load } };
  return plan(snapshot, resolveOptions(aPolicy('even', spec).spec));
}

describe('a resource that is not measured', () => {
  it('counts by what pods request of it, without metrics', () => {
    const { imbalance, moves } = planFor(lopsided(4, { extended: { [GPU]: 1 } }, { extended: { [GPU]: 8 } }), [GPU]);
    expect(imbalance.before[GPU]).toMatchObject({ mean: 0.25, max: 0.5, range: 0.5 });
    expect(imbalance.planned[GPU]).toMatchObject({ range: 0 });
    expect(moves).toHaveLength(2);
  });

  it('leaves nodes out that do not offer it', () => {
    const snapshot = lopsided(4, { extended: { [GPU]: 1 } }, { extended: { [GPU]: 8 } });
    const { outcome } = planFor({ ...snapshot, nodes: [...snapshot.nodes.slice(0, 1), aNode('c')] }, [GPU]);
    expect(outcome).toEqual({
      kind: 'NothingToBalance',
      message: 'only one node takes part, of 2 in the cluster: a plan needs two',
    });
  });

  it('is the number of pods, of the slots for them', () => {
    const { imbalance, moves } = planFor(lopsided(6, {}, { pods: 10 }), ['pods']);
    expect(imbalance.before['pods']).toMatchObject({ mean: 0.3, max: 0.6 });
    expect(moves).toHaveLength(3);
  });

  it('is ephemeral storage, as the scheduler counts it', () => {
    const { imbalance } = planFor(lopsided(2, { ephemeralStorage: 10 }, { ephemeralStorage: 100 }), [
      'ephemeral-storage',
    ]);
    expect(imbalance.before['ephemeral-storage']).toMatchObject({ max: 0.2 });
  });

  it('goes with one that is measured, and metrics are needed then', () => {
    const snapshot = lopsided(6, { cpu: 100 }, { cpu: 4000, pods: 10 });
    expect(planFor({ ...snapshot, usage: undefined }, ['cpu', 'pods']).outcome.kind).toBe('MetricsUnavailable');
    const uses = Object.fromEntries(snapshot.pods.map(({ name }) => [name, 600]));
    const measured = aSnapshot({ nodes: [...snapshot.nodes], pods: [...snapshot.pods], uses });
    const { imbalance, spread } = planFor(measured, ['cpu', 'pods'], { aggregate: 'Dominant' });
    expect(Object.keys(imbalance.before)).toEqual(['cpu', 'pods']);
    expect(imbalance.before).toMatchObject({ cpu: { max: 0.9 }, pods: { max: 0.6 } });
    expect(spread.before).toBe(0.9);
    expect(spread.planned).toBe(0);
  });
});
