import { startCron } from '../../src/adapters/cron.ts';
import { createJournalledPlans } from '../../src/adapters/kubernetes/journalled-plans.ts';
import { createGateQueue } from '../../src/control/gate-queue.ts';
import { createJournals } from '../../src/control/journals.ts';
import type { GivenLoopPorts, LoopPorts } from '../../src/control/loop-ports.ts';
import { leadingEverything } from '../../src/control/shards/leadership.ts';
import { createFirstLooks } from '../../src/execute/first-looks.ts';
import type { LogLine } from '../../src/log-lines.ts';
import { createMutex } from '../../src/model/mutex.ts';
import type { NodeInfo } from '../../src/model/node.ts';
import type { PodInfo } from '../../src/model/pod.ts';
import type { EpochSeconds, Seconds } from '../../src/model/units.ts';
import type { WorkloadInfo } from '../../src/model/workload.ts';
import type { EventRecord, Turnover } from '../../src/ports.ts';
import { type FakeCluster, fakeCluster } from './fake-cluster.ts';
import { type FakeJournalledPlans, fakeJournalledPlans } from './fake-journals.ts';
import { type FakePolicies, fakePolicies } from './fake-stores.ts';
import { type Tap, tapped } from './fake-tap.ts';
import { type TestClock, testClock } from './test-clock.ts';

/** One line of the operator's log. */
export interface LoggedLine {
  readonly line: LogLine;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** The ports of the loop, and what it makes of them for work on a policy. */
export type WorldPorts = LoopPorts & GivenLoopPorts;

/** Everything that the operator acts through, in memory. */
export interface World {
  readonly clock: TestClock;
  readonly cluster: FakeCluster;
  readonly plans: FakeJournalledPlans;
  readonly policies: FakePolicies;
  readonly events: EventRecord[];
  /** `result` of every move that ended. */
  readonly ended: string[];
  /** `mode hit` or `mode miss` of every replacement. */
  readonly steered: string[];
  /** Actions at the gate. */
  readonly gateActions: string[];
  /** Calls of ports in order: `name.method`, evictions as `evict NAME` or `dry-run NAME`. */
  readonly calls: string[];
  /** When policies run next, by name, as telemetry hears it. */
  readonly nextRuns: ReadonlyMap<string, EpochSeconds | undefined>;
  /** What was logged. */
  readonly lines: LoggedLine[];
  /** Runs that failed. */
  readonly failures: () => number;
  /** The ports of one process; every call passes `tap`. */
  readonly ports: WorldPorts;
  /** The ports of another process, which has noted nothing yet, and whose notes wait this long for each move. */
  readonly newProcess: (waitForMove?: Seconds) => WorldPorts;
  /** What came and went, as whoever looks after the gates counts it. */
  turnover: Turnover;
  /** What else sees every call; may throw. */
  tap: Tap;
}

/** A world with these objects in its cluster. */
export function world(nodes: readonly NodeInfo[], workloads: readonly WorkloadInfo[], pods: readonly PodInfo[]): World {
  const clock = testClock();
  const plans = fakeJournalledPlans();
  const cluster = fakeCluster(clock, nodes, workloads, pods, plans);
  const policies = fakePolicies();
  const events: EventRecord[] = [];
  const ended: string[] = [];
  const steered: string[] = [];
  const gateActions: string[] = [];
  const calls: string[] = [];
  const lines: LoggedLine[] = [];
  const nextRuns = new Map<string, EpochSeconds | undefined>();
  let failures = 0;
  const tap: Tap = (when, call, args) => {
    if (when === 'before') {
      calls.push(call === 'evictor.evict' ? evictionCall(args) : call);
    }
    made.tap(when, call, args);
  };
  const newProcess = (waitForMove?: Seconds): WorldPorts => ({
    reader: tapped('reader', cluster.reader, tap),
    evictor: tapped('evictor', cluster.evictor, tap),
    steering: tapped('steering', cluster.steering, tap),
    gates: tapped('gates', cluster.gates, tap),
    plans: createJournals(
      createJournalledPlans(
        tapped('plans', plans.store, tap),
        tapped('journals', plans.journals.store, tap),
        (error) => {
          throw error;
        },
      ),
      clock,
      waitForMove,
    ),
    policies: tapped('policies', policies.store, tap),
    events: tapped('events', { send: async (event: EventRecord) => void events.push(event) }, tap),
    telemetry: {
      moveEnded: ({ result }) => void ended.push(result),
      steered: ({ mode, landed }) => void steered.push(`${mode} ${landed ? 'hit' : 'miss'}`),
      nextRun: (policy, at) => void nextRuns.set(policy, at),
      planned: () => undefined,
      policies: () => undefined,
      led: () => undefined,
      gate: (action) => void gateActions.push(action),
      waiting: () => undefined,
      hitRatios: () => undefined,
    },
    clock,
    demand: createGateQueue(() => made.turnover),
    usageServers: new Map(),
    appGraphs: { list: async () => [], writeStatus: async () => undefined },
    ledgerNews: newsOf(cluster),
    firstLooks: createFirstLooks(clock),
    deciding: createMutex(),
    recording: createMutex(),
    leadership: leadingEverything(undefined, undefined),
    leader: undefined,
    leaderEpoch: undefined,
    startCron,
    log: (line, fields) => void lines.push({ line, fields }),
    runFailed: () => {
      failures += 1;
    },
  });
  const made: World = {
    clock,
    cluster,
    plans,
    policies,
    events,
    ended,
    steered,
    gateActions,
    calls,
    lines,
    nextRuns,
    failures: () => failures,
    ports: newProcess(),
    newProcess,
    turnover: { room: 0, requests: 0, stranded: [] },
    tap: () => undefined,
  };
  return made;
}

/** Ledgers are kept by themselves, and are what the cluster says. */
function newsOf(cluster: FakeCluster): LoopPorts['ledgerNews'] {
  return { health: () => ({ kind: 'Kept' }), levels: () => cluster.serviceLevels };
}

function evictionCall([pod, options]: readonly unknown[]): string {
  const { name } = pod as { name: string };
  return (options as { dryRun: boolean }).dryRun ? `dry-run ${name}` : `evict ${name}`;
}
