import type { RebalancePlan } from '../api/v1alpha1/rebalance-plan.ts';
import type { RebalancePolicy, StrategyName } from '../api/v1alpha1/rebalance-policy.ts';
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
import type { Leadership, Term } from './shards/leadership.ts';
import { REST, type Shard } from './shards/names.ts';
import { type ShardsByPolicy, shardOf, shardsByPolicy } from './shards/shards.ts';

const IDLE_WAIT: Seconds = seconds(30);

/** What the loop goes on with from pass to pass. */
interface Loop {
  readonly ports: SharedPorts;
  readonly settings: LoopSettings;
  readonly memory: PolicyMemory;
  readonly work: PolicyWork;
  /** As of the last pass. */
  shards: ShardsByPolicy;
  readonly signal: AbortSignal;
}

/** The ports of all policies. */
type SharedPorts = Omit<LoopPorts, 'leaderEpoch'> & { readonly leadership: Leadership };

/**
 * Runs all policies that this replica leads until aborted: each pass looks at every policy that is not being worked on, begins, continues
 * or ends what is due, and writes status where it changed. Resolves when aborted. A failing pass is logged and tried again.
 */
export async function runLoop(given: GivenLoopPorts, settings: LoopSettings, signal: AbortSignal): Promise<void> {
  const deciding = createMutex();
  const { leadership, clock } = given;
  const recording = leadership.exclusive(deciding);
  const ports = { ...given, firstLooks: createFirstLooks(clock), deciding, recording, leader: leadership.replica };
  const waker = createWaker();
  const memory = createPolicyMemory(waker.wake, ports);
  const work = createPolicyWork(waker, ports.clock, signal);
  const loop: Loop = { ports, settings, memory, work, shards: new Map(), signal };
  leadership.onChange(waker.wake);
  leadership.onHandOver((shard) => letGo(shard, loop));
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

/** Nothing new has begun for the shard: resolves when what is under way has ended, and is stored for whoever leads it next. */
async function letGo(shard: Shard, { work, shards, ports }: Loop): Promise<void> {
  const uids = [...shards].filter(([, own]) => own === shard).map(([uid]) => uid);
  await Promise.all(uids.map((uid) => work.ended(uid)));
  await writeNotes(ports);
}

/** Saves the next leader from finding out by looking, as after a crash. Nothing is lost if this fails. */
async function writeNotes({ plans, log }: SharedPorts): Promise<void> {
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
  const orphans = orphansOf(policies, plans);
  loop.shards = shardsByPolicy(policies, orphans);
  const termOf = (uid: string | undefined): Term | undefined => ports.leadership.of(shardOf(uid, loop.shards));
  ports.leadership.keep(new Set([REST, ...loop.shards.values()]));
  const led = policies.filter(({ policy }) => termOf(uidOf(policy)) !== undefined);
  memory.keepOnly(led);
  tell(policies, led, plans, ports);
  const ours = new Set([...loop.shards.keys(), undefined].filter((uid) => termOf(uid) !== undefined));
  const hintProblems = await sweepHints(ports, (uid) => ours.has(uid), signal);
  let wait: number = IDLE_WAIT;
  const look = async (uid: string, begin: (ports: LoopPorts, own: AbortSignal) => Promise<Seconds>): Promise<void> => {
    const term = termOf(uid);
    if (term !== undefined) {
      const own = { ...ports, leaderEpoch: term.epoch };
      const begun = work.look(uid, (ending) => begin(own, AbortSignal.any([ending, term.signal])));
      wait = Math.min(wait, await begun);
    }
  };
  for (const uid of orphans.keys()) {
    await look(uid, (own, ending) => finishOrphans(uid, settings.pace, own, ending));
  }
  for (const stored of led) {
    const { name } = stored.policy.metadata;
    const uid = uidOf(stored.policy);
    const failed = (err: unknown) => ports.log('policy failed', { policy: name, err });
    const reconcile = async (own: LoopPorts, ending: AbortSignal): Promise<Seconds> => {
      const plansOfIt = await plansOfPolicy(uid, own.plans, ending);
      const [hintProblem] = plansOfIt.flatMap(({ metadata }) => hintProblems.get(metadata.name) ?? []);
      const context = { ...settings, stored, policies, plans: plansOfIt, hintProblem };
      return reconcilePolicy(context, memory, own, ending);
    };
    await look(uid, (own, ending) => withBackOff(() => reconcile(own, ending), failed, ports, ending));
  }
  return seconds(Math.max(settings.pace.policies, wait));
}

function uidOf({ metadata: { name, uid = name } }: RebalancePolicy): string {
  return uid;
}

/** What is said of all policies is said by whoever leads the rest, and what is said of one by whoever leads it. */
function tell(
  policies: readonly StoredPolicy[],
  led: readonly StoredPolicy[],
  plans: readonly RebalancePlan[],
  { telemetry, leadership }: SharedPorts,
): void {
  const isRestLed = leadership.of(REST) !== undefined;
  telemetry.policies(isRestLed ? policies : []);
  telemetry.hitRatios(hitRatiosByMode(isRestLed ? plans : []));
  telemetry.led(led.map(({ policy }) => policy.metadata.name));
}

/** Policies, by uid, that were deleted and have plans, with the strategy of these. Plans of policies from files (no uid) are left alone. */
function orphansOf(
  policies: readonly StoredPolicy[],
  plans: readonly RebalancePlan[],
): ReadonlyMap<string, StrategyName> {
  const alive = new Set(policies.map(({ policy }) => policy.metadata.uid));
  const left = plans.filter(({ spec: { policy } }) => policy.uid !== '' && !alive.has(policy.uid));
  return new Map(left.map(({ spec }) => [spec.policy.uid, spec.strategy]));
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
