import { startCron } from '../../../src/adapters/cron.ts';
import { createJournalledPlans } from '../../../src/adapters/kubernetes/journalled-plans.ts';
import { Elector, LeadershipLostError } from '../../../src/control/elector.ts';
import { createGateQueue } from '../../../src/control/gate-queue.ts';
import { keepGates } from '../../../src/control/gates.ts';
import { createJournals } from '../../../src/control/journals.ts';
import { leaseTimes } from '../../../src/control/lease.ts';
import { createLedgerNews } from '../../../src/control/ledger-health.ts';
import { runLoop } from '../../../src/control/loop.ts';
import type { GivenLoopPorts } from '../../../src/control/loop-ports.ts';
import { OPERATOR_PACE } from '../../../src/control/pace.ts';
import type { SharedPlans } from '../../../src/control/shards/decisions.ts';
import { ShardKeeper } from '../../../src/control/shards/keeper.ts';
import { leadingEverything, type Term } from '../../../src/control/shards/leadership.ts';
import { leaseOfReplica, REST } from '../../../src/control/shards/names.ts';
import { whileLed } from '../../../src/control/shards/while-led.ts';
import type { PodRef } from '../../../src/model/pod.ts';
import { type Seconds, seconds } from '../../../src/model/units.ts';
import { type EvictionAnswer, type LeaseRecord, StaleCacheError } from '../../../src/ports.ts';
import type { FakeCluster } from '../../support/fake-cluster.ts';
import type { FakeJournalledPlans } from '../../support/fake-journals.ts';
import { AT_ONCE, type FakeLeases, sharedOverNetwork } from '../../support/fake-leases.ts';
import type { FakePolicies } from '../../support/fake-stores.ts';
import type { VirtualProcess, VirtualTime } from '../../support/virtual-time.ts';
import type { Mishap } from './history.ts';
import { BrokenInvariant, type Ledger, type Sight } from './ledger.ts';

/** What all replicas have in common. */
export interface Stage {
  readonly time: VirtualTime;
  readonly cluster: FakeCluster;
  readonly plans: FakeJournalledPlans;
  readonly policies: FakePolicies;
  readonly leases: FakeLeases;
  /** Whether replicas share policies and the rest among them, or one leads everything. */
  readonly shared: boolean;
  /** Seconds after which a kubelet reports that the container of a replica has ended; infinite where none does. */
  readonly reported: number;
  /** Identities of the processes that have ended, with the instant. */
  readonly ended: Map<string, number>;
  /** How long what a leader has noted may wait to be stored, for each move of the plan. */
  readonly noteWait: Seconds;
  /** Plans of so many moves or fewer have no journal beside them. */
  readonly wholeUpTo: number;
  readonly ledger: Ledger;
  /** What becomes of the next call. */
  readonly mishap: (changes: boolean) => Mishap | undefined;
  /** Whether the caches of a replica are cut off now. */
  readonly isStale: (replica: number) => boolean;
  readonly count: (what: string) => void;
  /** Something that must not be. */
  readonly fail: (error: unknown) => void;
}

/** One process of a replica. */
interface Incarnation {
  readonly replica: number;
  readonly identity: string;
  readonly process: VirtualProcess;
  readonly elector: Elector;
  /** What it knows in a piece of work: each has a signal of its own. */
  sightOf(signal: AbortSignal): Sight;
  alive: boolean;
  /** kill -9; another process begins after `away` seconds. */
  kill(away: number): void;
  /** SIGTERM; another process begins `away` seconds after it has ended. */
  stop(away: number): void;
}

/** Name of the Lease of a single leader. */
export const BASE = 'evenkeel';
const TIMES = leaseTimes(seconds(15));
/** Deadline of every call. */
const DEADLINE = 10;
const RESTART = 1;
/** How much longer a write of the journal may take than an eviction: into the term of the next leader. */
const JOURNAL_DELAY = 10;
const SETTINGS = {
  excludedNamespaces: new Set(['kube-system', 'evenkeel-system']),
  maxInFlight: 100,
  pace: OPERATOR_PACE,
  passed: () => undefined,
};

/** Plans are read where they are written. */
const NO_WATCH: SharedPlans = { written: (before) => before, caughtUp: async () => undefined, renew: () => undefined };

/** Methods that change something on the cluster: they pass the fence. */
const CHANGES: ReadonlySet<string> = new Set([
  'evictor.evict',
  'steering.place',
  'steering.remove',
  'gates.open',
  'gates.release',
  'plans.create',
  'plans.writeStatus',
  'plans.approve',
  'plans.remove',
  'journals.create',
  'journals.write',
  'journals.remove',
  'policies.writeStatus',
]);

/**
 * Runs a replica of the operator, the real elector, control loop, executor and gate keeper, and starts it again whenever it
 * ends, as a Deployment would.
 */
export function startReplica(stage: Stage, replica: number, rate: number, generation = 0): void {
  const { time, shared } = stage;
  const process = time.process(rate);
  const identity = `replica-${replica}-${generation}`;
  const again = (after: number): void => {
    me.alive = false;
    stage.ended.set(identity, time.now());
    time.at(time.now() + after, () => startReplica(stage, replica, rate, generation + 1));
  };
  const leases = sharedOverNetwork(stage.leases, time, process, DEADLINE / 2, () => AT_ONCE);
  const { name, labels } = shared ? leaseOfReplica(BASE, identity) : { name: BASE, labels: new Map() };
  const leasing = { identity, times: TIMES, clock: process.clock };
  const hasEnded = ({ holder }: LeaseRecord): boolean => {
    const isReported = (stage.ended.get(holder) ?? Number.POSITIVE_INFINITY) + stage.reported <= time.now();
    stage.count(isReported ? 'end reported' : 'end not reported');
    return isReported;
  };
  const elector = new Elector({
    ...leasing,
    isAbandoned: async (record) => hasEnded(record),
    store: leases.of(name, labels),
    random: () => 0.5,
    report: ({ kind }) => stage.count(`election ${kind}`),
  });
  const stop = new AbortController();
  const sights = new WeakMap<AbortSignal, Sight>();
  let restart = RESTART;
  const me: Incarnation = {
    replica,
    identity,
    process,
    elector,
    sightOf(signal) {
      const sight = sights.get(signal) ?? { policies: [], synced: false };
      sights.set(signal, sight);
      return sight;
    },
    alive: true,
    kill(away) {
      if (me.alive) {
        process.pause();
        again(away);
      }
    },
    stop(away) {
      restart = away;
      stop.abort(new Error('SIGTERM'));
    },
  };
  const work = async (leaderEpoch: number, signal: AbortSignal): Promise<void> => {
    const keeper = shared
      ? new ShardKeeper({
          ...leasing,
          base: BASE,
          leases,
          containers: { hasEnded, onChange: () => undefined },
          plans: NO_WATCH,
          report: ({ kind }) => stage.count(kind),
        })
      : undefined;
    const leadership = keeper ?? leadingEverything(me.identity, leaderEpoch);
    const ports = { ...portsOf(stage, me), leadership };
    // A name of its own: when the gate keeper looks at policies, the control loop has not seen them.
    const gatePorts = { ...ports, policies: far(stage, me, 'policies of the gate keeper', stage.policies.store) };
    const keep = (term: Term) => keepGates(gatePorts, SETTINGS, term.signal);
    await Promise.all([
      keeper?.watch(signal),
      keeper?.run(signal),
      runLoop(ports, SETTINGS, signal),
      whileLed(REST, leadership, keep, process.clock, signal),
    ]);
  };
  const ended = (error: unknown): void => {
    if (me.alive) {
      if (!(stop.signal.aborted || error instanceof LeadershipLostError)) {
        stage.fail(error);
      }
      again(restart);
    }
  };
  elector.run(work, stop.signal).then(() => ended(new Error(`${identity} ended by itself`)), ended);
}

function portsOf(stage: Stage, me: Incarnation): Omit<GivenLoopPorts, 'leadership'> {
  const { cluster, plans, policies } = stage;
  const nothing = () => undefined;
  return {
    reader: far(stage, me, 'reader', cluster.reader),
    evictor: far(stage, me, 'evictor', cluster.evictor),
    steering: far(stage, me, 'steering', cluster.steering),
    gates: far(stage, me, 'gates', cluster.gates),
    plans: createJournals(
      createJournalledPlans(
        { ...far(stage, me, 'plans', plans.store), watch: plans.store.watch },
        { ...far(stage, me, 'journals', plans.journals.store), watch: plans.journals.store.watch },
        () => stage.count('journals not removed'),
        { wholeUpTo: stage.wholeUpTo },
      ),
      me.process.clock,
      stage.noteWait,
    ),
    policies: {
      ...far(stage, me, 'policies', policies.store),
      watch: (changed, signal) => policies.store.watch(() => me.process.wake(stage.time.now(), changed), signal),
    },
    events: far(stage, me, 'events', { send: async () => undefined }),
    telemetry: {
      moveEnded: ({ result }) => stage.count(`move ${result}`),
      steered: nothing,
      nextRun: () => undefined,
      planned: nothing,
      policies: nothing,
      led: nothing,
      gate: (action) => stage.count(`gate ${action}`),
      waiting: nothing,
      hitRatios: nothing,
    },
    clock: me.process.clock,
    startCron,
    demand: createGateQueue(() => ({ room: 0, requests: 0, stranded: [] })),
    usageServers: new Map(),
    appGraphs: { list: async () => [], writeStatus: async () => undefined },
    ledgerNews: createLedgerNews(),
    log: () => undefined,
    runFailed: () => stage.count('runs failed'),
  };
}

const JOURNAL_WRITES: ReadonlySet<string> = new Set(['plans.writeStatus', 'journals.write']);

type Method = (...args: readonly unknown[]) => Promise<unknown>;

/** `port` on the other side of a network, seen from one process. */
function far<Port extends object>(stage: Stage, me: Incarnation, name: string, port: Port): Port {
  const methods = Object.entries(port).map(([key, method]) => {
    const served = serve(stage, me, `${name}.${key}`, method as Method);
    return [key, (...args: readonly unknown[]) => request(stage, me, `${name}.${key}`, served, args)];
  });
  return Object.fromEntries(methods) as Port;
}

/** What a request does once it is written. */
interface Served {
  /** Called when the request is written; what it returns carries the request out, or says that it never arrives. */
  write(args: readonly unknown[]): { arrive(): Promise<unknown>; lose(): void };
}

/** The server's side of a method, the ledger looking on. */
function serve(stage: Stage, me: Incarnation, call: string, method: Method): Served {
  const { ledger, cluster } = stage;
  const witnessed = <Value>(work: () => Value): Value => {
    try {
      return work();
    } catch (error) {
      stage.fail(error);
      throw error;
    }
  };
  return {
    write(args) {
      const evicts = call === 'evictor.evict' && !(args[1] as { dryRun: boolean }).dryRun;
      if (CHANGES.has(call)) {
        witnessed(() => ledger.changing(me.identity));
      }
      const eviction = evicts
        ? witnessed(() => ledger.sent(args[0] as PodRef, me.sightOf(signalOf(call, args)), me.identity))
        : undefined;
      return {
        lose: () => eviction?.lost(),
        arrive() {
          const before = cluster.accepted.length;
          const outcome = look(stage, me, call, args, method);
          witnessed(() => eviction?.arrived(before));
          if (call.startsWith('plans.') || call.startsWith('journals.')) {
            witnessed(() => ledger.journalled());
          }
          return outcome;
        },
      };
    },
  };
}

/** Carries a call out, noting what its process learns. */
async function look(stage: Stage, me: Incarnation, call: string, args: readonly unknown[], method: Method) {
  const sight = me.sightOf(signalOf(call, args));
  const fromCache = ['reader.nodes', 'reader.snapshot', 'reader.placements'].includes(call);
  if (fromCache && stage.isStale(me.replica)) {
    sight.synced = false;
    throw new StaleCacheError('cut off');
  }
  if (call === 'reader.nodes') {
    sight.synced = true;
  } else if (call === 'policies.list') {
    sight.policies = [...stage.policies.stored.values()].map(({ policy }) => policy);
    sight.synced = false;
  } else if (call === 'reader.pod') {
    stage.ledger.looked(args[0] as PodRef);
  }
  return method(...args);
}

function signalOf(call: string, args: readonly unknown[]): AbortSignal {
  const signal = args.find((arg) => arg instanceof AbortSignal);
  if (signal === undefined) {
    throw new Error(`${call} without a signal`);
  }
  return signal;
}

/** One request of a process: through the fence, over the network, and back. */
async function request(
  stage: Stage,
  me: Incarnation,
  call: string,
  served: Served,
  args: readonly unknown[],
): Promise<unknown> {
  const signal = signalOf(call, args);
  const changes = CHANGES.has(call);
  if (!me.alive) {
    return await never();
  }
  if (me.process.paused()) {
    await new Promise<void>((resolve) => me.process.wake(stage.time.now(), resolve));
  }
  signal.throwIfAborted();
  const mishap = stage.mishap(changes);
  if (mishap !== undefined) {
    stage.count(`mishap ${mishap.kind}`);
  }
  if (mishap?.kind === 'crash' && !mishap.sent) {
    me.kill(mishap.away);
    return await never();
  }
  if (mishap?.kind === 'pause' && !mishap.sent) {
    await stopped(stage, me, mishap.span, mishap.reversed);
    signal.throwIfAborted();
  }
  if (changes) {
    me.elector.assertOpen();
  }
  return await passed(stage, me, call, served.write(args), mishap, signal);
}

async function passed(
  stage: Stage,
  me: Incarnation,
  call: string,
  { arrive, lose }: ReturnType<Served['write']>,
  mishap: Mishap | undefined,
  signal: AbortSignal,
): Promise<unknown> {
  const { time } = stage;
  const stretch = JOURNAL_WRITES.has(call) ? JOURNAL_DELAY : 1;
  switch (mishap?.kind) {
    case undefined:
      return await arrive();
    case 'failed':
      lose();
      return unanswered(call, 'the server failed');
    case 'broken':
      if (mishap.acted) {
        await arrive().catch(ignoreRefusal);
      } else {
        lose();
      }
      await me.process.clock.sleep(seconds(mishap.after), signal);
      return unanswered(call, 'no answer');
    case 'slow':
      return await carried(stage, me, { arrive, there: mishap.there * stretch, back: mishap.back }, signal);
    case 'stop':
      me.stop(mishap.away);
      return await carried(stage, me, { arrive, there: mishap.there, back: 0 }, signal);
    case 'crash':
      me.kill(mishap.away);
      time.at(time.now() + mishap.there * stretch, () => void arrive().catch(ignoreRefusal));
      return await never();
    case 'pause': {
      const answer = arrive();
      answer.catch(ignoreRefusal);
      await stopped(stage, me, mishap.span, mishap.reversed);
      return await answer;
    }
    default:
      return mishap satisfies never;
  }
}

/** Takes its time on the way there, where it arrives whatever becomes of its process, and back, unless it is given up. */
async function carried(
  { time }: Stage,
  { process }: Incarnation,
  { arrive, there, back }: { readonly arrive: () => Promise<unknown>; readonly there: number; readonly back: number },
  signal: AbortSignal,
): Promise<unknown> {
  return await new Promise((resolve, reject) => {
    const giveUp = (): void => process.wake(time.now(), () => reject(signal.reason));
    if (signal.aborted) {
      giveUp();
    }
    signal.addEventListener('abort', giveUp, { once: true });
    time.at(time.now() + there, () => {
      const answer = arrive();
      answer.catch(ignoreRefusal);
      process.wake(time.now() + back, () => answer.then(resolve, reject));
    });
  });
}

/** The server refused what nobody waits for any more. What the ledger found is told elsewhere. */
function ignoreRefusal(error: unknown): void {
  if (!(error instanceof Error)) {
    throw new BrokenInvariant('something else than an error was thrown', { cause: error });
  }
}

/** An eviction without an answer is ambiguous (execution.md, answers); any other call fails. */
function unanswered(call: string, message: string): EvictionAnswer {
  if (call === 'evictor.evict') {
    return { kind: 'Ambiguous', message };
  }
  throw new Error(`${call}: ${message}`);
}

/** Stops the process; resolves when it goes on. */
async function stopped({ time }: Stage, me: Incarnation, span: number, reversed: boolean): Promise<void> {
  const { process } = me;
  process.pause();
  time.at(time.now() + span, () => (me.alive ? process.resume(reversed) : undefined));
  await new Promise<void>((resolve) => process.wake(time.now(), resolve));
}

function never(): Promise<never> {
  return new Promise(() => undefined);
}
