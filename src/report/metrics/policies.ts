import { Histogram, type Registry } from 'prom-client';
import { parseInstant } from '../../model/instant.ts';
import type { EpochSeconds } from '../../model/units.ts';
import type { ApplicationTraffic, Plan } from '../../plan/plan.ts';
import type { PlannedRun, StoredPolicy, Telemetry } from '../../ports.ts';
import { type Figure, gaugeOf } from './gauge.ts';

/** What is kept of a run: not its plan, which names every pod that stays. */
interface RunFigures
  extends Pick<Plan, 'strategy' | 'imbalance' | 'spread' | 'coverage'>,
    Pick<PlannedRun, 'budgetsLeft'> {
  /** Core-seconds by class. */
  readonly penalties: ReadonlyMap<string, number>;
  readonly moves: number;
  /** Those with the most traffic between domains. */
  readonly applications: readonly ApplicationTraffic[];
}

/** Most applications that a policy has a figure for. */
const MOST_APPLICATIONS = 50;

/** What a gauge shows of one run. */
type Figures = (run: RunFigures) => readonly Figure[];

/**
 * Registers the metrics of runs and policies. Those of a policy that is gone are shown no more; those of one that this replica leads are
 * shown also where another replica tells of all policies.
 */
export function policyMetrics(registers: Registry[]): Pick<Telemetry, 'planned' | 'policies' | 'led' | 'nextRun'> {
  let led: readonly string[] = [];
  const runs = new Map<string, RunFigures>();
  /** As the last pass found it; what the status says is older where runs had no news. */
  const due = new Map<string, EpochSeconds | undefined>();
  let stored: readonly StoredPolicy[] = [];
  const gauge = (name: string, help: string, labels: readonly string[], figures: Figures): void =>
    gaugeOf(registers, name, help, ['policy', ...labels], () =>
      [...runs].flatMap(([policy, run]) => figures(run).map(([own, value]) => [{ policy, ...own }, value] as const)),
    );
  runGauges(gauge);
  gaugeOf(
    registers,
    'evenkeel_policy_condition',
    '1 while a condition of a policy is True, else 0, with its reason; as its status says.',
    ['policy', 'condition', 'reason'],
    () =>
      stored.flatMap(({ policy: { metadata, status: { conditions = [] } = {} } }) =>
        conditions.map(
          ({ type, reason, status }) =>
            [{ policy: metadata.name, condition: type, reason }, status === 'True' ? 1 : 0] as const,
        ),
      ),
  );
  gaugeOf(
    registers,
    'evenkeel_policy_next_run_timestamp_seconds',
    'When the next run of a policy is due, in seconds since 1970. No value while none is due: suspended, not accepted, or waiting for the plan that is carried out.',
    ['policy'],
    () => {
      const told = stored.flatMap(({ policy: { metadata, status } }) =>
        status?.nextRun === undefined ? [] : [[metadata.name, parseInstant(status.nextRun)] as const],
      );
      return [...new Map([...told, ...due])].flatMap(([policy, at]) =>
        at === undefined ? [] : [[{ policy }, at] as const],
      );
    },
  );
  gaugeOf(registers, 'evenkeel_policy_leader', '1 for each policy that this replica leads.', ['policy'], () =>
    led.map((policy) => [{ policy }, 1] as const),
  );
  function keepOnly(names: readonly string[]): void {
    const wanted = new Set(names);
    for (const kept of [runs, due]) {
      for (const name of [...kept.keys()].filter((each) => !wanted.has(each))) {
        kept.delete(name);
      }
    }
  }

  const duration = new Histogram({
    name: 'evenkeel_plan_duration_seconds',
    help: 'Time to compute a plan from a snapshot.',
    labelNames: ['strategy'],
    buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5],
    registers,
  });
  return {
    planned({ policy, plan, duration: span, budgetsLeft, services }) {
      const { strategy, imbalance, spread, coverage, moves } = plan;
      duration.observe({ strategy }, span);
      const penalties = new Map(services.classes.map(({ serviceClass, penalty }) => [serviceClass.name, penalty]));
      const applications = (plan.traffic?.applications ?? []).slice(0, MOST_APPLICATIONS);
      const figures = { strategy, imbalance, spread, coverage, budgetsLeft, penalties, applications };
      runs.set(policy, { ...figures, moves: moves.length });
    },
    policies(all) {
      stored = all;
      keepOnly([...all.map(({ policy }) => policy.metadata.name), ...led]);
    },
    led(names) {
      led = names;
      keepOnly(names);
    },
    nextRun: (policy, at) => void due.set(policy, at),
  };
}

type DeclareGauge = (name: string, help: string, labels: readonly string[], figures: Figures) => void;

function runGauges(gauge: DeclareGauge): void {
  gauge('evenkeel_plan_moves', 'Moves of the newest plan.', ['strategy'], ({ strategy, moves }) => [
    [{ strategy }, moves],
  ]);
  gauge(
    'evenkeel_imbalance_ratio',
    'Standard deviation of node load, a fraction of capacity, before the newest plan and as planned.',
    ['resource', 'phase'],
    ({ imbalance }) =>
      (['before', 'planned'] as const).flatMap((phase) =>
        Object.entries(imbalance[phase]).map(([resource, { stddev }]) => [{ resource, phase }, stddev] as const),
      ),
  );
  gauge(
    'evenkeel_spread_ratio',
    'Highest minus lowest node by aggregated load, a fraction of capacity, which thresholds.trigger is compared with: before the newest plan and as planned.',
    ['phase'],
    ({ spread }) => [
      [{ phase: 'before' }, spread.before],
      [{ phase: 'planned' }, spread.planned],
    ],
  );
  gauge(
    'evenkeel_application_cross_domain_bits_per_second',
    'Traffic of an application between domains before the newest plan, of the 50 AppGraphs with the most of it. No value where none passes, or none is known.',
    ['application', 'namespace'],
    ({ applications }) =>
      applications
        .filter(({ before }) => before.bandwidth > 0)
        .map(({ namespace, name, before }) => [{ application: name, namespace }, before.bandwidth] as const),
  );
  gauge('evenkeel_metrics_coverage_ratio', 'Share of the Ready nodes with a valid sample.', [], ({ coverage }) => [
    [{}, coverage.ratio],
  ]);
  gauge(
    'evenkeel_metrics_age_seconds',
    'Age of the oldest valid sample at the last run. No value while no node has one.',
    [],
    ({ coverage: { maxAge } }) => (maxAge === undefined ? [] : [[{}, maxAge]]),
  );
  gauge(
    'evenkeel_penalty_core_seconds',
    'What the workloads of a class in scope are owed for the window of the class, by spec.penalties of the ServiceClass, at the last run.',
    ['class'],
    ({ penalties }) => [...penalties].map(([name, penalty]) => [{ class: name }, penalty] as const),
  );
  gauge(
    'evenkeel_budget_remaining',
    'What the newest plan left of a budget that is in force: moves of maxMoves, pod-seconds of maxOverhead within its window.',
    ['budget'],
    ({ budgetsLeft }) => [...budgetsLeft].map(([budget, left]) => [{ budget }, left] as const),
  );
}
