import type { RebalancePlan } from '../api/v1alpha1/rebalance-plan.ts';
import { step } from '../execute/executor.ts';
import { createFirstLooks } from '../execute/first-looks.ts';
import { planFields } from '../execute/move-log.ts';
import { createMutex } from '../model/mutex.ts';
import { type Seconds, seconds } from '../model/units.ts';
import type { StoredPolicy } from '../ports.ts';
import { hitRatiosByMode } from '../report/hit-ratio.ts';
import { sweepHints } from './hint-sweep.ts';
import type { GivenLoopPorts, LoopPorts, LoopSettings } from './loop-ports.ts';
import type { Pace } from './pace.ts';
import { createWaker, withBackOff } from './periodic.ts';
import { deletePlan } from './plan-end.ts';
import { createPolicyMemory, type PolicyMemory } from './policy-memory.ts';
import { plansOfPolicy } from './policy-plans.ts';
import { createPolicyWork, type PolicyWork } from './policy-work.ts';
import { reconcilePolicy } from './reconcile-policy.ts';

const IDLE_WAIT: Seconds = seconds(30);

/** What the loop goes on with from pass to pass. */
interface Loop {
  readonly ports: LoopPorts;
  readonly settings: LoopSettings;
  readonly memory: PolicyMemory;
  readonly work: PolicyWork;
  readonly signal: AbortSignal;
}

/**
 * Runs all policies until aborted: each pass looks at every policy that is not being worked on, begins, continues or ends what is
 * due, and writes status where it changed. Resolves when aborted. A failing pass is logged and tried again.
 */
export async function runLoop(given: GivenLoopPorts, settings: LoopSettings, signal: AbortSignal): Promise<void> {
  const ports = { ...given, firstLooks: createFirstLooks(given.clock), deciding: createMutex() };
  const waker = createWaker();
  const memory = createPolicyMemory(waker.wake, ports);
  const work = createPolicyWork(waker, ports.clock, signal);
  const loop = { ports, settings, memory, work, signal };
  ports.demand.onNews(waker.wake);
  settings.pace.onChange(waker.wake);
  const watching = Promise.all([ports.policies.watch(waker.wake, signal), ports.plans.watch(waker.wake, signal)]);
  try {
    while (!signal.aborted) {
      const wait = await guardedPass(loop);
      await waker.wait(wait, ports.clock, signal);
    }
  } finally {
    await work.ended();
    memory.clear();
    await writeNotes(ports);
    await watching;
  }
}

/** Saves the next leader from finding out by looking, as after a crash. Nothing is lost if this fails. */
async function writeNotes({ plans, log }: LoopPorts): Promise<void> {
  const { signal } = new AbortController();
  await plans.writeAll(signal).catch((err: unknown) => log('journal not stored', { err }));
}

function guardedPass(loop: Loop): Promise<Seconds> {
  const { ports, settings, signal } = loop;
  const whole = async (): Promise<Seconds> => {
    const wait = await pass(loop);
    settings.passed();
    return wait;
  };
  return withBackOff(whole, (err) => ports.log('pass failed', { err }), ports, signal);
}

async function pass(loop: Loop): Promise<Seconds> {
  const { ports, settings, memory, work, signal } = loop;
  const policies = await ports.policies.list(signal);
  const plans = await ports.plans.list(signal);
  memory.keepOnly(policies);
  ports.telemetry.policies(policies);
  ports.telemetry.hitRatios(hitRatiosByMode(plans));
  const hintProblems = await sweepHints(ports, signal);
  let wait: number = IDLE_WAIT;
  for (const uid of orphansOf(policies, plans)) {
    wait = Math.min(wait, await work.look(uid, (own) => finishOrphans(uid, settings.pace, ports, own)));
  }
  for (const stored of policies) {
    const { name, uid = name } = stored.policy.metadata;
    const failed = (err: unknown) => ports.log('policy failed', { policy: name, err });
    const reconcile = async (own: AbortSignal): Promise<Seconds> => {
      const plansOfIt = await plansOfPolicy(uid, ports.plans, own);
      const [hintProblem] = plansOfIt.flatMap(({ metadata }) => hintProblems.get(metadata.name) ?? []);
      const context = { ...settings, stored, policies, plans: plansOfIt, hintProblem };
      return reconcilePolicy(context, memory, ports, own);
    };
    wait = Math.min(wait, await work.look(uid, (own) => withBackOff(() => reconcile(own), failed, ports, own)));
  }
  return seconds(Math.max(settings.pace.policies, wait));
}

/** Policies, by uid, that were deleted and have plans. Plans of policies from files (no uid) are left alone. */
function orphansOf(policies: readonly StoredPolicy[], plans: readonly RebalancePlan[]): ReadonlySet<string> {
  const alive = new Set(policies.map(({ policy }) => policy.metadata.uid));
  const owners = plans.map(({ spec }) => spec.policy.uid);
  return new Set(owners.filter((uid) => uid !== '' && !alive.has(uid)));
}

/**
 * Plans of a policy that was deleted are brought to their end, with nothing new begun, and then deleted too. Resolves to the time
 * until the next look.
 */
async function finishOrphans(uid: string, pace: Pace, ports: LoopPorts, signal: AbortSignal): Promise<Seconds> {
  const whole = async (): Promise<Seconds> => {
    let wait = IDLE_WAIT;
    for (const plan of await plansOfPolicy(uid, ports.plans, signal)) {
      const work = () => finishOrphan(plan, pace, ports, signal);
      const failed = (err: unknown) => ports.log('plan failed', { ...planFields(plan), err });
      wait = seconds(Math.min(wait, await withBackOff(work, failed, ports, signal)));
    }
    return wait;
  };
  return withBackOff(whole, (err) => ports.log('pass failed', { err }), ports, signal);
}

async function finishOrphan(plan: RebalancePlan, pace: Pace, ports: LoopPorts, signal: AbortSignal): Promise<Seconds> {
  if (plan.status?.phase !== 'Executing') {
    await deletePlan(plan, ports, signal);
    return IDLE_WAIT;
  }
  await step(
    plan,
    { current: async () => undefined, options: undefined, maxConcurrent: 0, maxInFlight: 0, stop: undefined },
    ports,
    signal,
  );
  return pace.plans;
}
