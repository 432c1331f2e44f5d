import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { createMetrics } from '../../src/report/metrics/metrics.ts';
import { ALERT_CASES, type AlertCase } from './alert-cases.ts';
import { monitoringProgram } from './programs.ts';
import { alertGroups, alertRules, dashboardQueries, MONITORING, metricsIn, type RuleGroups } from './rules.ts';

const run = promisify(execFile);
let folder: string;
let promtool: string;

beforeAll(async () => {
  promtool = await monitoringProgram('promtool');
  folder = await mkdtemp(join(tmpdir(), 'evenkeel-promtool-'));
  await cp(join(MONITORING, 'alerts.yaml'), join(folder, 'alerts.yaml'));
});

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

const rules = new Map(alertRules().map((rule) => [rule.alert, rule]));
/** The last minute that a quiet case is watched for. */
const LAST = 400;

/** Both cases of an alert as tests of promtool. */
function testsOf({ alert, firing, after, labels, summary, description, quiet }: AlertCase): readonly object[] {
  const rule = rules.get(alert);
  const annotations = { ...rule?.annotations, ...(summary && { summary }), ...(description && { description }) };
  const fired = { exp_labels: { ...rule?.labels, ...labels }, exp_annotations: annotations };
  const seriesOf = (series: AlertCase['firing']) =>
    Object.entries(series).map(([name, values]) => ({ series: name, values }));
  const expectation = (minute: number, alerts: readonly object[]) => ({
    eval_time: `${minute}m`,
    alertname: alert,
    exp_alerts: alerts,
  });
  return [
    {
      name: `${alert} fires`,
      interval: '1m',
      input_series: seriesOf(firing),
      alert_rule_test: [expectation(Math.max(0, after - 1), []), expectation(after, [fired])].slice(
        after === 0 ? 1 : 0,
      ),
    },
    {
      name: `${alert} is quiet`,
      interval: '1m',
      input_series: seriesOf(quiet),
      alert_rule_test: Array.from({ length: LAST / 10 }, (_, index) => expectation(10 * index, [])),
    },
  ];
}

describe('alerts', () => {
  it('are rules that promtool takes', async () => {
    const { stdout } = await run(promtool, [
      'check',
      'rules',
      '--lint=all',
      '--lint-fatal',
      join(folder, 'alerts.yaml'),
    ]);
    expect(stdout).toContain(`SUCCESS: ${rules.size} rules found`);
  });

  it('each have a firing and a quiet case', () => {
    expect([...new Set(ALERT_CASES.map(({ alert }) => alert))].sort()).toEqual([...rules.keys()].sort());
  });

  it.each(ALERT_CASES)('$alert fires when it is to, not a minute before, and is quiet else', async (each) => {
    const file = join(folder, `${each.alert}.yaml`);
    await writeFile(file, stringify({ rule_files: ['alerts.yaml'], evaluation_interval: '1m', tests: testsOf(each) }));
    const told = await run(promtool, ['test', 'rules', file]).catch(
      (error: { stdout: string; stderr: string }) => error,
    );
    expect(told.stderr).toBe('');
    expect(told.stdout).toContain('SUCCESS');
  });

  it('are the same for the Prometheus operator', () => {
    const { kind, spec } = parse(readFileSync(join(MONITORING, 'prometheus-rule.yaml'), 'utf8')) as {
      kind: string;
      spec: RuleGroups;
    };
    expect(kind).toBe('PrometheusRule');
    expect(spec).toEqual(alertGroups());
  });
});

describe('the dashboard', () => {
  it('asks for what promtool takes', async () => {
    const recorded = dashboardQueries().map(({ expr }, index) => ({ record: `panel:${index}`, expr }));
    const file = join(folder, 'dashboard.rules.yaml');
    await writeFile(file, stringify({ groups: [{ name: 'dashboard', rules: recorded }] }));
    const { stdout } = await run(promtool, ['check', 'rules', file]);
    expect(stdout).toContain(`SUCCESS: ${recorded.length} rules found`);
  });

  it('shows every metric of the operator, and none that it has not', async () => {
    const known = (await createMetrics('1').registry.getMetricsAsJSON()).map(({ name }) => name);
    const shown = metricsIn(
      dashboardQueries()
        .map(({ expr }) => expr)
        .join('\n'),
    );
    expect([...shown].sort()).toEqual(known.sort());
  });
});

describe('alerts and dashboard', () => {
  it('ask for no metric that the operator has not', async () => {
    const known = new Set((await createMetrics('1').registry.getMetricsAsJSON()).map(({ name }) => name));
    const asked = metricsIn(
      alertRules()
        .map(({ expr }) => expr)
        .join('\n'),
    );
    expect([...asked].filter((name) => !known.has(name))).toEqual([]);
  });
});
