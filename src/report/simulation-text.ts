import { bitRate } from '../model/bandwidth.ts';
import { escapeMarkdown, escapeText } from '../model/escape.ts';
import { domainsText } from './plan-traffic.ts';
import type { Balance, ClassResult, SimulationResult, VariantResult } from './simulation-result.ts';
import { renderMarkdownTable, renderTable } from './table.ts';

/** A table of a report. */
export interface ReportTable {
  readonly title: string;
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** Columns that hold words; all others are numbers. */
const WORDS: ReadonlySet<string> = new Set(['VARIANT', 'CLASS', 'CONTENTION']);

/** What the simulation came to, for a terminal. */
export function simulationTable(result: SimulationResult): string {
  const sections = tablesOf(result).map(({ title, header, rows }) => {
    const numbers = new Set(header.filter((name) => !WORDS.has(name)));
    return `${title}\n\n${renderTable(header, rows, numbers)}`;
  });
  return `${[escapeText(headline(result)), ...sections].join('\n\n')}\n`;
}

/** The same for a pull request or a wiki. */
export function simulationMarkdown(result: SimulationResult): string {
  const sections = tablesOf(result).map(
    ({ title, header, rows }) => `### ${title}\n\n${renderMarkdownTable(header, rows)}`,
  );
  return `${[`## Simulation of ${escapeMarkdown(result.scenario)}`, escapeMarkdown(headline(result)), ...sections].join('\n\n')}\n`;
}

/** `shop: 4 nodes and 20 workloads over 10 min, seed 1.` */
export function headline({ scenario, nodes, workloads, duration, seed }: SimulationResult): string {
  return `${scenario}: ${nodes} nodes and ${workloads} workloads over ${minutes(duration)}, seed ${seed}.`;
}

/** All tables that have something to say. */
export function tablesOf(result: SimulationResult): readonly ReportTable[] {
  const { variants } = result;
  const tables: readonly ReportTable[] = [
    { title: 'Balance (time averages, % of node capacity)', ...balanceTable(variants) },
    { title: 'Moves and requests', ...moveTable(variants) },
    { title: 'Violations left (pods at the end, by what policies repair)', ...violationTable(variants) },
    { title: `Traffic between ${domainsText(variants[0]?.traffic?.domain ?? '')}`, ...trafficTable(variants) },
    { title: 'Service by class (availability since admission, %)', ...classTable(variants) },
    { title: 'Service by window', ...windowTable(result) },
    { title: 'Waiting and Jobs (s)', ...waitTable(variants) },
  ];
  return tables.filter(({ rows }) => rows.length > 0);
}

type Content = Omit<ReportTable, 'title'>;

function balanceTable(variants: readonly VariantResult[]): Content {
  const cells = ({ mean, ema, stddev, max }: Balance): readonly string[] =>
    [mean, ema, stddev, max].map((value) => percentage(value));
  return {
    header: ['VARIANT', 'CPU MEAN', 'CPU EMA', 'CPU STDDEV', 'CPU MAX', 'MEM MEAN', 'MEM EMA', 'MEM STDDEV', 'MEM MAX'],
    rows: variants.map(({ name, balance }) => [name, ...cells(balance.cpu), ...cells(balance.memory)]),
  };
}

function moveTable(variants: readonly VariantResult[]): Content {
  return {
    header: [
      'VARIANT',
      'MOVES',
      'PREEMPTIONS',
      'MEM EVICTIONS',
      'RUNS',
      'PLANS',
      'MOVES/RUN',
      'REQUESTS',
      'FAILED',
      'SUCCESS %',
    ],
    rows: variants.map(({ name, moves, requests }) => [
      name,
      String(moves.transfers),
      String(moves.preemptions),
      String(moves.memoryEvictions),
      String(moves.runs),
      String(moves.plans),
      moves.perRun.toFixed(2),
      requests.total.toFixed(0),
      requests.failed.toFixed(0),
      requests.total === 0 ? '-' : percentage(requests.success, 3),
    ]),
  };
}

/** A column for each rule: every variant is judged by the same ones. */
function violationTable(variants: readonly VariantResult[]): Content {
  const rules = variants[0]?.violations.map(({ rule }) => rule) ?? [];
  const rows = variants.map(({ name, violations }) => [name, ...violations.map(({ pods }) => String(pods))]);
  return { header: ['VARIANT', ...rules], rows: rules.length === 0 ? [] : rows };
}

function trafficTable(variants: readonly VariantResult[]): Content {
  return {
    header: ['VARIANT', 'MEAN', 'MAX', 'AT THE END', 'OVER CAPACITY (S)'],
    rows: variants.flatMap(({ name, traffic }) =>
      traffic === undefined
        ? []
        : [[name, ...[traffic.mean, traffic.max, traffic.end].map(bitRate), traffic.overloaded.toFixed(0)]],
    ),
  };
}

function classTable(variants: readonly VariantResult[]): Content {
  const row = (variant: string, each: ClassResult): readonly string[] => [
    variant,
    each.name,
    percentage(each.slo),
    String(each.workloads),
    percentage(each.mean),
    percentage(each.least),
    percentage(each.fulfilled),
    percentage(each.deficit),
    each.gini.toFixed(3),
    each.penalty.toFixed(0),
  ];
  return {
    header: ['VARIANT', 'CLASS', 'SLO', 'WORKLOADS', 'MEAN', 'LEAST', 'FULFILLED', 'DEFICIT', 'GINI', 'PENALTY'],
    rows: variants.flatMap(({ name, classes }) => classes.map((each) => row(name, each))),
  };
}

function windowTable({ variants, contention }: SimulationResult): Content {
  return {
    header: ['VARIANT', 'CLASS', 'FROM', 'TO', 'MEAN', 'LEAST', 'FULFILLED', 'GINI', 'CONTENTION'],
    rows: variants.flatMap(({ name, windows }) =>
      windows.flatMap(({ from, to, classes }, place) =>
        classes.map((each) => [
          name,
          each.name,
          String(from),
          String(to),
          percentage(each.mean),
          percentage(each.least),
          percentage(each.fulfilled),
          each.gini.toFixed(3),
          contention[place] ?? '-',
        ]),
      ),
    ),
  };
}

function waitTable(variants: readonly VariantResult[]): Content {
  const cell = (value: number | undefined): string => value?.toFixed(2) ?? '-';
  return {
    header: ['VARIANT', 'WAITING', 'NEVER SERVED', 'JOBS DONE', 'MAKESPAN', 'SLOWDOWN'],
    rows: variants.map(({ name, waits }) => [
      name,
      cell(waits.waiting),
      String(waits.neverServed),
      String(waits.finished),
      cell(waits.makespan),
      cell(waits.slowdown),
    ]),
  };
}

function percentage(fraction: number, digits = 2): string {
  return (100 * fraction).toFixed(digits);
}

function minutes(duration: number): string {
  return duration < 120 ? `${duration} s` : `${Number((duration / 60).toFixed(2))} min`;
}
