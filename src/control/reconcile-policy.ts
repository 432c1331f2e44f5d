import { isDeepStrictEqual } from 'node:util';
import type { ConditionReason } from '../api/v1alpha1/conditions.ts';
import type { RebalancePlan } from '../api/v1alpha1/rebalance-plan.ts';
import { formatProblem } from '../api/validate.ts';
import { step } from '../execute/executor.ts';
import { serviceStop } from '../execute/service-stop.ts';
import type { StopReason } from '../execute/stop-rules.ts';
import { parseInstant } from '../model/instant.ts';
import { after, type EpochSeconds, elapsed, epochSeconds, type Seconds, seconds } from '../model/units.ts';
import { budgetsInForce } from '../plan/budgets/in-force.ts';
import { type PolicyOptions, planningOptions, resolveOptions } from '../plan/options.ts';
import { ConflictError, type StoredPolicy } from '../ports.ts';
import type { Verdict, Verdicts } from '../report/conditions.ts';
import { policyStatus } from '../report/policy-status.ts';
import { ledgerVerdict } from '../report/service-status.ts';
import { budgetStop } from './budget-stop.ts';
import { newsFor } from './gate-queue.ts';
import type { LoopPorts } from './loop-ports.ts';
import type { Pace } from './pace.ts';
import type { PolicyMemory, Remembered } from './policy-memory.ts';
import { expiredPlans, isOpen } from './retention.ts';
import { type RunContext, type RunResult, runPolicy, SteeringUnavailableError, startFields, supersede } from './run.ts';
import { takeSample, untilSample } from './sampling.ts';
import { scheduleProblems } from './schedule.ts';
import { readerFor, serverProblems } from './usage-source.ts';

/** Moves in flight when no budget says otherwise. */
export const DEFAULT_MAX_CONCURRENT = 2;

const RETRY_WAIT: Seconds = seconds(5);

/** One policy in one pass: its plans are advanced, a due run is made, its status is written. Resolves to the time until it wants to be looked at again. */
export async function reconcilePolicy(
  context: RunContext,
  memory: PolicyMemory,
  loopPorts: LoopPorts,
  signal: AbortSignal,
): Promise<Seconds> {
  const acceptance = accept(context.stored, loopPorts);
  const { spec } = context.stored.policy;
  const isAccepted = acceptance.status === 'True';
  const reader = isAccepted ? readerFor(spec, loopPorts.reader, loopPorts.usageServers) : loopPorts.reader;
  const ports = { ...loopPorts, reader };
  const remembered = isAccepted ? memory.of(context.stored) : undefined;
  const advanced = await attempt(
    'ExecuteFailed',
    () => advancePlans(context, acceptance, ports, signal),
    ports,
    signal,
  );
  const plans = advanced.value ?? (await ownPlans(context, ports, signal));
  const sampling = remembered?.sampling;
  const sampled =
    sampling === undefined
      ? NOTHING
      : await attempt('ObserveFailed', () => takeSample(sampling, ports, signal), ports, signal);
  const news = newsFor(ports.demand.news(), spec.strategy);
  const ready = remembered !== undefined && isDue(context.stored, plans, remembered, news, ports.clock.now());
  const ran = ready
    ? await attempt(
        'ObserveFailed',
        () => runPolicy({ ...context, plans }, ports, signal, sampling?.history),
        ports,
        signal,
      )
    : NOTHING;
  if (ready) {
    remember(remembered, ran.value, news, ports.clock.now());
  }
  const final = ready ? await ownPlans(context, ports, signal) : plans;
  await removeExpired(context.stored, final, ports, signal);
  const outcome = { acceptance, remembered, result: ran.value, plans: final };
  const verdicts = {
    ...recovery(context.stored, advanced),
    ...sampled.verdicts,
    ...advanced.verdicts,
    ...ran.verdicts,
  };
  return report(context, outcome, verdicts, ports, signal);
}

/** A plan that could not be carried on, and is again, degrades its policy no longer. */
function recovery({ policy }: StoredPolicy, { value }: Attempt<unknown>): Verdicts {
  const degraded = policy.status?.conditions?.find(({ type }) => type === 'Degraded');
  return value !== undefined && degraded?.reason === 'ExecuteFailed'
    ? { Degraded: { status: 'False', reason: 'AsExpected', message: 'nothing failed' } }
    : {};
}

/** Whether a policy is valid: by its schema and rules, and by its schedule, which CEL cannot judge. */
function accept({ policy, invalid }: StoredPolicy, { usageServers }: LoopPorts): Verdict {
  const unmet =
    invalid.length > 0
      ? invalid
      : serverProblems(policy.spec, usageServers, 'start the operator with').map(formatProblem);
  if (unmet.length > 0) {
    return { status: 'False', reason: 'InvalidSpec', message: unmet.join('; ') };
  }
  const problems = scheduleProblems(policy.spec);
  return problems.length === 0
    ? { status: 'True', reason: 'Valid', message: 'the policy is valid' }
    : { status: 'False', reason: 'InvalidSchedule', message: problems.map(formatProblem).join('; ') };
}

interface Attempt<Value> {
  readonly value: Value | undefined;
  readonly verdicts: Verdicts;
}

const NOTHING = { value: undefined, verdicts: {} };

/** A failing stage degrades its policy and leaves the others alone; a conflict only means that the next pass sees more. */
async function attempt<Value>(
  reason: ConditionReason,
  work: () => Promise<Value>,
  { log, runFailed }: LoopPorts,
  signal: AbortSignal,
): Promise<Attempt<Value>> {
  try {
    return { value: await work(), verdicts: {} };
  } catch (error) {
    if (signal.aborted) {
      throw error;
    }
    if (error instanceof ConflictError) {
      log.info({ err: error.message }, 'somebody else wrote first');
      return { value: undefined, verdicts: {} };
    }
    runFailed();
    log.error({ err: error }, reason);
    const message = error instanceof Error ? error.message : String(error);
    const why = error instanceof SteeringUnavailableError ? 'SteeringUnavailable' : reason;
    return { value: undefined, verdicts: { Degraded: { status: 'True', reason: why, message } } };
  }
}

/** Carries open plans on: executes, starts what was approved, ends what the policy has left behind. */
async function advancePlans(
  { stored, plans, allPlans, excludedNamespaces }: RunContext,
  acceptance: Verdict,
  ports: LoopPorts,
  signal: AbortSignal,
): Promise<readonly RebalancePlan[]> {
  const { policy } = stored;
  const options =
    acceptance.status === 'True' ? planningOptions(resolveOptions(policy.spec, excludedNamespaces)) : undefined;
  const maxConcurrent = concurrency(options, ports.clock.now());
  const result: RebalancePlan[] = [];
  for (const plan of plans) {
    if (plan.status?.phase === 'Executing') {
      const stop = options === undefined ? undefined : stopOf(plan, options, allPlans, ports);
      const current = await asItStands(stored, ports, signal);
      result.push(await step(plan, { stored: current, options, maxConcurrent, stop }, ports, signal));
    } else if (plan.status?.phase === undefined) {
      result.push(await supersede(plan, 'was cut off before it had a phase: the next run plans anew', ports, signal));
    } else if (isOpen(plan) && plan.spec.policy.generation !== policy.metadata.generation) {
      result.push(await supersede(plan, 'the policy was edited', ports, signal));
    } else if (mayStart(plan, stored, options !== undefined)) {
      const started = await startFields(policy.spec.steering.mode, ports, signal);
      const status = { ...plan.status, ...started, phase: 'Executing' } as const;
      result.push(await ports.plans.writeStatus(plan, status, signal));
    } else {
      result.push(plan);
    }
  }
  return result;
}

/** By the rules that look at more than the plan, its policy and the nodes. */
function stopOf(
  plan: RebalancePlan,
  options: PolicyOptions,
  allPlans: readonly RebalancePlan[],
  { clock, ledgerNews }: LoopPorts,
): StopReason | undefined {
  const now = clock.now();
  return budgetStop(plan, options, allPlans, now) ?? serviceStop(plan, ledgerNews.levels(), now);
}

/** An edit, a suspension or a deletion stops new intents at once, also in a pass that other policies have made long. */
async function asItStands(
  { policy }: StoredPolicy,
  { policies }: LoopPorts,
  signal: AbortSignal,
): Promise<StoredPolicy | undefined> {
  return (await policies.list(signal)).find((other) => other.policy.metadata.uid === policy.metadata.uid);
}

/** The least `maxConcurrent` of the budgets in force. */
function concurrency(options: PolicyOptions | undefined, now: EpochSeconds): number {
  const limits = budgetsInForce(options?.budgets ?? [], now).flatMap(({ maxConcurrent }) => maxConcurrent ?? []);
  return limits.length === 0 ? DEFAULT_MAX_CONCURRENT : Math.min(...limits);
}

function mayStart(plan: RebalancePlan, { policy }: StoredPolicy, accepted: boolean): boolean {
  return accepted && !policy.spec.suspend && plan.status?.phase === 'AwaitingApproval' && plan.spec.approved;
}

async function ownPlans(
  { stored }: RunContext,
  ports: LoopPorts,
  signal: AbortSignal,
): Promise<readonly RebalancePlan[]> {
  const plans = await ports.plans.list(signal);
  return plans.filter(({ spec }) => spec.policy.uid === stored.policy.metadata.uid);
}

function isDue(
  { policy }: StoredPolicy,
  plans: readonly RebalancePlan[],
  { schedule, notBefore, demand }: Remembered,
  news: number | undefined,
  now: EpochSeconds,
): boolean {
  const busy = plans.some(({ status }) => status?.phase === 'Executing');
  const held = notBefore !== undefined && notBefore > now;
  const isDemanded = news !== undefined && demand !== news;
  return !policy.spec.suspend && !busy && !held && (isDemanded || schedule.due(lastRunOf(policy), now));
}

/** An edited policy runs at once. */
function lastRunOf({ status, metadata }: StoredPolicy['policy']): EpochSeconds | undefined {
  return status?.lastRun === undefined || status.observedGeneration !== metadata.generation
    ? undefined
    : parseInstant(status.lastRun);
}

function remember(
  remembered: Remembered,
  result: RunResult | undefined,
  news: number | undefined,
  now: EpochSeconds,
): void {
  remembered.demand = news ?? 0;
  remembered.notBefore = result?.kind === 'Planned' ? undefined : after(now, RETRY_WAIT);
  if (result?.kind === 'Planned') {
    remembered.overlap = result.overlap;
    remembered.services = result.facts.services;
  }
}

async function removeExpired(
  { policy }: StoredPolicy,
  plans: readonly RebalancePlan[],
  ports: LoopPorts,
  signal: AbortSignal,
): Promise<void> {
  for (const { metadata } of expiredPlans(plans, policy.spec.historyLimit ?? 10, ports.clock.now())) {
    await ports.plans.remove(metadata.name, signal);
  }
}

interface Outcome {
  readonly acceptance: Verdict;
  readonly remembered: Remembered | undefined;
  readonly result: RunResult | undefined;
  readonly plans: readonly RebalancePlan[];
}

async function report(
  { stored: { policy }, pace }: RunContext,
  { acceptance, remembered, result, plans }: Outcome,
  failures: Verdicts,
  ports: LoopPorts,
  signal: AbortSignal,
): Promise<Seconds> {
  const now = ports.clock.now();
  const run = result?.kind === 'Planned' ? result.facts : undefined;
  const lastRun = run?.startedAt ?? lastRunOf(policy);
  const nextRun = nextRunOf(policy, remembered, plans, lastRun, now);
  const overlap = remembered?.overlap;
  const status = policyStatus(
    policy,
    {
      acceptance: overlap === undefined ? acceptance : { status: 'False', reason: 'Conflicting', message: overlap },
      suspended: policy.spec.suspend,
      run,
      postponed: { ...(result?.kind === 'Postponed' ? result.verdicts : {}), ...failures },
      plans,
      nextRun,
      ledgers: ledgersNow(remembered, ports),
    },
    now,
  );
  if (!isDeepStrictEqual(status, policy.status)) {
    await ports.policies.writeStatus(policy, status, signal);
  }
  return seconds(Math.min(waitOf(plans, nextRun, pace, now), untilSample(remembered?.sampling, now)));
}

/** By what the last run found, and by whether ledgers are kept now; `undefined` while either is not known. */
function ledgersNow(remembered: Remembered | undefined, { ledgerNews, clock }: LoopPorts): Verdict | undefined {
  const health = ledgerNews.health(clock.monotonic());
  return remembered?.services === undefined || health.kind === 'Awaiting'
    ? undefined
    : ledgerVerdict(remembered.services, health.kind === 'Failing' ? health.why : undefined);
}

/** Undefined while nothing can be said: suspended, or a plan is being carried out. */
function nextRunOf(
  { spec }: StoredPolicy['policy'],
  remembered: Remembered | undefined,
  plans: readonly RebalancePlan[],
  lastRun: EpochSeconds | undefined,
  now: EpochSeconds,
): EpochSeconds | undefined {
  const busy = plans.some(({ status }) => status?.phase === 'Executing');
  return remembered === undefined || spec.suspend || busy
    ? undefined
    : epochSeconds(Math.max(remembered.schedule.nextRun(lastRun, now), remembered.notBefore ?? 0));
}

function waitOf(
  plans: readonly RebalancePlan[],
  nextRun: EpochSeconds | undefined,
  pace: Pace,
  now: EpochSeconds,
): Seconds {
  if (plans.some(({ status }) => status?.phase === 'Executing')) {
    return pace.plans;
  }
  return elapsed(now, nextRun ?? epochSeconds(Number.POSITIVE_INFINITY));
}
