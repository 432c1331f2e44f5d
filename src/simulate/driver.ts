import { Cron } from 'croner';
import type { RebalancePlan } from '../api/v1alpha1/rebalance-plan.ts';
import type { RebalancePolicy } from '../api/v1alpha1/rebalance-policy.ts';
import { budgetStop } from '../control/budget-stop.ts';
import { DEFAULT_MAX_CONCURRENT } from '../control/policy-pass.ts';
import { DEFAULT_INTERVAL } from '../control/schedule.ts';
import { openJournal } from '../execute/journal.ts';
import { stopReason } from '../execute/stop-rules.ts';
import { parseDuration } from '../model/duration.ts';
import { formatInstant } from '../model/instant.ts';
import type { PastMove } from '../model/past-move.ts';
import type { ServiceLevels } from '../model/service-level.ts';
import type { UsageSamples } from '../model/snapshot.ts';
import { projectPastMoves } from '../observe/project/past-moves.ts';
import { budgetsInForce } from '../plan/budgets/in-force.ts';
import { DEFAULT_ZONE, type PolicyOptions, resolveOptions } from '../plan/options.ts';
import type { Plan } from '../plan/plan.ts';
import { plan as computePlan } from '../plan/planner.ts';
import type { SteeringMode } from '../ports.ts';
import { toRebalancePlan } from '../report/plan-resource.ts';
import type { Cluster } from './cluster.ts';
import { createExecutor, type Executor } from './executor.ts';
import type { SchedulingViews } from './scheduling-view.ts';
import type { SimulatedPod } from './world.ts';

/** Plans whose moves are remembered, the newest ones, as the operator keeps them (retention.ts). */
const KEPT_PLANS = 100;
const DAY = 24 * 3600;

/** What policies are driven with. */
export interface DriverSettings {
  readonly cluster: Cluster;
  readonly views: SchedulingViews;
  readonly policies: readonly RebalancePolicy[];
  /** Seconds between two looks of the operator at a plan that it carries out; 0: it sees every change at once. */
  readonly reaction: number;
  readonly usage: () => UsageSamples | undefined;
  readonly serviceLevels: () => ServiceLevels;
  readonly planned: (policy: RebalancePolicy, plan: Plan) => void;
  readonly evicted: (pod: SimulatedPod, kind: 'Transfer' | 'Preemption') => void;
}

interface Runner {
  readonly policy: RebalancePolicy;
  readonly options: PolicyOptions;
  /** Runs in a row above the trigger. */
  aboveTrigger: number;
  executor: Executor | undefined;
  attempts: number;
  /** A run was due while a plan was being carried out. */
  isOwed: boolean;
}

/** Lets the policies run on the cluster as the operator would: plans by `plan()`, moves by the reducer of the executor. */
export function startDriver(settings: DriverSettings): void {
  const { cluster, policies, reaction } = settings;
  const { world } = cluster;
  const { queue } = world;
  const plans = new Map<string, RebalancePlan>();
  const finished: { readonly at: number; readonly moves: readonly PastMove[] }[] = [];
  const runners = policies.map((policy): Runner => {
    const options = resolveOptions(policy.spec);
    return { policy, options, aboveTrigger: 0, executor: undefined, attempts: 0, isOwed: false };
  });

  function pastMoves(): readonly PastMove[] {
    while (finished.length > KEPT_PLANS || (finished[0]?.at ?? Number.POSITIVE_INFINITY) < queue.now() - DAY) {
      finished.shift();
    }
    const open = [...plans.values()].flatMap((plan) => projectPastMoves({ ...plan }).moves);
    return [...finished.flatMap(({ moves }) => moves), ...open];
  }

  function run(runner: Runner): void {
    if (runner.executor !== undefined) {
      runner.isOwed = true;
      return;
    }
    const { policy, options } = runner;
    const serviceLevels = settings.serviceLevels();
    const snapshot = world.snapshot({ pastMoves: pastMoves(), serviceLevels, usage: settings.usage() });
    const plan = computePlan(snapshot, options);
    settings.planned(policy, plan);
    runner.aboveTrigger = isAbove(plan, options) ? runner.aboveTrigger + 1 : 0;
    if (plan.moves.length > 0 && runner.aboveTrigger >= policy.spec.thresholds.consecutive) {
      runner.attempts += 1;
      carryOut(runner, resourceOf(plan, policy, runner.attempts));
    }
  }

  /** What the operator would store, without the pods that stay. */
  function resourceOf(plan: Plan, policy: RebalancePolicy, attempt: number): RebalancePlan {
    const resource = toRebalancePlan({ ...plan, rejections: { pods: [], reasons: [] } }, policy, attempt);
    return {
      ...resource,
      status: {
        ...resource.status,
        phase: 'Executing',
        startedAt: formatInstant(world.wallClock()),
        steering: steeringOf(policy),
        moves: [...openJournal(resource)],
      },
    };
  }

  function carryOut(runner: Runner, plan: RebalancePlan): void {
    const { name } = plan.metadata;
    plans.set(name, plan);
    runner.executor = createExecutor(plan, {
      ...settings,
      plans: () => [...plans.values()],
      store: (changed) => plans.set(name, changed),
    });
    proceed(runner);
  }

  function proceed(runner: Runner): void {
    const { executor } = runner;
    if (executor === undefined) {
      return;
    }
    let hasChanged = true;
    while (hasChanged && !executor.isDone()) {
      const why = stopOf(runner, executor.plan());
      if (why !== undefined) {
        executor.abort(why);
      }
      hasChanged = executor.step(concurrency(runner.options)) && reaction === 0;
    }
    if (executor.isDone()) {
      end(runner, executor.plan());
    } else if (reaction > 0) {
      queue.at(queue.now() + reaction, () => proceed(runner));
    }
  }

  function stopOf({ policy, options }: Runner, plan: RebalancePlan): string | undefined {
    const nodes = [...world.nodes.values()].map(({ info }) => info);
    const stop =
      stopReason(plan, { policy, invalid: [] }, nodes) ??
      budgetStop(plan, options, [...plans.values()], world.wallClock());
    return stop?.message;
  }

  function concurrency({ budgets }: PolicyOptions): number {
    const limits = budgetsInForce(budgets, world.wallClock()).flatMap(({ maxConcurrent }) => maxConcurrent ?? []);
    return limits.length === 0 ? DEFAULT_MAX_CONCURRENT : Math.min(...limits);
  }

  function end(runner: Runner, plan: RebalancePlan): void {
    runner.executor = undefined;
    plans.delete(plan.metadata.name);
    finished.push({ at: queue.now(), moves: projectPastMoves({ ...plan }).moves });
    if (runner.isOwed) {
      runner.isOwed = false;
      queue.at(queue.now(), () => run(runner));
    }
  }

  function repeat(runner: Runner): void {
    queue.at(queue.now() + waitOf(runner.policy, world.wallClock()), () => {
      run(runner);
      repeat(runner);
    });
  }

  for (const runner of runners.filter(({ policy }) => !policy.spec.suspend)) {
    repeat(runner);
  }
  if (reaction === 0) {
    followClosely(() => runners.forEach(proceed));
  }

  /** Looks at plans under way once after all that happens at one instant. */
  function followClosely(look: () => void): void {
    let isAsked = false;
    world.observe(() => {
      if (!isAsked && runners.some(({ executor }) => executor !== undefined)) {
        isAsked = true;
        queue.at(queue.now(), () => {
          isAsked = false;
          look();
        });
      }
    });
  }
}

function isAbove(plan: Plan, { load, thresholds }: PolicyOptions): boolean {
  return plan.coverage.ratio >= load.minCoverage && plan.spread.before >= thresholds.trigger;
}

/** The simulated cluster offers all kinds of steering. */
function steeringOf({ spec }: RebalancePolicy): SteeringMode {
  return spec.steering.mode === 'Auto' ? 'AdmissionPolicy' : spec.steering.mode;
}

/** Seconds until the next run. */
function waitOf({ spec }: RebalancePolicy, now: number): number {
  if (spec.schedule === undefined) {
    return parseDuration(spec.interval ?? DEFAULT_INTERVAL);
  }
  const cron = new Cron(spec.schedule, { mode: '5-part', timezone: spec.timeZone ?? DEFAULT_ZONE });
  const next = cron.nextRun(new Date(now * 1000));
  return next === null ? Number.POSITIVE_INFINITY : next.getTime() / 1000 - now;
}
