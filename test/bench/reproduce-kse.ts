import { simulate } from '../../src/simulate/simulate.ts';
import { KSE_CASES, KSE_VARIANTS, type KseCase, type KseVariant, kseScenario, nameOf } from '../support/kse.ts';
import { printTable } from '../support/print-table.ts';

/**
 * KSE's 32 scenarios with the default scheduler alone, both balancers as published, and ours, each in the mean over seeds. Run
 * with `npm run reproduce:kse`; ends with status 1 when a target is missed.
 */
const SEEDS = [1, 2, 3, 4, 5];

interface Figures {
  readonly ema: number;
  readonly moves: number;
  /** Requests that succeeded. */
  readonly availability: number;
}

interface Row {
  readonly each: KseCase;
  readonly of: Readonly<Record<KseVariant, Figures>>;
}

async function measure(each: KseCase): Promise<Row> {
  const results = (await Promise.all(SEEDS.map((seed) => simulate(kseScenario(each, seed))))).map(
    ({ variants }) => variants,
  );
  const figures = (place: number): Figures => {
    const own = results.flatMap((variants) => variants[place] ?? []);
    return {
      ema: mean(own.map(({ balance }) => balance[each.resource].ema)),
      moves: mean(own.map(({ moves }) => moves.transfers)),
      availability: mean(own.map(({ requests }) => requests.success)),
    };
  };
  return {
    each,
    of: { 'default scheduler': figures(0), GreedyLB: figures(1), RefineLB: figures(2), ours: figures(3) },
  };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function report(rows: readonly Row[]): boolean {
  printTable(
    ['scenario', ...KSE_VARIANTS.flatMap((name) => [`EMA % ${name}`, 'moves', 'available %'])],
    rows.map(({ each, of }) => [
      nameOf(each),
      ...KSE_VARIANTS.flatMap((name) => [
        (100 * of[name].ema).toFixed(2),
        of[name].moves.toFixed(1),
        (100 * of[name].availability).toFixed(3),
      ]),
    ]),
  );
  console.log('\nMeans:\n');
  printTable(
    ['variant', 'EMA %', 'moves', 'available %', 'least available %', 'best EMA in'],
    KSE_VARIANTS.map((name) => [
      name,
      (100 * mean(rows.map(({ of }) => of[name].ema))).toFixed(2),
      mean(rows.map(({ of }) => of[name].moves)).toFixed(2),
      (100 * mean(rows.map(({ of }) => of[name].availability))).toFixed(3),
      (100 * Math.min(...rows.map(({ of }) => of[name].availability))).toFixed(3),
      String(rows.filter((row) => isBest(row, name)).length),
    ]),
  );
  return judge(rows);
}

function isBest({ of }: Row, name: KseVariant): boolean {
  return KSE_VARIANTS.every((other) => of[name].ema <= of[other].ema);
}

function judge(rows: readonly Row[]): boolean {
  const moves = (name: KseVariant): number => mean(rows.map(({ of }) => of[name].moves));
  const claims = [
    [
      'ours is never worse in EMA than the default scheduler alone',
      rows.every(({ of }) => of.ours.ema <= of['default scheduler'].ema),
    ],
    ['ours has the best EMA of the four in at least 24 of 32', rows.filter((row) => isBest(row, 'ours')).length >= 24],
    ['ours makes no more moves than RefineLB in the mean', moves('ours') <= moves('RefineLB')],
    [
      'ours keeps at least 99.9 % of the requests available in every scenario',
      rows.every(({ of }) => of.ours.availability >= 0.999),
    ],
  ] as const;
  console.log('');
  for (const [claim, holds] of claims) {
    console.log(`${holds ? 'yes' : 'NO '}  ${claim}`);
  }
  return claims.every(([, holds]) => holds);
}

const rows: Row[] = [];
for (const each of KSE_CASES) {
  rows.push(await measure(each));
}
process.exitCode = report(rows) ? 0 : 1;
