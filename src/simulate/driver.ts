import type { RebalancePlan } from '../api/v1alpha1/rebalance-plan.ts';
import type { RebalancePolicy } from '../api/v1alpha1/rebalance-policy.ts';
import { budgetStop } from '../control/budget-stop.ts';
import { foreignPods } from '../control/foreign-pods.ts';
import { DEFAULT_MAX_CONCURRENT } from '../control/reconcile-policy.ts';
import { entries, openJournal } from '../execute/journal.ts';
import { serviceStop } from '../execute/service-stop.ts';
import { stopReason } from '../execute/stop-rules.ts';
import { isInFlight } from '../execute/transitions.ts';
import { formatInstant } from '../model/instant.ts';
import type { PastMove } from '../model/past-move.ts';
import { NO_SERVICE_LEVELS, type ServiceLevels } from '../model/service-level.ts';
import type { ClusterSnapshot, UsageSamples } from '../model/snapshot.ts';
import { projectPastMoves } from '../observe/project/past-moves.ts';
import { budgetsInForce } from '../plan/budgets/in-force.ts';
import { latestPeriod } from '../plan/cron.ts';
import { EXCLUDED_NAMESPACES, type PolicyOptions, resolveOptions, runTiming } from '../plan/options.ts';
import type { Plan } from '../plan/plan.ts';
import { plan as computePlan } from '../plan/planner.ts';
import { createUsageHistory, samplingPeriod, type UsageHistory } from '../plan/usage-history.ts';
import type { SteeringMode } from '../ports.ts';
import { toRebalancePlan } from '../report/plan-resource.ts';
import type { Cluster } from './cluster.ts';
import { createExecutor, type Executor } from './executor.ts';
import type { SchedulingViews } from './scheduling-view.ts';
import type { SimulatedPod, SimulatedWorkload } from './world.ts';

/** Plans whose moves are remembered, the newest ones, as the operator keeps them (retention.ts). */
const KEPT_PLANS = 100;
const DAY = 24 * 3600;
/** Time between two looks of the operator at the gates (control/gates.ts). */
const GATE_INTERVAL = 2;

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
  /** Counts what was asked for by the policy's interval: only the last one is to come. */
  turn: number;
  /** A run was due while a plan was being carried out. */
  isOwed: boolean;
  /** Where the policy smooths usage. */
  readonly history: UsageHistory | undefined;
}

/** Lets the policies run on the cluster as the operator would: plans by `plan()`, moves by the reducer of the executor. */
export function startDriver(settings: DriverSettings): void {
  const { cluster, policies, reaction } = settings;
  const { world } = cluster;
  const { queue } = world;
  const finished: { readonly at: number; readonly moves: readonly PastMove[] }[] = [];
  const runners = policies.map((policy): Runner => {
    const options = resolveOptions(policy.spec);
    const { smoothing, maxAge } = options.load;
    const history = smoothing > 0 ? createUsageHistory(smoothing, maxAge) : undefined;
    return { policy, options, aboveTrigger: 0, executor: undefined, attempts: 0, turn: 0, isOwed: false, history };
  });

  function openPlans(): readonly RebalancePlan[] {
    return runners.flatMap(({ executor }) => executor?.plan() ?? []);
  }

  function pastMoves(): readonly PastMove[] {
    while (finished.length > KEPT_PLANS || (finished[0]?.at ?? Number.POSITIVE_INFINITY) < queue.now() - DAY) {
      finished.shift();
    }
    const open = openPlans().flatMap((plan) => projectPastMoves({ ...plan }).moves);
    return [...finished.flatMap(({ moves }) => moves), ...open];
  }

  function run(runner: Runner): void {
    if (runner.executor !== undefined) {
      runner.isOwed = true;
      return;
    }
    askAgain(runner);
    const { policy, options } = runner;
    const snapshot = observed(runner);
    const plan = computePlan(snapshot, {
      ...options,
      scope: { ...options.scope, foreignPods: foreignTo(policy, snapshot) },
    });
    settings.planned(policy, plan);
    runner.aboveTrigger = isAbove(plan, options) ? runner.aboveTrigger + 1 : 0;
    const isEnough = plan.strategy === 'QoSDriven' || runner.aboveTrigger >= policy.spec.thresholds.consecutive;
    if (plan.moves.length > 0 && isEnough) {
      runner.attempts += 1;
      carryOut(runner, resourceOf(plan, policy, runner.attempts));
    }
  }

  function observed({ history }: Runner): ClusterSnapshot {
    const serviceLevels = settings.serviceLevels();
    const snapshot = world.snapshot({ pastMoves: pastMoves(), serviceLevels, usage: settings.usage() });
    history?.add(snapshot);
    return history?.smooth(snapshot) ?? snapshot;
  }

  /** Keeps the history of usage of a policy that smooths it. */
  function sample(runner: Runner): void {
    const { history, options } = runner;
    if (history !== undefined) {
      queue.at(queue.now() + samplingPeriod(options.load.smoothing), () => {
        history.add(world.snapshot({ pastMoves: [], serviceLevels: NO_SERVICE_LEVELS, usage: settings.usage() }));
        sample(runner);
      });
    }
  }

  /** Of two policies whose scopes overlap, the one that stands first owns the pods. */
  function foreignTo(policy: RebalancePolicy, snapshot: ClusterSnapshot): ReadonlySet<string> {
    const all = policies.map((each) => ({ policy: each, invalid: [] }));
    return policies.length < 2
      ? new Set()
      : foreignPods({ policy, invalid: [] }, all, snapshot, EXCLUDED_NAMESPACES).uids;
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
    const others = (): readonly RebalancePlan[] =>
      runners.flatMap((other) => (other === runner ? [] : (other.executor?.plan() ?? [])));
    runner.executor = createExecutor(plan, { ...settings, others });
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
    const now = world.wallClock();
    const stop =
      stopReason(plan, { policy, invalid: [] }, nodes) ??
      budgetStop(plan, options, openPlans(), now) ??
      serviceStop(plan, settings.serviceLevels(), now);
    return stop?.message;
  }

  function concurrency({ budgets }: PolicyOptions): number {
    const limits = budgetsInForce(budgets, world.wallClock()).flatMap(({ maxConcurrent }) => maxConcurrent ?? []);
    return limits.length === 0 ? DEFAULT_MAX_CONCURRENT : Math.min(...limits);
  }

  function end(runner: Runner, plan: RebalancePlan): void {
    runner.executor = undefined;
    finished.push({ at: queue.now(), moves: projectPastMoves({ ...plan }).moves });
    if (runner.isOwed) {
      runner.isOwed = false;
      queue.at(queue.now(), () => run(runner));
    }
  }

  /** Asks for the next run by the policy's interval, which begins anew with every run, or by its schedule. */
  function askAgain(runner: Runner): void {
    runner.turn += 1;
    const { turn } = runner;
    queue.at(queue.now() + latestPeriod(runTiming(runner.policy.spec), world.wallClock()), () => {
      if (runner.turn === turn) {
        run(runner);
      }
    });
  }

  for (const runner of runners.filter(({ policy }) => !policy.spec.suspend)) {
    askAgain(runner);
    sample(runner);
  }
  const driven = runners.filter(({ options, policy }) => options.strategy.type === 'QoSDriven' && !policy.spec.suspend);
  if (driven.length > 0) {
    onTurns(() => driven.forEach(run));
  }
  if (policies.length > 0) {
    openUnplannedGates(({ workload }) => driven.length > 0 && workload.spec.className !== undefined);
  }
  if (reaction === 0) {
    followClosely(() => runners.forEach(proceed));
  }

  /** Calls back once after all requests that arrive or end at one instant, and nodes that come or go (algorithms.md 6). */
  function onTurns(act: () => void): void {
    const ended = new Set<SimulatedWorkload>();
    const arrived = new Set<SimulatedWorkload>();
    let isAsked = false;
    const ask = (): void => {
      if (!isAsked) {
        isAsked = true;
        queue.at(queue.now(), () => {
          isAsked = false;
          act();
        });
      }
    };
    world.observe(({ workload }) => {
      if (!arrived.has(workload)) {
        arrived.add(workload);
        ask();
      } else if (workload.ended && !ended.has(workload)) {
        ended.add(workload);
        ask();
      }
    });
    world.observeNodes(ask);
  }

  /** Pods at our gate that nobody lets in when their turn comes are let through, if no move waits for them (control/gates.ts). */
  function openUnplannedGates(isGoverned: (pod: SimulatedPod) => boolean): void {
    world.observe((pod) => {
      if (pod.exists && pod.info.waiting?.gated === true && !isGoverned(pod)) {
        queue.at(queue.now() + GATE_INTERVAL, () => letThrough(pod));
      }
    });
  }

  function letThrough(pod: SimulatedPod): void {
    const isAwaited = openPlans().some((plan) =>
      entries(plan).some(({ run, move }) => isInFlight(run.phase) && move.owner.uid === pod.info.owner?.uid),
    );
    if (pod.exists && pod.info.waiting?.gated === true) {
      if (isAwaited) {
        queue.at(queue.now() + GATE_INTERVAL, () => letThrough(pod));
      } else {
        cluster.openGate(pod, undefined);
      }
    }
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
