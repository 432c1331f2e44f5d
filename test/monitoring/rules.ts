import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

/** Folder of what is deployed to watch the operator. */
export const MONITORING = join(import.meta.dirname, '..', '..', 'deploy', 'monitoring');

/** An alerting rule. */
export interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: { readonly summary: string; readonly description: string };
}

/** A rules file of Prometheus. */
export interface RuleGroups {
  readonly groups: readonly { readonly name: string; readonly rules: readonly AlertRule[] }[];
}

/** The rules file. */
export function alertGroups(): RuleGroups {
  return parse(readFileSync(join(MONITORING, 'alerts.yaml'), 'utf8')) as RuleGroups;
}

/** All alerts. */
export function alertRules(): readonly AlertRule[] {
  return alertGroups().groups.flatMap(({ rules }) => rules);
}

/** A panel's query. */
export interface DashboardQuery {
  readonly panel: string;
  readonly expr: string;
}

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}

/** The queries of the dashboard, with Grafana's variables replaced by what they may stand for. */
export function dashboardQueries(): readonly DashboardQuery[] {
  const { panels } = JSON.parse(readFileSync(join(MONITORING, 'dashboard.json'), 'utf8')) as {
    panels: readonly Panel[];
  };
  return panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => ({
      panel: title,
      expr: expr.replaceAll('$__rate_interval', '5m').replaceAll('$policy', '.*'),
    })),
  );
}

/** Names of our metrics in a text: of histograms and their parts the name of the whole. */
export function metricsIn(text: string): ReadonlySet<string> {
  return new Set([...text.matchAll(/evenkeel_[a-z_]+/g)].map(([name]) => name.replace(/_(bucket|sum|count)$/, '')));
}
