import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { applyScenario, loadScenario } from '../control-plane/scenario.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/start.ts';
import { waitUntil } from '../control-plane/wait-until.ts';
import { alertRules, dashboardQueries, MONITORING, metricsIn } from '../monitoring/rules.ts';
import { type PrometheusServer, startPrometheus } from '../monitoring/server.ts';
import { install, type OperatorProcess, startOperator } from '../support/operator-process.ts';
import { getPlans, getPolicy, policyObject, reasonOf } from '../support/resources.ts';

const log = (line: string): void => void process.stderr.write(`${line}\n`);
const patience = { timeoutMilliseconds: 120_000, log };
const NODES = ['node-1', 'node-2', 'node-3'];

let cp: ControlPlane;
let prometheus: PrometheusServer;
let operator: OperatorProcess;

/** A cluster without the Metrics API; a real Prometheus scrapes its kubelets and the operator, and has our alerts. */
beforeAll(async () => {
  cp = await startControlPlane({ metricsServer: false, log });
  await install(cp, 'default');
  await applyScenario(cp, loadScenario(join(import.meta.dirname, '..', 'scenarios', 'small.yaml')), { log });
  prometheus = await startPrometheus();
  operator = await startOperator(cp, { args: ['--prometheus', `main=${prometheus.url}`] });
  prometheus.configure({
    global: { scrape_interval: '5s', evaluation_interval: '5s' },
    rule_files: [join(MONITORING, 'alerts.yaml')],
    scrape_configs: [await kubelets(), await replicas()],
  });
});

afterAll(async () => {
  await operator?.end('SIGKILL');
  await prometheus?.stop();
  await cp?.stop();
});

/** What kubelets say of resources (/metrics/resource), each node with the label that common configurations give it. */
async function kubelets(): Promise<object> {
  const jsonpath = 'jsonpath={.status.daemonEndpoints.kubeletEndpoint.Port}';
  const port = await cp.kubectl(['get', 'node', 'node-1', '-o', jsonpath]);
  return {
    job_name: 'kubelet',
    scheme: 'https',
    tls_config: { insecure_skip_verify: true },
    static_configs: NODES.map((node) => ({
      targets: [`127.0.0.1:${port}`],
      labels: { node, __metrics_path__: `/metrics/nodes/${node}/metrics/resource` },
    })),
  };
}

/** The operator, by an account that may read its metrics. */
async function replicas(): Promise<object> {
  await cp.kubectl(['create', 'serviceaccount', 'prometheus', '--namespace=default']);
  const role = '--clusterrole=evenkeel-metrics-reader';
  await cp.kubectl(['create', 'clusterrolebinding', 'prometheus', role, '--serviceaccount=default:prometheus']);
  const tokenFile = join(cp.dir, 'prometheus.token');
  writeFileSync(tokenFile, await cp.kubectl(['create', 'token', 'prometheus', '--namespace=default']));
  const { metricsPort } = await operator.logged('operator started');
  return {
    job_name: 'evenkeel',
    scheme: 'https',
    tls_config: { insecure_skip_verify: true },
    authorization: { credentials_file: tokenFile },
    static_configs: [{ targets: [`127.0.0.1:${metricsPort}`] }],
  };
}

const load = {
  source: 'Prometheus',
  maxAge: '30s',
  prometheus: {
    server: 'main',
    queries: { nodeCPU: 'sum by (node) (rate(node_cpu_usage_seconds_total[$window]))' },
  },
};

describe('load from a real Prometheus', () => {
  it('is what pods are moved by, where there is no Metrics API', { timeout: 180_000 }, async () => {
    const settled = async () => {
      const series = await prometheus.query('sum by (node) (rate(node_cpu_usage_seconds_total[30s]))');
      const rates = new Map(series.map(({ metric, value }) => [metric['node'], Number(value[1])]));
      return rates.size === NODES.length && (rates.get('node-1') ?? 0) > 2.5 ? undefined : JSON.stringify([...rates]);
    };
    await waitUntil('rates of all nodes, of which the first has the load', settled, patience);
    await cp.apply([
      policyObject('even', {
        mode: 'Automatic',
        interval: '10s',
        load,
        thresholds: { consecutive: 1 },
        protections: { minPodAge: '0s', stabilization: '0s' },
      }),
    ]);
    const done = async () => {
      const phases = (await getPlans(cp)).map(({ status }) => status?.phase);
      return phases.includes('Completed') ? undefined : `plans: ${phases.join(', ')}`;
    };
    await waitUntil('a plan is carried out', done, patience);
    const plan = (await getPlans(cp)).find(({ status }) => status?.phase === 'Completed');
    expect(plan?.status?.summary?.landed).toBeGreaterThan(1);
    const origins = plan?.spec.moves.map(({ from }) => from) ?? [];
    expect(origins.filter((node) => node === 'node-1').length).toBeGreaterThan(origins.length / 2);
    const fresh = async () => {
      const reason = reasonOf(await getPolicy(cp, 'even'), 'MetricsFresh');
      return reason === 'Fresh' ? undefined : `MetricsFresh says ${reason}`;
    };
    await waitUntil('samples that were begun after the plan', fresh, patience);
  });
});

describe('what the operator tells Prometheus', () => {
  it('has every metric that dashboard and alerts ask for, once it has happened', async () => {
    const asked = metricsIn([...dashboardQueries(), ...alertRules()].map(({ expr }) => expr).join('\n'));
    // Nothing here has a class, a gate, an AppGraph or a lost watch event, and nothing has failed.
    const idle = /class|slo|availability|penalty|preemption|drift|gate|application|run_failures/;
    const missing = async () => {
      const names = await prometheus.query('count by (__name__) ({__name__=~"evenkeel_.+"})');
      const known = metricsIn(names.map(({ metric }) => metric['__name__'] ?? '').join('\n'));
      const unknown = [...asked].filter((name) => !known.has(name) && !idle.test(name));
      return unknown.length === 0 ? undefined : unknown.join(', ');
    };
    await waitUntil('metrics', missing, patience);
  });

  it('answers every query of the dashboard', async () => {
    for (const { expr } of dashboardQueries()) {
      await prometheus.query(expr);
    }
    const [spread] = await prometheus.query('evenkeel_spread_ratio{policy="even",phase="before"}');
    expect(Number(spread?.value[1])).toBeGreaterThan(0);
  });

  it('raises no alert while all is well', async () => {
    const rules = alertRules().map(({ alert }) => alert);
    expect(await prometheus.query(`ALERTS{alertname=~"${rules.join('|')}",alertstate="firing"}`)).toEqual([]);
  });
});

describe('a Prometheus that is gone', () => {
  it('stops planning, and says why', { timeout: 120_000 }, async () => {
    await prometheus.stop();
    const noticed = async () => {
      const reason = reasonOf(await getPolicy(cp, 'even'), 'MetricsFresh');
      return reason === 'MetricsUnavailable' ? undefined : `MetricsFresh says ${reason}`;
    };
    await waitUntil('the policy has no metrics', noticed, patience);
    const condition = (await getPolicy(cp, 'even')).status?.conditions?.find(({ type }) => type === 'MetricsFresh');
    expect(condition?.message).toMatch(/^Prometheus server main: it cannot be asked \(ECONNREFUSED\)/);
  });
});
