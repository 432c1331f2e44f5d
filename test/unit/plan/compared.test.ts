import { describe, expect, it } from 'vitest';
import { greedyLb, refineLb } from '../../support/builders/options.ts';
import { QUALITY_CLUSTERS, qualityCluster, qualityOf, stddevBound } from '../../support/quality-clusters.ts';

/** What `npm run bench:quality` shows as a table. */
describe('on seeded random clusters of 5 to 50 nodes', () => {
  const results = Array.from({ length: QUALITY_CLUSTERS }, (_, index) => {
    const cluster = qualityCluster(index + 1);
    return {
      bound: stddevBound(cluster),
      publishedGreedy: qualityOf(cluster, greedyLb({ minimizeMoves: false })),
      publishedRefine: qualityOf(cluster, refineLb({ refinements: 'None' })),
      refine: qualityOf(cluster, refineLb()),
      greedy: qualityOf(cluster, greedyLb()),
    };
  });

  it.each(['refine', 'greedy'] as const)('%s never ends less balanced than RefineLB as published', (form) => {
    expect(results.filter((each) => each[form].stddev > each.publishedRefine.stddev + 1e-9)).toEqual([]);
  });

  it.each(['refine', 'greedy'] as const)('%s never moves more pods than GreedyLB as published', (form) => {
    expect(results.filter((each) => each[form].moves > each.publishedGreedy.moves)).toEqual([]);
  });

  it('RefineLB moves in the median at most 1.2 times as many pods as RefineLB as published', () => {
    const ratios = results
      .filter(({ publishedRefine }) => publishedRefine.moves > 0)
      .map(({ refine, publishedRefine }) => refine.moves / publishedRefine.moves)
      .sort((left, right) => left - right);
    expect(ratios.length).toBeGreaterThan(90);
    expect(ratios[Math.floor(ratios.length / 2)]).toBeLessThanOrEqual(1.2);
  });

  it('nothing ends better than the bound allows', () => {
    const forms = ['publishedGreedy', 'publishedRefine', 'refine', 'greedy'] as const;
    expect(results.filter((each) => forms.some((form) => each[form].stddev < each.bound - 1e-9))).toEqual([]);
  });
});
