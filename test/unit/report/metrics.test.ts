import { describe, expect, it } from 'vitest';
import { epochSeconds, seconds } from '../../../src/model/units.ts';
import { plan as computePlan } from '../../../src/plan/planner.ts';
import { resolveOptions } from '../../../src/plan/resolve-options.ts';
import { fulfilmentByClass } from '../../../src/qos/fulfilment.ts';
import { createMetrics } from '../../../src/report/metrics/metrics.ts';
import { aPolicy } from '../../support/builders/policy.ts';
import { aLedger, aServiceClass } from '../../support/builders/service-levels.ts';
import { aNode, aPodOf, aWorkload, NOW as BUILT, TEN_CORES } from '../../support/builders.ts';
import { fakeCluster } from '../../support/fake-cluster.ts';
import { testClock } from '../../support/test-clock.ts';

const web = aWorkload('web', { replicas: 8 });
const pods = [1, 2, 3, 4].map((index) => aPodOf(web, `web-${index}`, 'a', 1_000));
const cluster = fakeCluster(testClock(), [aNode('a', TEN_CORES), aNode('b', TEN_CORES)], [web], pods);
const plan = computePlan(
  await cluster.reader.snapshot(new AbortController().signal),
  resolveOptions(aPolicy('even').spec),
);
const condition = (type: 'Ready' | 'Degraded', status: 'True' | 'False') => ({
  type,
  status,
  reason: 'AsExpected' as const,
  message: '',
  lastTransitionTime: '2026-01-01T12:00:00Z',
  observedGeneration: 1,
});
const policy = {
  ...aPolicy('even'),
  status: {
    conditions: [condition('Ready', 'True'), condition('Degraded', 'False')],
    nextRun: '2026-01-01T12:00:00Z',
  },
};

describe('createMetrics', () => {
  const metrics = createMetrics('1.2.3');
  const { registry, telemetry, apiRequest, runFailed, showCaches, cacheDrifted, leads } = metrics;

  it('names everything evenkeel_*, in base units, counters _total, and never by pod, node or uid', async () => {
    const all = await registry.getMetricsAsJSON();
    expect(all.map(({ name }) => name).sort()).toEqual([
      'evenkeel_api_requests_total',
      'evenkeel_application_cross_domain_bits_per_second',
      'evenkeel_availability_deficit_ratio',
      'evenkeel_availability_gini_ratio',
      'evenkeel_budget_remaining',
      'evenkeel_build_info',
      'evenkeel_cache_age_seconds',
      'evenkeel_cache_drift_total',
      'evenkeel_cache_objects',
      'evenkeel_gate_actions_total',
      'evenkeel_gate_wait_seconds',
      'evenkeel_gate_waiting_pods',
      'evenkeel_imbalance_ratio',
      'evenkeel_leader',
      'evenkeel_metrics_age_seconds',
      'evenkeel_metrics_coverage_ratio',
      'evenkeel_min_availability_ratio',
      'evenkeel_move_duration_seconds',
      'evenkeel_move_unavailability_seconds',
      'evenkeel_moves_total',
      'evenkeel_penalty_core_seconds',
      'evenkeel_plan_duration_seconds',
      'evenkeel_plan_moves',
      'evenkeel_policy_condition',
      'evenkeel_policy_leader',
      'evenkeel_policy_next_run_timestamp_seconds',
      'evenkeel_preemption_overhead_ratio',
      'evenkeel_preemptions_total',
      'evenkeel_run_failures_total',
      'evenkeel_slo_fulfilment_ratio',
      'evenkeel_spread_ratio',
      'evenkeel_steering_hit_ratio',
      'evenkeel_steering_total',
    ]);
    telemetry.moveEnded({
      strategy: 'RefineLB',
      result: 'Landed',
      reason: 'Balance',
      duration: undefined,
      unavailable: seconds(7),
    });
    telemetry.planned({
      policy: 'even',
      plan,
      duration: seconds(0.2),
      budgetsLeft: new Map([['maxMoves', 3]]),
      services: { classes: [] },
    });
    telemetry.policies([{ policy, invalid: [] }]);
    const text = await registry.metrics();
    expect(text).not.toMatch(/(pod|node|uid|namespace)="/);
  });

  it('has the traffic between domains of the applications with the most of it', async () => {
    const none = { bandwidth: 0, cost: undefined };
    const applications = Array.from({ length: 60 }, (_, place) => {
      const before = { bandwidth: place === 1 ? 0 : 8e6 - place, cost: undefined };
      return { namespace: 'shop', name: `app-${place}`, moves: 0, before, planned: none, stays: undefined };
    });
    const own = createMetrics('1.2.3');
    own.telemetry.planned({
      policy: 'traffic',
      plan: { ...plan, traffic: { domain: 'zone', before: none, planned: none, between: [], applications } },
      duration: seconds(0.2),
      budgetsLeft: new Map(),
      services: { classes: [] },
    });
    const lines = (await own.registry.metrics())
      .split('\n')
      .filter((line) => line.startsWith('evenkeel_application_cross_domain_bits_per_second{'));
    expect(lines).toHaveLength(49);
    expect(lines[0]).toBe(
      'evenkeel_application_cross_domain_bits_per_second{policy="traffic",application="app-0",namespace="shop"} 8000000',
    );
  });

  it('counts what it is told', async () => {
    telemetry.steered({ mode: 'AdmissionPolicy', landed: true });
    telemetry.steered({ mode: 'AdmissionPolicy', landed: false });
    telemetry.gate('OpenedToTarget');
    telemetry.hitRatios(new Map([['None', 0.5]]));
    telemetry.hitRatios(new Map([['Gate', 0.75]]));
    apiRequest('GET', '200');
    apiRequest('GET', 'timeout');
    runFailed();
    leads(true);
    showCaches(() => [
      { resource: 'pods', objects: 7, age: 0 },
      { resource: 'nodes', objects: 0, age: undefined },
    ]);
    cacheDrifted('pods', 2);
    const text = await registry.metrics();
    for (const line of [
      'evenkeel_build_info{version="1.2.3"',
      'evenkeel_moves_total{strategy="RefineLB",result="Landed",reason="Balance"} 1',
      'evenkeel_steering_total{mode="AdmissionPolicy",result="hit"} 1',
      'evenkeel_steering_total{mode="AdmissionPolicy",result="miss"} 1',
      'evenkeel_gate_actions_total{action="OpenedToTarget"} 1',
      'evenkeel_steering_hit_ratio{mode="Gate"} 0.75',
      'evenkeel_api_requests_total{verb="GET",code="200"} 1',
      'evenkeel_api_requests_total{verb="GET",code="timeout"} 1',
      'evenkeel_run_failures_total 1',
      'evenkeel_leader 1',
      'evenkeel_cache_objects{resource="pods"} 7',
      'evenkeel_cache_age_seconds{resource="pods"} 0',
      'evenkeel_cache_drift_total{resource="pods"} 2',
      'evenkeel_metrics_coverage_ratio{policy="even"} 1',
      'evenkeel_imbalance_ratio{policy="even",resource="cpu",phase="before"} 0.2',
      'evenkeel_spread_ratio{policy="even",phase="before"} 0.4',
      'evenkeel_budget_remaining{policy="even",budget="maxMoves"} 3',
      'evenkeel_policy_condition{policy="even",condition="Ready",reason="AsExpected"} 1',
      'evenkeel_policy_condition{policy="even",condition="Degraded",reason="AsExpected"} 0',
      'evenkeel_policy_next_run_timestamp_seconds{policy="even"} 1767268800',
      'evenkeel_move_unavailability_seconds_sum 7',
      'evenkeel_move_duration_seconds_count 0',
    ]) {
      expect(text).toContain(line);
    }
    expect(text).not.toContain('evenkeel_cache_age_seconds{resource="nodes"}');
    expect(text).not.toContain('evenkeel_steering_hit_ratio{mode="None"}');
  });

  it('shows each policy that this replica leads, and those that it leads no more not at all', async () => {
    const led = async () => [
      ...(await registry.metrics()).matchAll(/^evenkeel_policy_leader\{policy="(.*)"\} (.*)$/gm),
    ];
    expect(await led()).toEqual([]);
    metrics.telemetry.led(['even', 'packed']);
    expect((await led()).map(([, ...found]) => found)).toEqual([
      ['even', '1'],
      ['packed', '1'],
    ]);
    metrics.telemetry.led(['packed']);
    expect((await led()).map(([, ...found]) => found)).toEqual([['packed', '1']]);
    metrics.telemetry.led([]);
    expect(await led()).toEqual([]);
  });

  it('shows when the next run is due as the last pass found it', async () => {
    const shown = async () => /next_run_timestamp_seconds\{policy="even"\} (\d+)/.exec(await registry.metrics())?.[1];
    telemetry.nextRun('even', epochSeconds(1_767_269_100));
    expect(await shown()).toBe('1767269100');
    telemetry.nextRun('even', undefined);
    expect(await shown()).toBeUndefined();
  });

  it('shows what it knows of the policies that it leads, of no others, and also where another replica tells of all', async () => {
    const own = createMetrics('1.2.3');
    const shown = async () => {
      const text = await own.registry.metrics();
      const named = (metric: string) =>
        [...text.matchAll(new RegExp(`^${metric}\\{policy="(\\w+)"`, 'gm'))].map(([, name]) => name);
      return [named('evenkeel_plan_moves'), named('evenkeel_policy_next_run_timestamp_seconds')];
    };
    const inOnePass = (all: readonly (typeof policy)[], led: readonly string[], ran: readonly string[]) => {
      own.telemetry.policies(all.map((each) => ({ policy: each, invalid: [] })));
      own.telemetry.led(led);
      for (const name of ran) {
        const run = { plan, duration: seconds(0.2), budgetsLeft: new Map(), services: { classes: [] } };
        own.telemetry.planned({ policy: name, ...run });
        own.telemetry.nextRun(name, epochSeconds(1_767_269_100));
      }
    };
    inOnePass([], ['a', 'b'], ['a', 'b']);
    inOnePass([], ['a', 'b'], []);
    expect(await shown()).toEqual([
      ['a', 'b'],
      ['a', 'b'],
    ]);
    inOnePass([], ['b'], []);
    expect(await shown()).toEqual([['b'], ['b']]);
    inOnePass([policy], [], []);
    expect(await shown()).toEqual([[], ['even']]);
  });

  it('shows a policy that is gone no more', async () => {
    telemetry.policies([]);
    const text = await registry.metrics();
    expect(text).not.toContain('policy="even"');
  });

  it('shows how classes are served at the moment of the scrape, and classes without workloads no more', async () => {
    const ledgers = [
      aLedger({ times: { useful: 90 }, overhead: 10, preemptions: 1 }),
      aLedger({ times: { pending: 1 } }),
    ];
    const requests = ledgers.map((ledger) => ({ serviceClass: aServiceClass(), ledger }));
    metrics.showServices(() => fulfilmentByClass(requests, BUILT));
    metrics.preempted('batch', 2);
    const text = await registry.metrics();
    for (const line of [
      'evenkeel_slo_fulfilment_ratio{class="batch"} 0.5',
      'evenkeel_availability_deficit_ratio{class="batch"} 0.9',
      'evenkeel_preemption_overhead_ratio{class="batch"} 0.1',
      'evenkeel_preemptions_total{class="batch"} 2',
    ]) {
      expect(text).toContain(line);
    }
    metrics.showServices(() => []);
    expect(await registry.metrics()).not.toContain('evenkeel_slo_fulfilment_ratio{');
  });
});
