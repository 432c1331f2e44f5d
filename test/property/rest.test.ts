import { describe, expect, it } from 'vitest';
import type { ClusterSnapshot, UsageSample } from '../../src/model/snapshot.ts';
import { milliCpu } from '../../src/model/units.ts';
import { plan } from '../../src/plan/planner.ts';
import { applyPlan } from '../support/apply-plan.ts';
import { someOptions } from '../support/builders/options.ts';
import { generateSnapshot } from '../support/generate.ts';
import { createRandom } from '../support/random.ts';

/** Five of these in a row, at least, are to be without a move. */
const ROUNDS = 20;
/** Pods of others that use half a point of a node each; each round some other ones run, elsewhere. */
const VISITORS = 40;
const VISITOR_USAGE = 20;

/** The same usage with other visitors. `visitors` are the nodes that had one; it is changed. */
function visited(snapshot: ClusterSnapshot, visitors: string[], below: (bound: number) => number): ClusterSnapshot {
  const nodes = new Map(snapshot.usage?.nodes);
  const add = (name: string, cpu: number): void => {
    const sample = nodes.get(name) as UsageSample;
    nodes.set(name, { ...sample, cpu: milliCpu(sample.cpu + cpu) });
  };
  for (let place = 0; place < VISITORS; place += 1) {
    const left = visitors[place];
    const name = snapshot.nodes[below(snapshot.nodes.length)]?.name ?? '';
    if (left !== undefined) {
      add(left, -VISITOR_USAGE);
    }
    add(name, VISITOR_USAGE);
    visitors[place] = name;
  }
  return { ...snapshot, usage: { nodes, pods: snapshot.usage?.pods ?? new Map() } };
}

describe('a cluster where pods come and go', () => {
  it.each([
    { nodes: 50, podsPerNode: 5 },
    { nodes: 200, podsPerNode: 3 },
    { nodes: 1000, podsPerNode: 3 },
    { nodes: 1000, podsPerNode: 5 },
  ])('comes to rest: $nodes nodes, $podsPerNode pods on each, some too large to even out', ({ nodes, podsPerNode }) => {
    const options = someOptions({ thresholds: { trigger: 0.05 } });
    const { below } = createRandom(3);
    const visitors: string[] = [];
    const load = podsPerNode * 0.075;
    let state: ClusterSnapshot = {
      ...generateSnapshot({ seed: 17, nodes, podsPerNode, replicas: 10, sigma: 0.5, load, pool: 0 }),
      pdbs: [],
    };
    const moves = Array.from({ length: ROUNDS }, () => {
      state = visited(state, visitors, below);
      const found = plan(state, options);
      state = applyPlan(state, found);
      return found.moves.length;
    });
    expect(moves[0]).toBeGreaterThan(0);
    expect(moves.join(' ')).toMatch(/ 0 0 0 0 0( |$)/);
  });
});
