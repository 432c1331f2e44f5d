import { describe, expect, it } from 'vitest';
import type { ClusterSnapshot } from '../../../src/model/snapshot.ts';
import { plan } from '../../../src/plan/planner.ts';
import { applyPlan } from '../../support/apply-plan.ts';
import { greedyLb, refineLb, someOptions } from '../../support/builders/options.ts';
import { aNode, aPod, aSnapshot } from '../../support/builders.ts';
import { bestPossibleHighest, pictureOf, ROUNDING } from '../../support/oracle.ts';
import { createRandom, type Random } from '../../support/random.ts';

function pick<Item>(random: Random, items: readonly [Item, ...Item[]]): Item {
  return items[random.below(items.length)] ?? items[0];
}

/** Four nodes of different sizes with different floors, and seven pods of one size anywhere on them. */
function cluster(seed: number): ClusterSnapshot {
  const random = createRandom(seed);
  const nodes = ['a', 'b', 'c', 'd'].map((name) =>
    aNode(name, { allocatable: { cpu: pick(random, [2000, 4000, 4000, 8000]) } }),
  );
  const pods = Array.from({ length: 7 }, (_, index) =>
    aPod(`p${index}`, { nodeName: nodes[random.below(4)]?.name ?? '', constraints: { requests: {} } }),
  );
  const size = 200 + 100 * random.below(5);
  return aSnapshot({
    nodes,
    pods,
    uses: Object.fromEntries(pods.map(({ name }) => [name, size])),
    daemons: Object.fromEntries(nodes.map(({ name }) => [name, 100 * random.below(6)])),
  });
}

describe('on 1000 random clusters of 4 nodes and 7 pods of one size', () => {
  const clusters = Array.from({ length: 1000 }, (_, seed) => cluster(seed + 1));

  it.each([
    { name: 'RefineLB', strategy: refineLb({ overload: 1 }) },
    { name: 'RefineLB with its default overload', strategy: refineLb() },
    { name: 'GreedyLB', strategy: greedyLb({ tolerance: 0 }) },
    { name: 'GreedyLB with its default tolerance', strategy: greedyLb() },
  ])('$name brings the highest node as low as it can be in at least 95 %', ({ strategy }) => {
    const options = someOptions({
      strategy,
      thresholds: { trigger: 0, minGain: 0, minImprovement: 0, minReduction: 0 },
    });
    const optimal = clusters.filter((snapshot) => {
      const reached = pictureOf(applyPlan(snapshot, plan(snapshot, options)), options);
      return Math.max(...reached.loads.values()) <= bestPossibleHighest(snapshot, options) + ROUNDING;
    });
    expect(optimal.length).toBeGreaterThanOrEqual(950);
  });
});
