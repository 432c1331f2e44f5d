/** When an alert is to fire, and when not, as series of promtool. */
export interface AlertCase {
  readonly alert: string;
  /** Series with which it fires, as promtool writes them; one value a minute. */
  readonly firing: Readonly<Record<string, string>>;
  /** The first minute at which it fires. */
  readonly after: number;
  /** Labels of the firing alert besides those of the rule. */
  readonly labels?: Readonly<Record<string, string>>;
  /** What the templates of its annotations come to, where they have any. */
  readonly summary?: string;
  readonly description?: string;
  /** Series with which it never fires. */
  readonly quiet: Readonly<Record<string, string>>;
}

const condition = (name: string, value: 0 | 1, reason = 'AsExpected'): Readonly<Record<string, string>> => ({
  [`evenkeel_policy_condition{policy="even",condition="${name}",reason="${reason}"}`]: `${value}x600`,
});
const nextRun = (values: string): Readonly<Record<string, string>> => ({
  'evenkeel_policy_next_run_timestamp_seconds{policy="even"}': values,
});
const even = { policy: 'even' };
const steady = (value: number): string => `${value}x600`;

/** A firing and a quiet case for each alert. */
export const ALERT_CASES: readonly AlertCase[] = [
  {
    alert: 'EvenkeelAbsent',
    firing: {},
    after: 10,
    quiet: { 'evenkeel_build_info{version="1"}': steady(1) },
  },
  {
    alert: 'EvenkeelNoLeader',
    firing: { 'evenkeel_leader{instance="a"}': steady(0), 'evenkeel_leader{instance="b"}': steady(0) },
    after: 5,
    quiet: { 'evenkeel_leader{instance="a"}': steady(0), 'evenkeel_leader{instance="b"}': steady(1) },
  },
  {
    alert: 'EvenkeelSeveralLeaders',
    firing: { 'evenkeel_leader{instance="a"}': steady(1), 'evenkeel_leader{instance="b"}': steady(1) },
    after: 2,
    summary: '2 replicas of Evenkeel say that they lead.',
    // One hands over to the other, and one scrape falls between.
    quiet: { 'evenkeel_leader{instance="a"}': '1x10 0x500', 'evenkeel_leader{instance="b"}': '0x9 1x500' },
  },
  {
    alert: 'EvenkeelRunsFail',
    firing: { evenkeel_run_failures_total: '0+1x600' },
    after: 9,
    description: '9 runs failed in 15 minutes; the condition Degraded of the policies says why.',
    quiet: { evenkeel_run_failures_total: '0x20 2x500' },
  },
  {
    alert: 'EvenkeelRequestsFail',
    firing: {
      'evenkeel_api_requests_total{verb="GET",code="200"}': '0+60x600',
      'evenkeel_api_requests_total{verb="GET",code="503"}': '0+20x600',
      'evenkeel_api_requests_total{verb="GET",code="timeout"}': '0+20x600',
    },
    after: 16,
    summary: '40% of the requests to the API server fail.',
    quiet: {
      'evenkeel_api_requests_total{verb="GET",code="200"}': '0+95x600',
      'evenkeel_api_requests_total{verb="GET",code="503"}': '0+5x600',
      'evenkeel_api_requests_total{verb="POST",code="429"}': '0+90x600',
      'evenkeel_api_requests_total{verb="GET",code="aborted"}': '0+90x600',
    },
  },
  {
    alert: 'EvenkeelCacheStale',
    firing: { 'evenkeel_cache_age_seconds{resource="pods"}': '0x10 90x600' },
    after: 16,
    labels: { resource: 'pods' },
    summary: 'The cache of pods has not been current for 1m 30s.',
    quiet: { 'evenkeel_cache_age_seconds{resource="pods"}': '0x10 90x4 0x500' },
  },
  {
    alert: 'EvenkeelCacheDrifts',
    firing: { 'evenkeel_cache_drift_total{resource="pods"}': '0x10 3x600' },
    after: 11,
    labels: { resource: 'pods' },
    summary: 'The cache of pods had drifted from the API server.',
    quiet: { 'evenkeel_cache_drift_total{resource="pods"}': steady(3) },
  },
  {
    alert: 'EvenkeelPolicyNotAccepted',
    firing: condition('Accepted', 0),
    after: 10,
    labels: even,
    summary: 'RebalancePolicy even is not accepted.',
    description: 'Its spec, its schedule or its scope is not valid; kubectl describe rbp even says what to write.',
    quiet: condition('Accepted', 1),
  },
  {
    alert: 'EvenkeelPolicyDegraded',
    firing: condition('Degraded', 1),
    after: 15,
    labels: even,
    summary: 'RebalancePolicy even is degraded.',
    description: 'Something failed that needs a person; kubectl describe rbp even says what.',
    quiet: condition('Degraded', 0),
  },
  {
    alert: 'EvenkeelMetricsStale',
    firing: condition('MetricsFresh', 0, 'MetricsUnavailable'),
    after: 15,
    labels: even,
    summary: 'RebalancePolicy even has no fresh metrics.',
    quiet: {
      // Samples are late after a plan.
      'evenkeel_policy_condition{policy="even",condition="MetricsFresh",reason="Fresh"}': '1x10 _x12 1x500',
      'evenkeel_policy_condition{policy="even",condition="MetricsFresh",reason="AwaitingSamples"}': '_x10 0x12 _x500',
      // A policy is suspended before its first run, and another runs at night.
      'evenkeel_policy_condition{policy="off",condition="MetricsFresh",reason="AwaitingFirstRun"}': steady(0),
      'evenkeel_policy_condition{policy="off",condition="Ready",reason="Suspended"}': steady(0),
      'evenkeel_policy_condition{policy="night",condition="MetricsFresh",reason="AwaitingFirstRun"}': steady(0),
      'evenkeel_policy_next_run_timestamp_seconds{policy="night"}': steady(36_000),
    },
  },
  {
    alert: 'EvenkeelMetricsStale',
    // The first run has no result, so the age of the metrics is unknown.
    firing: { ...condition('MetricsFresh', 0, 'AwaitingFirstRun'), ...nextRun(steady(600)) },
    after: 25,
    labels: even,
    summary: 'RebalancePolicy even has no fresh metrics.',
    quiet: condition('MetricsFresh', 1, 'Fresh'),
  },
  {
    alert: 'EvenkeelPolicyNotReady',
    firing: {
      'evenkeel_policy_condition{policy="even",condition="Ready",reason="ObserveFailed"}': '0x20 _x600',
      'evenkeel_policy_condition{policy="even",condition="Ready",reason="MetricsUnavailable"}': '_x20 0x600',
    },
    after: 30,
    labels: even,
    summary: 'RebalancePolicy even has not been Ready for 30 minutes.',
    description: 'The operator cannot do its work for the policy; kubectl describe rbp even shows the reason.',
    quiet: {
      ...condition('Ready', 1),
      'evenkeel_policy_condition{policy="off",condition="Ready",reason="Suspended"}': steady(0),
      'evenkeel_policy_condition{policy="night",condition="Ready",reason="AwaitingFirstRun"}': steady(0),
    },
  },
  {
    alert: 'EvenkeelPolicyBlocked',
    firing: condition('Converged', 0, 'Blocked'),
    after: 120,
    labels: even,
    summary: 'RebalancePolicy even has been blocked for two hours.',
    description:
      'The spread is above the trigger and no pod may move; kubectl describe rbp even shows what blocks and until when.',
    quiet: {
      // Pods grow old enough within the hour.
      'evenkeel_policy_condition{policy="even",condition="Converged",reason="Blocked"}': '0x60 _x500',
      'evenkeel_policy_condition{policy="even",condition="Converged",reason="MovesPending"}': '_x60 0x500',
    },
  },
  {
    alert: 'EvenkeelRunOverdue',
    firing: nextRun(steady(300)),
    after: 21,
    labels: even,
    summary: 'A run of RebalancePolicy even has been due for 16m 0s.',
    quiet: nextRun('300+60x600'),
  },
  {
    alert: 'EvenkeelLedgersStale',
    firing: condition('LedgerFresh', 0),
    after: 15,
    labels: even,
    summary: 'RebalancePolicy even does not know what service all of its workloads got.',
    quiet: condition('LedgerFresh', 1),
  },
  {
    alert: 'EvenkeelNotConverging',
    firing: { ...condition('Converged', 0), ...condition('PlanReady', 1) },
    after: 360,
    labels: even,
    summary: 'RebalancePolicy even has had a plan for six hours without coming to rest.',
    // Without a plan there is nothing to carry out: what stands in the way is told elsewhere.
    quiet: { ...condition('Converged', 0), ...condition('PlanReady', 0) },
  },
  {
    alert: 'EvenkeelOverheadSpent',
    firing: { 'evenkeel_budget_remaining{policy="even",budget="maxOverhead"}': steady(-5) },
    after: 60,
    labels: { ...even, budget: 'maxOverhead' },
    summary: 'RebalancePolicy even has spent its maxOverhead.',
    quiet: {
      'evenkeel_budget_remaining{policy="even",budget="maxOverhead"}': steady(30),
      'evenkeel_budget_remaining{policy="even",budget="maxMoves"}': steady(0),
    },
  },
  {
    alert: 'EvenkeelMovesFail',
    firing: {
      'evenkeel_moves_total{result="Failed"}': '0+1x600',
      'evenkeel_moves_total{result="Landed"}': '0+1x600',
    },
    after: 9,
    summary: '9 moves failed within an hour, more than a fifth of all.',
    quiet: {
      'evenkeel_moves_total{result="Failed"}': '0+1x600',
      'evenkeel_moves_total{result="Landed"}': '0+9x600',
    },
  },
  {
    alert: 'EvenkeelSteeringMisses',
    firing: { 'evenkeel_steering_hit_ratio{mode="AdmissionPolicy"}': steady(0.25) },
    after: 60,
    labels: { mode: 'AdmissionPolicy' },
    summary: '25% of the replacements land where they were planned by AdmissionPolicy.',
    quiet: {
      'evenkeel_steering_hit_ratio{mode="AdmissionPolicy"}': steady(0.75),
      'evenkeel_steering_hit_ratio{mode="None"}': steady(0.1),
    },
  },
  {
    alert: 'EvenkeelServiceLevelMissed',
    firing: {
      'evenkeel_slo_fulfilment_ratio{class="batch"}': steady(0.5),
      'evenkeel_slo_fulfilment_ratio{class="prod"}': steady(1),
    },
    after: 15,
    labels: { class: 'batch' },
    summary: 'Only 50% of the workloads of class batch reach their SLO.',
    quiet: { 'evenkeel_slo_fulfilment_ratio{class="batch"}': steady(1) },
  },
  {
    alert: 'EvenkeelPreemptionOverhead',
    firing: { 'evenkeel_preemption_overhead_ratio{class="free"}': steady(0.1) },
    after: 30,
    labels: { class: 'free' },
    summary: 'Workloads of class free lose 10% of their time to starts after preemptions.',
    quiet: { 'evenkeel_preemption_overhead_ratio{class="free"}': steady(0.02) },
  },
];
