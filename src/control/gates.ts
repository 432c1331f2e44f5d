import type { RebalancePlan } from '../api/v1alpha1/rebalance-plan.ts';
import { movesInFlight } from '../execute/journal.ts';
import type { JournalEntry } from '../execute/move.ts';
import { podFields } from '../execute/move-log.ts';
import { cameAfter } from '../execute/siblings.ts';
import { isStuck } from '../execute/verify.ts';
import type { PodInfo } from '../model/pod.ts';
import { elapsed, type Seconds, seconds } from '../model/units.ts';
import { count } from '../plan/format.ts';
import { resolveOptions } from '../plan/resolve-options.ts';
import { scopeTest } from '../plan/scope.ts';
import { STRATEGY_TRAITS } from '../plan/strategies/traits.ts';
import type { Clock, ClusterReader, Gates, Log, PlanStore, PolicyStore, StoredPolicy, Telemetry } from '../ports.ts';
import { classOf } from '../qos/class-of.ts';
import type { GateQueue } from './gate-queue.ts';
import type { LoopSettings } from './loop-ports.ts';
import { createWaker, withBackOff } from './periodic.ts';
import { createReleaseBackOff, type ReleaseBackOff } from './release-back-off.ts';
import { scheduleProblems } from './schedule.ts';
import type { Leadership } from './shards/leadership.ts';

/** What gates are kept open through. */
export interface GatePorts extends GovernancePorts {
  readonly demand: GateQueue;
  readonly gates: Gates;
  readonly leadership: Pick<Leadership, 'caughtUp'>;
  readonly plans: PlanStore;
  readonly telemetry: Telemetry;
  readonly clock: Clock;
  readonly log: Log;
  /** A look at the gates failed. */
  readonly runFailed: () => void;
}

/** How often it is asked whether gates may be opened: a role may be bound, or taken away, at any time. */
const RIGHTS_INTERVAL: Seconds = seconds(30);

/**
 * Sees to it that no pod waits at our gate for nothing, while this replica leads: opens the gate of every pod that no move in
 * flight waits for (its controller was scaled up, its move has ended) and that no policy of QoSDriven lets in when its turn
 * comes, and releases those that were tied to a node which cannot take them. Those that wait for their turn are reported to
 * `demand`. Looks when a pod arrives, and now and then. Runs apart from the control loop, so that no long pass delays a rollout.
 * Resolves when aborted.
 */
export async function keepGates(
  ports: GatePorts,
  settings: Pick<LoopSettings, 'excludedNamespaces' | 'pace'>,
  signal: AbortSignal,
): Promise<void> {
  const waker = createWaker();
  settings.pace.onArrival(waker.wake);
  const backOff = createReleaseBackOff();
  let confirmed: Seconds | undefined;
  const look = async (): Promise<Seconds> => {
    const now = ports.clock.monotonic();
    if (confirmed === undefined || now - confirmed >= RIGHTS_INTERVAL) {
      confirmed = (await ports.gates.available(signal)) ? now : undefined;
    }
    if (confirmed === undefined) {
      await sweepStuck(ports, signal, backOff);
      return RIGHTS_INTERVAL;
    }
    const { gates, plans } = settings.pace;
    return (await sweepGates(ports, settings, signal, backOff)) ? seconds(Math.min(gates, plans)) : gates;
  };
  const failed = (err: unknown) => ports.log('gates failed', { err });
  const { arrivals } = settings.pace;
  while (!signal.aborted) {
    const wait = await withBackOff(look, failed, ports, signal);
    if (arrivals > 0) {
      await createWaker().wait(arrivals, ports.clock, signal);
    }
    await waker.wait(seconds(Math.max(0, wait - arrivals)), ports.clock, signal);
  }
}

/**
 * Releases the pods that are kept to nodes which cannot take them, where the operator may not open gates: a stale hint has steered them, or
 * their move has ended. Rejects as `sweepGates` does.
 */
async function sweepStuck(ports: GatePorts, signal: AbortSignal, backOff: ReleaseBackOff): Promise<void> {
  const stuck = (await ports.gates.list(signal)).filter((pod) => isStuckNow(pod, ports));
  if (stuck.length > 0) {
    await letGoAll(stuck, stuck, ports, signal, backOff);
  }
}

/**
 * One look at all gates, as `keepGates` does again and again. Pods are listed before plans: the intent to evict is stored
 * before a replacement can exist, so that no pod of the list can belong to a move that the plans do not show yet. A rejected update does
 * not block the others. Resolves to whether any pod still waits for its turn: then the next look is sooner. Rejects with ApiError, or an
 * AggregateError of them.
 */
export async function sweepGates(
  ports: GatePorts,
  { excludedNamespaces }: Pick<LoopSettings, 'excludedNamespaces'>,
  signal: AbortSignal,
  backOff: ReleaseBackOff = createReleaseBackOff(),
): Promise<boolean> {
  const { gates, plans } = ports;
  const waiting = await gates.list(signal);
  if (waiting.length === 0) {
    tell([], ports);
    return false;
  }
  const idle = idleAmong(waiting, await plans.list(signal));
  const classNameOf = idle.length === 0 ? () => undefined : await governed(ports, excludedNamespaces, signal);
  const queue = idle.flatMap((pod) => {
    const className = pod.waiting?.gated === true ? classNameOf(pod) : undefined;
    return className === undefined ? [] : [{ pod, className }];
  });
  tell(queue, ports);
  const queueing = new Set(queue.map(({ pod }) => pod));
  const others = idle.filter((pod) => !queueing.has(pod));
  await letGoAll(others, waiting, ports, signal, backOff);
  return queue.length > 0;
}

/** A pod that waits for its turn, and the name of its ServiceClass. */
interface Turn {
  readonly pod: PodInfo;
  readonly className: string;
}

function tell(
  queue: readonly Turn[],
  { demand, telemetry, clock }: Pick<GatePorts, 'demand' | 'telemetry' | 'clock'>,
): void {
  demand.tell(queue.map(({ pod: { uid, owner } }) => ({ uid, owner: owner?.uid })));
  const waiting = queue.map(({ pod: { uid, createdAt }, className }) => ({ uid, createdAt, className }));
  telemetry.waiting(waiting, clock.now());
}

/** Those that no move in flight waits for. A move without a target waits for none: what its controller makes has to queue. */
function idleAmong(waiting: readonly PodInfo[], plans: readonly RebalancePlan[]): readonly PodInfo[] {
  const inFlight = plans.flatMap(movesInFlight).filter(({ move }) => move.to !== undefined);
  const moves = Map.groupBy(inFlight, ({ move }) => move.owner.uid);
  const listed = new Set(waiting.map(({ uid }) => uid));
  return waiting.filter((pod) => !isAwaited(pod, moves, listed));
}

/**
 * Lets go those of the pods that no move waits for, of whichever replica: its intent is recorded before its replacement can exist. They are
 * some of those that are `waiting`.
 */
async function letGoAll(
  pods: readonly PodInfo[],
  waiting: readonly PodInfo[],
  ports: GatePorts,
  signal: AbortSignal,
  backOff: ReleaseBackOff,
): Promise<void> {
  if (pods.length === 0) {
    return;
  }
  await ports.leadership.caughtUp(signal);
  const failures: unknown[] = [];
  const idle = new Set(idleAmong(waiting, await ports.plans.list(signal)));
  for (const pod of pods.filter((each) => idle.has(each))) {
    await letGo(pod, ports, signal, backOff).catch((error: unknown) => failures.push(error));
  }
  if (failures.length > 0) {
    const [cause] = failures;
    throw new AggregateError(failures, `${count(failures.length, 'pod')} could not be let through the gate`, { cause });
  }
}

/**
 * Whether a move in flight has this pod as its replacement, or may yet take it as such: it is none of the pods that its owner had
 * before, and the replacement that is on record, if there is one, is not there any more.
 */
function isAwaited(
  pod: PodInfo,
  moves: ReadonlyMap<string, readonly JournalEntry[]>,
  listed: ReadonlySet<string>,
): boolean {
  return (moves.get(pod.owner?.uid ?? '') ?? []).some(({ run: { siblings, replacement } }) => {
    const isFree = replacement === undefined || (replacement.node === undefined && !listed.has(replacement.uid));
    const isLater = siblings !== undefined && cameAfter(siblings)(pod);
    return replacement?.uid === pod.uid || (isFree && isLater);
  });
}

async function letGo(pod: PodInfo, ports: GatePorts, signal: AbortSignal, backOff: ReleaseBackOff): Promise<void> {
  if (pod.terminating) {
    return;
  }
  const about = { policy: undefined, plan: undefined, ...podFields(pod) };
  if (pod.waiting?.gated === true) {
    if ((await ports.gates.open(pod, { kind: 'Anywhere' }, signal)) === 'Done') {
      const action = 'OpenedUnplanned';
      ports.telemetry.gate(action);
      ports.log('gate opened', { ...about, to: undefined, action, result: 'no move waits for the pod' });
    }
  } else if (
    isStuckNow(pod, ports) &&
    backOff.take(pod, ports.clock.monotonic()) &&
    (await ports.gates.release(pod, signal)) === 'Done'
  ) {
    ports.telemetry.gate('Released');
    const to = pod.waiting?.pinnedTo;
    ports.log('pod released', { ...about, to, result: `${to} cannot take it` });
  }
}

/** A nominated pod waits for those that were preempted for it. */
function isStuckNow(pod: PodInfo, { clock }: Pick<GatePorts, 'clock'>): boolean {
  const age = elapsed(pod.createdAt, clock.now());
  return pod.nominatedNode === undefined && isStuck({ waiting: pod.waiting, age });
}

/** What decides whether a pod is governed. */
interface GovernancePorts {
  readonly policies: Pick<PolicyStore, 'list'>;
  readonly reader: Pick<ClusterReader, 'promises'>;
}

/**
 * The ServiceClass of the pods at the gate that are left there for QoSDriven, by name: they have one, and a policy of that
 * strategy acts on its own (Automatic, valid, not suspended) on their namespace and labels. `undefined` for all others. `excludedNamespaces` are kube-system and the
 * operator's own. Rejects with ApiError.
 */
async function governed(
  { policies, reader }: GovernancePorts,
  excludedNamespaces: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<(pod: PodInfo) => string | undefined> {
  const acting = (await policies.list(signal)).filter(isActing);
  if (acting.length === 0) {
    return () => undefined;
  }
  const { namespaces, serviceLevels } = await reader.promises(signal);
  const scopes = acting.map(({ policy: { spec } }) =>
    scopeTest(resolveOptions(spec, excludedNamespaces).scope, { nodes: [], namespaces }),
  );
  return (pod) => (scopes.some((isIn) => isIn(pod)) ? classOf(pod, serviceLevels, namespaces)?.name : undefined);
}

function isActing({ policy: { spec }, invalid }: StoredPolicy): boolean {
  return (
    STRATEGY_TRAITS[spec.strategy.type].admitsWaitingPods &&
    spec.mode === 'Automatic' &&
    !spec.suspend &&
    invalid.length === 0 &&
    scheduleProblems(spec).length === 0
  );
}
