import { describe, expect, it } from 'vitest';
import type { ClusterSnapshot } from '../../../src/model/snapshot.ts';
import { plan } from '../../../src/plan/planner.ts';
import { applyPlan } from '../../support/apply-plan.ts';
import { greedyLb, refineLb, someOptions } from '../../support/builders/options.ts';
import { aNode, aPod, aSnapshot } from '../../support/builders.ts';
import { createRandom } from '../../support/random.ts';

/**
 * Eight nodes of 4 cores, thirty deployments of four pods that request the same and use very different amounts, 55 % of
 * capacity in all; placed by count, as a scheduler does that looks at requests only.
 */
function demo(seed: number): ClusterSnapshot {
  const random = createRandom(seed);
  const nodes = Array.from({ length: 8 }, (_, index) => aNode(`node-${index}`));
  const counts = new Map(nodes.map(({ name }) => [name, 0]));
  const drafts = Array.from({ length: 30 }, (_, deployment) => {
    const usage = Math.min(6, Math.exp(0.9 * random.normal()));
    return Array.from({ length: 4 }, (__, replica) => ({
      name: `app-${deployment}-${replica}`,
      owner: `app-${deployment}`,
      usage,
    }));
  }).flat();
  const scale = (0.55 * 8 * 4000) / drafts.reduce((sum, { usage }) => sum + usage, 0);
  const pods = drafts.map(({ name, owner }) => {
    const fewest = Math.min(...counts.values());
    const open = [...counts].filter(([, count]) => count === fewest).map(([node]) => node);
    const nodeName = open[random.below(open.length)] ?? '';
    counts.set(nodeName, fewest + 1);
    return aPod(name, { owner, nodeName });
  });
  return aSnapshot({ nodes, pods, uses: Object.fromEntries(drafts.map(({ name, usage }) => [name, usage * scale])) });
}

const SNAPSHOTS = Array.from({ length: 200 }, (_, seed) => demo(seed));

describe.each([
  { name: 'RefineLB', strategy: refineLb(), meanFall: 0.85 },
  { name: 'GreedyLB', strategy: greedyLb(), meanFall: 0.93 },
])('the demo under $name with its defaults', ({ strategy, meanFall }) => {
  const options = someOptions({ strategy });
  const runs = SNAPSHOTS.map((snapshot) => ({ snapshot, found: plan(snapshot, options) })).filter(
    ({ found }) => (found.imbalance.before.cpu?.stddev ?? 0) >= 0.1,
  );

  it('takes at least three quarters off the standard deviation', () => {
    const falls = runs.map(
      ({ found: { imbalance } }) => 1 - (imbalance.planned.cpu?.stddev ?? 1) / (imbalance.before.cpu?.stddev ?? 1),
    );
    expect(runs.length).toBeGreaterThan(30);
    expect(Math.min(...falls)).toBeGreaterThanOrEqual(0.75);
    expect(falls.reduce((sum, fall) => sum + fall, 0) / falls.length).toBeGreaterThanOrEqual(meanFall);
  });

  it('needs no more than a pod in eight', () => {
    expect(Math.max(...runs.map(({ found }) => found.moves.length))).toBeLessThanOrEqual(15);
  });

  it('has nothing left to do afterwards', () => {
    for (const { snapshot, found } of runs) {
      expect(plan(applyPlan(snapshot, found), options).moves).toEqual([]);
    }
  });
});
