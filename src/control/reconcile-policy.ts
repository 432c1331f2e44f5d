import { isDeepStrictEqual } from 'node:util';
import type { ConditionReason } from '../api/v1alpha1/conditions.ts';
import type { RebalancePlan } from '../api/v1alpha1/rebalance-plan.ts';
import type { RebalancePolicy, RebalancePolicyStatus } from '../api/v1alpha1/rebalance-policy.ts';
import { step } from '../execute/executor.ts';
import type { ExecutionPolicy } from '../execute/executor-ports.ts';
import { planFields } from '../execute/move-log.ts';
import { serviceStop } from '../execute/service-stop.ts';
import { formatInstant } from '../model/instant.ts';
import { after, type EpochSeconds, type Seconds } from '../model/units.ts';
import { budgetsInForce } from '../plan/budgets/in-force.ts';
import { type PolicyOptions, planningOptions } from '../plan/options.ts';
import { resolveOptions } from '../plan/resolve-options.ts';
import { ConflictError, type StoredPolicy } from '../ports.ts';
import type { Verdict, Verdicts } from '../report/conditions.ts';
import { outcomeMessage } from '../report/plan-resource.ts';
import { policyStatus } from '../report/policy-status.ts';
import { ledgerVerdict } from '../report/service-status.ts';
import { budgetStop } from './budget-stop.ts';
import {
  acceptance,
  type Due,
  expiredNow,
  newsOf,
  nextRunOf,
  type PlanAction,
  type PolicyState,
  podsUnderWay,
  RETRY_WAIT,
  type RunCause,
  untilNextLook,
  whatIsDue,
} from './due.ts';
import type { LoopPorts, LoopSettings } from './loop-ports.ts';
import { MOST_DELETED, moveHistory, withExpired } from './past-overhead.ts';
import { deletePlan, supersede } from './plan-end.ts';
import type { PolicyMemory, Remembered } from './policy-memory.ts';
import { plansOfPolicy } from './policy-plans.ts';
import { type RunContext, type RunResult, runPolicy } from './run.ts';
import { takeSample } from './sampling.ts';
import { chooseSteering, SteeringUnavailableError, startFields } from './steering.ts';
import { readerFor } from './usage-source.ts';

/** Moves in flight when no budget says otherwise. */
const DEFAULT_MAX_CONCURRENT = 2;

/** What a pass knows of one policy. */
export interface PolicyContext extends RunContext, Pick<LoopSettings, 'maxInFlight'> {
  /** Why a hint remains that no move of its plans needs; `undefined` when none does. */
  readonly hintProblem: string | undefined;
}

/** One policy in one pass. */
interface Pass {
  readonly context: PolicyContext;
  readonly accepted: Verdict;
  readonly remembered: Remembered | undefined;
  readonly ports: LoopPorts;
  readonly signal: AbortSignal;
}

/**
 * One policy in one pass: its plans are carried on, a due run is made, what is kept no longer is removed, and its status is
 * written. What is due is decided by `whatIsDue`. Resolves to the time until the policy wants to be looked at again.
 */
export async function reconcilePolicy(
  context: PolicyContext,
  memory: PolicyMemory,
  loopPorts: LoopPorts,
  signal: AbortSignal,
): Promise<Seconds> {
  const pass = begin(context, memory, loopPorts, signal);
  const advanced = await attempt('ExecuteFailed', () => advancePlans(pass, dueNow(pass, context.plans)), pass);
  const sampled = await attempt('ObserveFailed', () => sample(pass), pass);
  const plans = advanced.value ?? (await ownPlans(pass));
  const cause = dueNow(pass, plans).run;
  const ran = cause === undefined ? NOTHING : await attempt('ObserveFailed', () => run(pass, cause, plans), pass);
  const final = cause === undefined ? plans : await ownPlans(pass);
  const failures = {
    ...recovery(context, advanced),
    ...hintVerdict(context),
    ...pass.remembered?.removal,
    ...sampled.verdicts,
    ...advanced.verdicts,
    ...ran.verdicts,
  };
  const expired = expiredNow(stateOf(pass, final)).slice(0, MOST_DELETED);
  const { wait, isStored } = await report(pass, final, expired, ran.value, failures);
  if (isStored) {
    const { verdicts } = await attempt('ExecuteFailed', () => remove(expired, pass), pass);
    if (pass.remembered !== undefined) {
      pass.remembered.removal = verdicts;
    }
  }
  return wait;
}

function begin(context: PolicyContext, memory: PolicyMemory, ports: LoopPorts, signal: AbortSignal): Pass {
  const { stored } = context;
  const accepted = acceptance(stored, ports.usageServers);
  if (accepted.status !== 'True') {
    return { context, accepted, remembered: undefined, ports, signal };
  }
  const reader = readerFor(stored.policy.spec, ports.reader, ports.usageServers);
  return { context, accepted, remembered: memory.of(stored), ports: { ...ports, reader }, signal };
}

function dueNow(pass: Pass, plans: readonly RebalancePlan[]): Due {
  return whatIsDue(stateOf(pass, plans));
}

function stateOf({ context: { stored }, remembered, ports }: Pass, plans: readonly RebalancePlan[]): PolicyState {
  return { stored, plans, remembered, news: ports.demand.news(), now: ports.clock.now() };
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
  { context: { stored }, ports: { log, runFailed }, signal }: Pass,
): Promise<Attempt<Value>> {
  const policy = stored.policy.metadata.name;
  try {
    return { value: await work(), verdicts: {} };
  } catch (error) {
    if (signal.aborted) {
      throw error;
    }
    if (error instanceof ConflictError) {
      log('write conflict', { policy, ledger: undefined, problem: error.message });
      return { value: undefined, verdicts: {} };
    }
    runFailed();
    log('policy failed', { policy, err: error });
    const message = error instanceof Error ? error.message : String(error);
    const why = error instanceof SteeringUnavailableError ? 'SteeringUnavailable' : reason;
    return { value: undefined, verdicts: { Degraded: { status: 'True', reason: why, message } } };
  }
}

/** A plan that could not be carried on, and is again, degrades its policy no longer. */
function recovery({ stored: { policy } }: PolicyContext, { value }: Attempt<unknown>): Verdicts {
  const degraded = policy.status?.conditions?.find(({ type }) => type === 'Degraded');
  const isOver = degraded?.reason === 'HintsRemain' || (value !== undefined && degraded?.reason === 'ExecuteFailed');
  return isOver ? { Degraded: { status: 'False', reason: 'AsExpected', message: 'nothing failed' } } : {};
}

function hintVerdict({ hintProblem }: PolicyContext): Verdicts {
  return hintProblem === undefined ? {} : { Degraded: { status: 'True', reason: 'HintsRemain', message: hintProblem } };
}

async function advancePlans(pass: Pass, { actions }: Due): Promise<readonly RebalancePlan[]> {
  const { plans } = pass.context;
  const options = optionsOf(pass);
  const advanced: RebalancePlan[] = [];
  for (const [place, plan] of plans.entries()) {
    advanced.push(await advance(plan, actions[place] ?? { kind: 'Leave' }, options, pass));
  }
  return advanced;
}

async function advance(
  plan: RebalancePlan,
  action: PlanAction,
  options: PolicyOptions | undefined,
  pass: Pass,
): Promise<RebalancePlan> {
  const { context, ports, signal } = pass;
  switch (action.kind) {
    case 'Step':
      return step(plan, executionPolicy(plan, options, pass), ports, signal);
    case 'Supersede':
      return supersede(plan, action.why, ports, signal);
    case 'Start': {
      return start(plan, context.stored, ports, signal);
    }
    case 'Leave':
      return plan;
    default:
      return action satisfies never;
  }
}

async function start(
  plan: RebalancePlan,
  { policy: { spec } }: StoredPolicy,
  ports: LoopPorts,
  signal: AbortSignal,
): Promise<RebalancePlan> {
  const started = await startFields(spec.steering.mode, ports, signal);
  const stored = await ports.plans.writeStatus(plan, { ...plan.status, ...started, phase: 'Executing' }, signal);
  const { steering } = started;
  ports.log('plan approved', { ...planFields(plan), moves: plan.spec.moves.length, steering });
  return stored;
}

/** `undefined` for a policy that is not valid. */
function optionsOf({ accepted, context: { stored, excludedNamespaces } }: Pass): PolicyOptions | undefined {
  return accepted.status === 'True'
    ? planningOptions(resolveOptions(stored.policy.spec, excludedNamespaces))
    : undefined;
}

/**
 * The policy as it stands now: an edit, a suspension or a deletion stops new intents at once, also in a pass that other
 * policies have made long. It stops also by the rules that look at more than the plan, its policy and the nodes.
 */
function executionPolicy(
  plan: RebalancePlan,
  options: PolicyOptions | undefined,
  { context: { stored, maxInFlight }, ports: { clock, ledgerNews, policies } }: Pass,
): ExecutionPolicy {
  const { uid } = stored.policy.metadata;
  const current = async (at: AbortSignal) =>
    (await policies.list(at)).find(({ policy }) => policy.metadata.uid === uid);
  const now = clock.now();
  const limits = { current, options, maxConcurrent: concurrency(options, now), maxInFlight };
  if (options === undefined) {
    return { ...limits, stop: undefined };
  }
  return {
    ...limits,
    // Policies after plans: a plan that is deleted has been counted by its policy before.
    stop: async (plans, at) => {
      const stored = await policies.list(at);
      const service = serviceStop(plan, ledgerNews.levels(), clock.now());
      const budgets = budgetStop(plan, options, () => moveHistory(stored, plans), clock.now());
      return (next) => budgets(next) ?? service;
    },
  };
}

/** The least `maxConcurrent` of the budgets in force. */
function concurrency(options: PolicyOptions | undefined, now: EpochSeconds): number {
  const limits = budgetsInForce(options?.budgets ?? [], now).flatMap(({ maxConcurrent }) => maxConcurrent ?? []);
  return limits.length === 0 ? DEFAULT_MAX_CONCURRENT : Math.min(...limits);
}

async function sample({ remembered, ports, signal }: Pass): Promise<void> {
  if (remembered?.sampling !== undefined) {
    await takeSample(remembered.sampling, ports, signal);
  }
}

/** Runs the policy; what came of it decides when it may run again. */
async function run(pass: Pass, cause: RunCause, plans: readonly RebalancePlan[]): Promise<RunResult> {
  const { context, remembered, ports, signal } = pass;
  const news = newsOf(context.stored, ports.demand.news());
  let result: RunResult | undefined;
  try {
    if (remembered !== undefined) {
      remembered.steering = await chooseSteering(context.stored.policy.spec.steering.mode, ports, signal);
    }
    result = await runPolicy({ ...context, plans, cause }, ports, signal, remembered?.sampling?.history);
    logRun(pass, cause, result);
    return result;
  } finally {
    remember(remembered, result, {
      cause,
      news,
      underWay: podsUnderWay(plans),
      now: ports.clock.now(),
      pace: context.pace,
    });
  }
}

/** A run without news is not logged, nor is a postponed one that was postponed before. */
function logRun({ context, remembered, ports: { log } }: Pass, cause: RunCause, result: RunResult): void {
  const policy = context.stored.policy.metadata.name;
  if (result.kind === 'Postponed') {
    if (remembered?.isPostponed === false) {
      log('run postponed', { policy, cause, result: result.why });
    }
  } else if (result.isNews) {
    const { plan, stored } = result.facts;
    log('run finished', {
      policy,
      cause,
      outcome: plan.outcome.kind,
      moves: plan.moves.length,
      plan: stored?.metadata.name,
      result: outcomeMessage(plan),
    });
  }
}

/** What was known when a run began, and when it ended. */
interface RunEnd extends Pick<PolicyContext, 'pace'> {
  readonly cause: RunCause;
  readonly news: number | undefined;
  readonly underWay: ReadonlySet<string>;
  readonly now: EpochSeconds;
}

/** Without a result the run has failed: what it was demanded for is still to be done. */
function remember(
  remembered: Remembered | undefined,
  result: RunResult | undefined,
  { cause, news, underWay, now, pace }: RunEnd,
): void {
  if (remembered === undefined) {
    return;
  }
  remembered.isPostponed = result?.kind === 'Postponed';
  remembered.notBefore = after(now, result?.kind === 'Planned' ? pace.policies : RETRY_WAIT);
  if (result?.kind === 'Planned') {
    remembered.demand = news ?? 0;
    remembered.request = result.facts.request;
    remembered.ranAt = cause === 'Again' ? remembered.ranAt : result.facts.startedAt;
    remembered.againAt = result.awaitsLedgers ? after(now, RETRY_WAIT) : result.restEnds;
    remembered.underWay = underWay;
    remembered.overlap = result.overlap;
    remembered.services = result.facts.services;
  }
}

function ownPlans({ context, ports, signal }: Pass): Promise<readonly RebalancePlan[]> {
  return plansOfPolicy(context.stored.policy.metadata.uid, ports.plans, signal);
}

async function remove(expired: readonly RebalancePlan[], { ports, signal }: Pass): Promise<void> {
  for (const plan of expired) {
    await deletePlan(plan, ports, signal);
  }
}

async function report(
  pass: Pass,
  plans: readonly RebalancePlan[],
  expired: readonly RebalancePlan[],
  result: RunResult | undefined,
  failures: Verdicts,
): Promise<{ readonly wait: Seconds; readonly isStored: boolean }> {
  const { context, accepted, remembered, ports, signal } = pass;
  const { policy } = context.stored;
  const state = stateOf(pass, plans);
  const facts = result?.kind === 'Planned' && result.isNews ? result.facts : undefined;
  const nextRun = nextRunOf(state);
  ports.telemetry.nextRun(policy.metadata.name, nextRun);
  const overlap = remembered?.overlap;
  const status = policyStatus(
    policy,
    {
      acceptance: overlap === undefined ? accepted : { status: 'False', reason: 'Conflicting', message: overlap },
      suspended: policy.spec.suspend,
      run: facts,
      postponed: { ...(result?.kind === 'Postponed' ? result.verdicts : {}), ...failures },
      plans,
      nextRun: facts === undefined && isUntold(policy, remembered) ? undefined : (nextRun ?? 'None'),
      ledgers: ledgersNow(remembered, ports),
      steering: remembered?.steering,
      leader: ports.leader,
      past: withExpired(policy.status, expired, plans, state.now),
    },
    state.now,
  );
  const isStored = isDeepStrictEqual(status, policy.status) || (await writeIfThere(policy, status, ports, signal));
  return { wait: untilNextLook(state, nextRun, context.pace), isStored };
}

/** Whether the last run is not in the status: then the time of the next one is not, either. */
function isUntold({ status }: RebalancePolicy, remembered: Remembered | undefined): boolean {
  return remembered?.ranAt !== undefined && formatInstant(remembered.ranAt) !== status?.lastRun;
}

/** A policy may be deleted during its pass; resolves to whether it was there. */
async function writeIfThere(
  policy: RebalancePolicy,
  status: RebalancePolicyStatus,
  { policies, log }: LoopPorts,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await policies.writeStatus(policy, status, signal);
    return true;
  } catch (error) {
    if (!(error instanceof ConflictError)) {
      throw error;
    }
    log('write conflict', { policy: policy.metadata.name, ledger: undefined, problem: error.message });
    return false;
  }
}

/** By what the last run found, and by whether ledgers are kept now; `undefined` while either is not known. */
function ledgersNow(remembered: Remembered | undefined, { ledgerNews, clock }: LoopPorts): Verdict | undefined {
  const health = ledgerNews.health(clock.monotonic());
  return remembered?.services === undefined || health.kind === 'Awaiting'
    ? undefined
    : ledgerVerdict(remembered.services, health.kind === 'Failing' ? health.why : undefined);
}
