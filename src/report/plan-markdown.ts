import type { RebalancePlan } from '../api/v1alpha1/rebalance-plan.ts';
import { escapeMarkdown } from '../model/escape.ts';
import { count, percent } from '../plan/format.ts';
import type { Check } from './checks.ts';
import { resourcesIn } from './imbalance.ts';
import { countRows, messageParts, moveRows, movesOf, nodeRows, unsteered } from './plan-text.ts';
import { applicationRows, domainRows, domainsText } from './plan-traffic.ts';
import type { Table } from './table.ts';
import { renderMarkdownTable } from './table.ts';

/** Moves that are shown without being asked for. */
const FEW_MOVES = 10;

/** The plan for a pull request or a wiki: what it comes to first, details folded away where there are many. */
export function planMarkdown(plan: RebalancePlan, checks: readonly Check[] = []): string {
  const sections = [
    `## Rebalancing plan of ${escapeMarkdown(plan.spec.policy.name)}`,
    summary(plan, checks),
    `${plan.spec.strategy}: ${messageOf(plan)}`,
    ...checkTable(checks),
    ...imbalanceTable(plan),
    ...nodes(plan),
    ...traffic(plan),
    ...moves(plan),
    ...stays(plan),
  ];
  return `${sections.join('\n\n')}\n`;
}

/** The headline, and a list of what comes after it. */
function messageOf(plan: RebalancePlan): string {
  const [headline, ...notes] = messageParts(plan.spec.message).map(escapeMarkdown);
  return [`${headline}.`, ...(notes.length === 0 ? [] : ['']), ...notes.map((note) => `- ${note}`)].join('\n');
}

/** `**2 moves** on the snapshot of 2026-01-01T12:00:00Z; **1 of 3 checks did not pass**.` */
function summary(plan: RebalancePlan, checks: readonly Check[]): string {
  const failed = checks.filter(({ result }) => result !== 'Passed').length;
  const verdict =
    checks.length === 0
      ? ''
      : failed === 0
        ? `; ${count(checks.length, 'check')} passed`
        : `; **${failed} of ${count(checks.length, 'check')} did not pass**`;
  const moved = plan.spec.moves.length === 0 ? '**No moves**' : `**${movesOf(plan)}**`;
  return `${moved} on the snapshot of ${plan.spec.takenAt}${verdict}.`;
}

const CHECK_RESULTS = { Passed: '✅ passed', Failed: '❌ failed', Unknown: '❌ unknown' } as const;

function checkTable(checks: readonly Check[]): readonly string[] {
  const rows = checks.map(({ name, result, message }) => [name, CHECK_RESULTS[result], message]);
  return rows.length === 0 ? [] : [renderMarkdownTable(['Check', 'Result', 'Figure'], rows)];
}

const FIGURES = [
  ['mean', 'Mean load'],
  ['max', 'Highest node'],
  ['range', 'Spread'],
  ['stddev', 'Standard deviation'],
  ['ema', 'Mean absolute error'],
] as const;

/** One row for each figure of each resource, so that before and planned stand beside each other. */
function imbalanceTable({ status }: RebalancePlan): readonly string[] {
  const rows = resourcesIn(status?.imbalance).flatMap((resource) =>
    FIGURES.flatMap(([figure, title]) => {
      const before = status?.imbalance?.before?.[resource]?.[figure];
      const planned = status?.imbalance?.planned?.[resource]?.[figure];
      return before === undefined || planned === undefined
        ? []
        : [[resource, title, share(before), share(planned), change(Number(before), Number(planned))]];
    }),
  );
  return rows.length === 0 ? [] : [renderMarkdownTable(['Load of', 'Figure', 'Before', 'Planned', 'Change'], rows)];
}

function share(decimal: string): string {
  return percent(Number(decimal));
}

/** In points of node capacity. */
function change(before: number, planned: number): string {
  const text = percent(planned - before);
  return text === '0.00 %' ? '0' : text.startsWith('-') ? `−${text.slice(1)}` : `+${text}`;
}

function moves(plan: RebalancePlan): readonly string[] {
  const { length } = plan.spec.moves;
  if (length === 0) {
    return [];
  }
  const table = markdown(moveRows(plan, true));
  return [
    '### Moves',
    ...(length > FEW_MOVES ? [folded(`All ${length} moves, in the order in which they begin`, table)] : [table]),
    ...unsteered(plan),
  ];
}

/** Nodes that strategy Pack frees, and those that it cannot free. */
function nodes(plan: RebalancePlan): readonly string[] {
  const table = nodeRows(plan);
  return table[1].length === 0 ? [] : ['### Nodes', markdown(table)];
}

/** What strategy TrafficAware looks at: traffic by pair of domains, and by application. */
function traffic(plan: RebalancePlan): readonly string[] {
  const { domain = '' } = plan.spec.traffic ?? {};
  const tables = [
    [`### Traffic between ${escapeMarkdown(domainsText(domain))}`, domainRows(plan)],
    ['### Applications', applicationRows(plan)],
  ] as const;
  return tables.flatMap(([heading, table]) => (table[1].length === 0 ? [] : [heading, markdown(table)]));
}

function stays(plan: RebalancePlan): readonly string[] {
  const [header, rows] = countRows(plan);
  const pods = Object.values(plan.spec.rejectionCounts).reduce((sum, number) => sum + number, 0);
  return rows.length === 0
    ? []
    : ['### Pods that stay', folded(`${count(pods, 'pod')} of those considered, by reason`, markdown([header, rows]))];
}

function markdown([header, rows]: Table): string {
  return renderMarkdownTable(header, rows);
}

/** Empty lines make the table Markdown again, inside of the HTML. */
function folded(title: string, body: string): string {
  return `<details>\n<summary>${title}</summary>\n\n${body}\n\n</details>`;
}
