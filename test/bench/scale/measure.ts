import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RebalancePlan } from '../../../src/api/v1alpha1/rebalance-plan.ts';
import { vitalsOf } from '../../campaigns/vitals.ts';
import { acceptedEvictions } from '../../control-plane/audit.ts';
import { listNodeMetrics } from '../../control-plane/cluster-state.ts';
import { nodeLoads, standardDeviation } from '../../control-plane/node-loads.ts';
import { applyScenario, loadScenario, waitForMetrics } from '../../control-plane/scenario.ts';
import { type ControlPlane, startControlPlane } from '../../control-plane/start.ts';
import { createRandom } from '../../support/random.ts';
import { getPlans, getPolicy, policyObject } from '../../support/resources.ts';
import { startCountingProxy } from './counting-proxy.ts';
import { type PerfectSteering, steerPerfectly } from './perfect-steering.ts';
import type { Way } from './ways.ts';

/** What came of one way of steering on one cluster. */
export interface Measured {
  readonly evictions: number;
  /** What it would take on the same cluster if nobody else did anything and each move landed. */
  readonly perfect: PerfectSteering;
  readonly landed: number;
  readonly missed: number;
  /** Misses by reason. */
  readonly reasons: Readonly<Record<string, number>>;
  /** Evictions until the deviation was first measured as a quarter of what it was; `undefined` when it never was. */
  readonly evictionsToAQuarter: number | undefined;
  /** Standard deviation of the nodes' load, by metrics-server. */
  readonly deviation: { readonly before: number; readonly after: number };
  /** Seconds from the policy to the last eviction; `undefined` when it did not come to rest. */
  readonly untilRest: number | undefined;
  readonly requests: number;
  readonly bytes: number;
  /** Processor time of the operator from the policy to the end, in seconds; MiB at the end. */
  readonly cpu: number;
  readonly rss: number;
  readonly seconds: number;
}

const POLICY = 'scale';
/** Rounds of the policy without a move after which the cluster counts as being at rest. */
const ROUNDS_AT_REST = 5;
const INTERVAL = '30s';
/** Milliseconds between two changes by others. */
const VISIT_EVERY = 2000;
const VISITORS = 20;
/** Milliseconds between two looks at the load, which is measured every 15 s. */
const METRICS_EVERY = 10_000;

/** Balances a scenario of so many nodes in one way, while others scale Deployments up and down, for `minutes` at most. */
export async function measure(
  nodes: number,
  way: Way,
  minutes: number,
  log: (line: string) => void,
): Promise<Measured> {
  const cp = await startControlPlane({ log, metricResolution: '15s' });
  try {
    await way.install(cp);
    const scenario = loadScenario(join(import.meta.dirname, '..', '..', 'scenarios', `scale-${nodes}.yaml`));
    await applyScenario(cp, scenario, { log });
    await waitForMetrics(cp, { log });
    await way.prepare(cp);
    return await balance(cp, way, minutes, log);
  } finally {
    await cp.stop();
  }
}

async function balance(cp: ControlPlane, way: Way, minutes: number, log: (line: string) => void): Promise<Measured> {
  const proxy = await startCountingProxy(cp.url);
  const account = await cp.kubeconfigFor({ namespace: 'evenkeel-system', name: 'evenkeel' });
  const operator = await way.start(cp, { kubeconfig: proxy.kubeconfig(account), args: ['--metrics-insecure'] });
  const visits = new AbortController();
  const visiting = visit(cp, visits.signal);
  try {
    await operator.logged('leading');
    const vitals = vitalsOf(operator.pid);
    const [before, atStart, bytes] = [await deviation(cp), await vitals(), proxy.bytes()];
    const { metricsPort } = await operator.logged('operator started');
    const asked = await requestsOf(Number(metricsPort));
    await cp.apply([policyObject(POLICY, { ...spec(way), suspend: true })]);
    const perfect = await steerPerfectly(cp, (await getPolicy(cp, POLICY)).spec);
    log(`perfect steering: ${perfect.toAQuarter} moves to a quarter, ${perfect.toRest} to rest`);
    const began = Date.now();
    await cp.apply([policyObject(POLICY, spec(way))]);
    const watched = watchDeviation(cp, before / 4, visits.signal, log);
    const isAtRest = await untilRest(cp, began + minutes * 60_000, log);
    visits.abort();
    await visiting;
    const evictions = acceptedEvictions(await cp.audit());
    const last = evictions.at(-1)?.answeredAt;
    const [end, plans] = [await vitals(), await getPlans(cp)];
    return {
      evictions: evictions.length,
      perfect,
      ...countMoves(plans),
      evictionsToAQuarter: await watched,
      deviation: { before, after: await deviation(cp) },
      untilRest: isAtRest && last !== undefined ? (Date.parse(last) - began) / 1000 : undefined,
      requests: (await requestsOf(Number(metricsPort))) - asked,
      bytes: proxy.bytes() - bytes,
      cpu: end.cpu - atStart.cpu,
      rss: end.rss,
      seconds: (Date.now() - began) / 1000,
    };
  } finally {
    visits.abort();
    await visiting;
    await operator.end('SIGKILL');
    await proxy.stop();
  }
}

function spec({ mode }: Way): Readonly<Record<string, unknown>> {
  return {
    mode: 'Automatic',
    interval: INTERVAL,
    historyLimit: 100,
    scope: { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'shop' } } },
    budgets: [{ maxMoves: 1000, maxConcurrent: 20, perOwner: '100%' }],
    protections: { minPodAge: '0s', stabilization: '0s', cooldown: '0s' },
    steering: { mode },
  };
}

/** Resolves to how many evictions there had been when the deviation was first measured as at most `goal`. */
async function watchDeviation(
  cp: ControlPlane,
  goal: number,
  signal: AbortSignal,
  log: (line: string) => void,
): Promise<number | undefined> {
  while (!signal.aborted) {
    await sleep(METRICS_EVERY);
    const [found, measuredAt, evictions] = [await deviation(cp), await newestSample(cp), await acceptedAt(cp)];
    const done = evictions.filter((at) => at <= measuredAt).length;
    log(`deviation ${found.toFixed(4)} after ${done} evictions`);
    if (found <= goal) {
      return done;
    }
  }
  return undefined;
}

/** When the newest sample of a node was taken, milliseconds: what happened later cannot be in the load that it shows. */
async function newestSample(cp: ControlPlane): Promise<number> {
  return Math.max(...(await listNodeMetrics(cp)).map(({ timestamp }) => Date.parse(timestamp)));
}

async function acceptedAt(cp: ControlPlane): Promise<readonly number[]> {
  return acceptedEvictions(await cp.audit()).map(({ answeredAt }) => Date.parse(answeredAt));
}

/** Others come and go: every two seconds one of the Deployments `visitor` gets another number of pods. */
async function visit(cp: ControlPlane, signal: AbortSignal): Promise<void> {
  const random = createRandom(5);
  while (!signal.aborted) {
    const name = `visitor-${String(random.below(VISITORS) + 1).padStart(String(VISITORS).length, '0')}`;
    await cp.kubectl(['scale', '-n', 'visitors', `deployment/${name}`, `--replicas=${random.below(5)}`]);
    await sleep(VISIT_EVERY);
  }
}

/** Resolves to whether so many rounds in a row ended without a move before the deadline. */
async function untilRest(cp: ControlPlane, deadline: number, log: (line: string) => void): Promise<boolean> {
  const quiet = new Set<string>();
  let evicted = -1;
  while (Date.now() < deadline) {
    await sleep(5000);
    const [{ status }, plans] = [await getPolicy(cp, POLICY), await getPlans(cp)];
    const { landed, missed } = countMoves(plans);
    const isBusy = plans.some((plan) => plan.status?.finishedAt === undefined && plan.spec.moves.length > 0);
    if (isBusy || landed + missed !== evicted) {
      quiet.clear();
      evicted = landed + missed;
      log(`${landed} landed, ${missed} missed, ${plans.length} plans`);
    } else if (status?.lastRun !== undefined) {
      quiet.add(status.lastRun);
    }
    if (quiet.size > ROUNDS_AT_REST) {
      return true;
    }
  }
  return false;
}

function countMoves(plans: readonly RebalancePlan[]): Pick<Measured, 'landed' | 'missed' | 'reasons'> {
  const runs = plans.flatMap(({ status }) => status?.moves ?? []);
  const missed = runs.filter(({ phase }) => phase === 'Missed');
  const byReason = Map.groupBy(missed, ({ miss }) => miss?.reason ?? 'unknown');
  return {
    landed: runs.filter(({ phase }) => phase === 'Landed').length,
    missed: missed.length,
    reasons: Object.fromEntries([...byReason].map(([reason, each]) => [reason, each.length])),
  };
}

async function deviation(cp: ControlPlane): Promise<number> {
  return standardDeviation([...(await nodeLoads(cp)).values()]);
}

/** Requests that the operator has sent, watches included. */
async function requestsOf(port: number): Promise<number> {
  const body = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  return body
    .split('\n')
    .filter((line) => line.startsWith('evenkeel_api_requests_total{'))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}
