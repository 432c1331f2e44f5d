import type { RebalancePlan } from '../api/v1alpha1/rebalance-plan.ts';
import { step } from '../execute/executor.ts';
import { createFirstLooks } from '../execute/first-looks.ts';
import { planFields } from '../execute/move-log.ts';
import { compareText } from '../model/compare-text.ts';
import { type Seconds, seconds } from '../model/units.ts';
import type { StoredPolicy } from '../ports.ts';
import { hitRatiosByMode } from '../report/hit-ratio.ts';
import { sweepHints } from './hint-sweep.ts';
import type { GivenLoopPorts, LoopPorts, LoopSettings } from './loop-ports.ts';
import type { Pace } from './pace.ts';
import { createWaker, withBackOff } from './periodic.ts';
import { deletePlan } from './plan-end.ts';
import { createPolicyMemory, type PolicyMemory } from './policy-memory.ts';
import { reconcilePolicy } from './reconcile-policy.ts';

const IDLE_WAIT: Seconds = seconds(30);

/**
 * Runs all policies until aborted: each pass looks at every policy, begins, continues or ends what is due, and writes
 * status where it changed. Resolves when aborted. A failing pass is logged and tried again.
 */
export async function runLoop(given: GivenLoopPorts, settings: LoopSettings, signal: AbortSignal): Promise<void> {
  const ports = { ...given, firstLooks: createFirstLooks(given.clock) };
  const waker = createWaker();
  const memory = createPolicyMemory(waker.wake, ports);
  ports.demand.onNews(waker.wake);
  settings.pace.onChange(waker.wake);
  const watching = Promise.all([ports.policies.watch(waker.wake, signal), ports.plans.watch(waker.wake, signal)]);
  try {
    while (!signal.aborted) {
      const wait = await guardedPass(ports, settings, memory, signal);
      await waker.wait(wait, ports.clock, signal);
    }
  } finally {
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

async function guardedPass(
  ports: LoopPorts,
  settings: LoopSettings,
  memory: PolicyMemory,
  signal: AbortSignal,
): Promise<Seconds> {
  const whole = async (): Promise<Seconds> => {
    const wait = await pass(ports, settings, memory, signal);
    settings.passed();
    return wait;
  };
  return withBackOff(whole, (err) => ports.log('pass failed', { err }), ports, signal);
}

async function pass(
  ports: LoopPorts,
  settings: LoopSettings,
  memory: PolicyMemory,
  signal: AbortSignal,
): Promise<Seconds> {
  const policies = await ports.policies.list(signal);
  const plans = await ports.plans.list(signal);
  memory.keepOnly(policies);
  ports.telemetry.policies(policies);
  ports.telemetry.hitRatios(hitRatiosByMode(plans));
  const hintProblems = await sweepHints(plans, ports, signal);
  let wait = await finishOrphans(policies, plans, settings.pace, ports, signal);
  for (const stored of policies) {
    // The oldest first: of several that are carried out it only finishes what it has begun.
    const own = plans
      .filter(({ spec }) => spec.policy.uid === stored.policy.metadata.uid)
      .sort((left, right) => compareText(left.spec.takenAt, right.spec.takenAt));
    const [hintProblem] = own.flatMap(({ metadata }) => hintProblems.get(metadata.name) ?? []);
    const context = { ...settings, stored, policies, plans: own, allPlans: plans, hintProblem };
    const work = () => reconcilePolicy(context, memory, ports, signal);
    const failed = (err: unknown) => ports.log('policy failed', { policy: stored.policy.metadata.name, err });
    wait = Math.min(wait, await withBackOff(work, failed, ports, signal));
  }
  return seconds(Math.max(settings.pace.policies, wait));
}

/**
 * Plans whose policy was deleted are brought to their end, with nothing new begun, and then deleted too. Plans of policies
 * from files (no uid) are left alone. Resolves to the time until the next look.
 */
async function finishOrphans(
  policies: readonly StoredPolicy[],
  plans: readonly RebalancePlan[],
  pace: Pace,
  ports: LoopPorts,
  signal: AbortSignal,
): Promise<number> {
  let wait: number = IDLE_WAIT;
  const alive = new Set(policies.map(({ policy }) => policy.metadata.uid));
  const orphans = plans.filter(({ spec }) => spec.policy.uid !== '' && !alive.has(spec.policy.uid));
  for (const plan of orphans) {
    const work = () => finishOrphan(plan, pace, ports, signal);
    const failed = (err: unknown) => ports.log('plan failed', { ...planFields(plan), err });
    wait = Math.min(wait, await withBackOff(work, failed, ports, signal));
  }
  return wait;
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
