import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AppGraph, AppGraphStatus } from '../../src/api/v1alpha1/app-graph.ts';
import { listNodes, listPods } from '../control-plane/cluster-state.ts';
import { applyScenario, loadScenario } from '../control-plane/scenario.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/start.ts';
import { waitUntil } from '../control-plane/wait-until.ts';
import { type IstioExporter, startIstioExporter } from '../monitoring/istio-exporter.ts';
import { type PrometheusServer, startPrometheus } from '../monitoring/server.ts';
import { install, type OperatorProcess, startOperator } from '../support/operator-process.ts';
import { getPlans, getPolicy, policyObject, reasonOf } from '../support/resources.ts';

const log = (line: string): void => void process.stderr.write(`${line}\n`);
const patience = { timeoutMilliseconds: 300_000, log };
const ZONE = 'topology.kubernetes.io/zone';
const MEMBERS = ['web', 'cart', 'db'];
const TRAFFIC = [
  { namespace: 'shop', from: 'web', to: 'cart', bits: 90e6 },
  { namespace: 'shop', from: 'cart', to: 'db', bits: 45e6 },
  { namespace: 'shop', from: 'stranger', to: 'db', bits: 10e6 },
];

let cp: ControlPlane;
let prometheus: PrometheusServer;
let exporter: IstioExporter;
let operator: OperatorProcess | undefined;

beforeAll(async () => {
  exporter = await startIstioExporter(TRAFFIC);
  prometheus = await startPrometheus();
  prometheus.configure({ global: { scrape_interval: '2s' }, scrape_configs: exporter.scrapeConfigs });
  cp = await startControlPlane({ metricsServer: false, log });
  await install(cp, 'default');
  await applyScenario(cp, loadScenario(join(import.meta.dirname, '..', 'scenarios', 'applications.yaml')), { log });
});

afterAll(async () => {
  await operator?.end('SIGTERM');
  await prometheus?.stop();
  exporter?.stop();
  await cp?.stop();
});

function graphObject(name: string, members: readonly string[], traffic: object): object {
  return {
    apiVersion: 'evenkeel.dev/v1alpha1',
    kind: 'AppGraph',
    metadata: { name, namespace: 'shop' },
    spec: {
      members: members.map((member) => ({ name: member, workload: { kind: 'Deployment', name: member } })),
      traffic: { server: 'main', window: '1m', ...traffic },
    },
  };
}

async function graphStatus(name: string): Promise<AppGraphStatus> {
  const text = await cp.kubectl(['get', 'appgraph', name, '--namespace=shop', '--output=json']);
  return (JSON.parse(text) as AppGraph).status ?? {};
}

function learntOf({ conditions = [] }: AppGraphStatus) {
  return conditions.find(({ type }) => type === 'Learnt');
}

/** Zones of the running pods of the members, one for each pod. */
async function zones(): Promise<readonly string[]> {
  const zoneOf = new Map((await listNodes(cp)).map(({ metadata }) => [metadata.name, metadata.labels?.[ZONE] ?? '']));
  return (await listPods(cp))
    .filter(({ metadata }) => metadata.namespace === 'shop' && metadata.deletionTimestamp === undefined)
    .filter(({ metadata }) => MEMBERS.some((name) => metadata.name.startsWith(`${name}-`)))
    .map(({ spec }) => zoneOf.get(spec.nodeName ?? '') ?? 'no node');
}

describe('an application whose traffic Prometheus knows', () => {
  it('is brought into one zone, and its AppGraph says what was learnt', { timeout: 500_000 }, async () => {
    const measured = async () => {
      const [series] = await prometheus.query('8 * sum(rate(istio_tcp_sent_bytes_total{reporter="source"}[1m]))');
      return Number(series?.value[1] ?? 0) > 120e6 ? undefined : `${series?.value[1]} bits per second`;
    };
    await waitUntil('rates of the exporter', measured, patience);
    expect(new Set(await zones()).size).toBe(3);
    await cp.apply([graphObject('checkout', MEMBERS, { preset: 'Istio' })]);
    operator = await startOperator(cp, { args: ['--prometheus', `main=${prometheus.url}`] });
    const spec = {
      mode: 'Automatic',
      interval: '10s',
      strategy: { type: 'TrafficAware' },
      load: { source: 'Requests' },
      thresholds: { trigger: '0.5' },
      budgets: [{ maxMoves: 20, maxConcurrent: 4, perOwner: '100%' }],
      protections: { minPodAge: '0s', stabilization: '0s', cooldown: '0s' },
    };
    await cp.apply([policyObject('traffic', spec)]);
    const together = async () => {
      const reason = reasonOf(await getPolicy(cp, 'traffic'), 'PlanReady');
      const ended = (await getPlans(cp)).every((each) => each.status?.phase !== 'Executing');
      return ended && reason === 'NothingToReroute' ? undefined : `PlanReady says ${reason}`;
    };
    await waitUntil('no traffic between zones', together, patience);
    const after = await zones();
    expect(after).toHaveLength(12);
    expect(new Set(after).size).toBe(1);
    const told = async () => {
      const { crossDomain } = await graphStatus('checkout');
      return crossDomain?.[0]?.bandwidth === '0k' ? undefined : JSON.stringify(crossDomain);
    };
    await waitUntil('the status of the AppGraph', told, patience);
    const status = await graphStatus('checkout');
    expect(learntOf(status)).toMatchObject({ status: 'True', reason: 'Answered' });
    expect(status.edges?.map(({ from, to }) => [from, to])).toEqual([
      ['web', 'cart'],
      ['cart', 'db'],
    ]);
    expect(status.ignoredSamples).toBe(1);
  });

  it('is left as it is while nothing changes: its status is not written again', { timeout: 60_000 }, async () => {
    const versionOf = () =>
      cp.kubectl(['get', 'appgraph', 'checkout', '-n=shop', '-o=jsonpath={.metadata.resourceVersion}']);
    const runs = async () => (await getPolicy(cp, 'traffic')).status?.lastRun;
    const [version, run] = [await versionOf(), await runs()];
    await waitUntil('two more runs', async () => ((await runs()) === run ? 'none' : undefined), patience);
    const next = await runs();
    await waitUntil('another run', async () => ((await runs()) === next ? 'none' : undefined), patience);
    expect(await versionOf()).toBe(version);
  });
});

describe('a Prometheus that answers nothing', () => {
  it('leaves the application as it is, and policy and AppGraph say so', { timeout: 120_000 }, async () => {
    await cp.apply([graphObject('silent', ['batch'], { query: 'nothing_of_this_name' })]);
    const noticed = async () => {
      const learnt = learntOf(await graphStatus('silent'));
      return learnt?.reason === 'NoSamples' ? undefined : `Learnt says ${learnt?.reason}`;
    };
    await waitUntil('the status of the AppGraph', noticed, patience);
    expect(learntOf(await graphStatus('silent'))?.message).toBe(
      'Prometheus server main: the query gives no sample: has it the right metrics, labels and window?',
    );
    const blocked = async () => {
      const reason = reasonOf(await getPolicy(cp, 'traffic'), 'PlanReady');
      return reason === 'Blocked' ? undefined : `PlanReady says ${reason}`;
    };
    await waitUntil('the policy', blocked, patience);
    const ready = (await getPolicy(cp, 'traffic')).status?.conditions?.find(({ type }) => type === 'PlanReady');
    expect(ready?.message).toContain('1 application stays as it is: shop/silent: Prometheus server main');
  });

  it('is no longer taken for what it said before once it is gone', { timeout: 120_000 }, async () => {
    await prometheus.stop();
    const noticed = async () => {
      const learnt = learntOf(await graphStatus('checkout'));
      return learnt?.reason === 'ServerFailed' ? undefined : `Learnt says ${learnt?.reason}`;
    };
    await waitUntil('the status of the AppGraph', noticed, patience);
    expect((await graphStatus('checkout')).edges).toBeUndefined();
  });
});
