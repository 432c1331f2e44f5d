import { greedyLb, refineLb } from '../support/builders/options.ts';
import { printTable } from '../support/print-table.ts';
import { QUALITY_CLUSTERS, type Quality, qualityCluster, qualityOf, stddevBound } from '../support/quality-clusters.ts';

/** How good plans are, on seeded random clusters. Run with `npm run bench:quality`; the tests hold what the table shows. */
const FORMS = {
  'GreedyLB published': greedyLb({ minimizeMoves: false }),
  'RefineLB published': refineLb({ refinements: 'None' }),
  RefineLB: refineLb(),
  GreedyLB: greedyLb(),
} as const;

type Form = keyof typeof FORMS;
const NAMES = Object.keys(FORMS).filter((name): name is Form => name in FORMS);

interface Row {
  readonly seed: number;
  readonly nodes: number;
  readonly pods: number;
  readonly bound: number;
  readonly of: Readonly<Record<Form, Quality>>;
}

function measure(seed: number): Row {
  const cluster = qualityCluster(seed);
  const of = {
    'GreedyLB published': qualityOf(cluster, FORMS['GreedyLB published']),
    'RefineLB published': qualityOf(cluster, FORMS['RefineLB published']),
    RefineLB: qualityOf(cluster, FORMS.RefineLB),
    GreedyLB: qualityOf(cluster, FORMS.GreedyLB),
  };
  return { seed, nodes: cluster.nodes.length, pods: cluster.pods.length, bound: stddevBound(cluster), of };
}

function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function main(): void {
  const rows = Array.from({ length: QUALITY_CLUSTERS }, (_, index) => measure(index + 1));
  console.log('Final standard deviation of cpu load, and moves:\n');
  printTable(
    ['seed', 'nodes', 'pods', 'bound', ...NAMES.flatMap((name) => [name, 'moves'])],
    rows.map(({ seed, nodes, pods, bound, of }) => [
      String(seed),
      String(nodes),
      String(pods),
      bound.toFixed(4),
      ...NAMES.flatMap((name) => [of[name].stddev.toFixed(4), String(of[name].moves)]),
    ]),
  );
  console.log('\nOver all clusters:\n');
  printTable(
    [
      'form',
      'mean stddev',
      'moves',
      'worse than RefineLB published',
      'more moves than GreedyLB published',
      'median moves / RefineLB published',
      'expected hit ratio',
    ],
    NAMES.map((name) => {
      const worse = rows.filter(({ of }) => of[name].stddev > of['RefineLB published'].stddev + 1e-9);
      const more = rows.filter(({ of }) => of[name].moves > of['GreedyLB published'].moves);
      const moved = rows.filter(({ of }) => of['RefineLB published'].moves > 0);
      const ratio = median(moved.map(({ of }) => of[name].moves / of['RefineLB published'].moves));
      const mean = rows.reduce((sum, { of }) => sum + of[name].stddev, 0) / rows.length;
      const moves = rows.reduce((sum, { of }) => sum + of[name].moves, 0);
      const hits = rows.reduce((sum, { of }) => sum + (of[name].hitRatio ?? 0) * of[name].moves, 0);
      const figures = [mean.toFixed(4), String(moves), String(worse.length), String(more.length), ratio.toFixed(2)];
      return [name, ...figures, (hits / moves).toFixed(3)];
    }),
  );
}

main();
