import type { RebalancePlan } from '../api/v1alpha1/rebalance-plan.ts';
import type { RebalancePolicy } from '../api/v1alpha1/rebalance-policy.ts';
import { createGateQueue } from '../control/gate-queue.ts';
import { type GatePorts, keepGates } from '../control/gates.ts';
import { writtenAtOnce } from '../control/journals.ts';
import { createLedgerNews } from '../control/ledger-health.ts';
import { keepLedgers, type LedgerPorts } from '../control/ledgers.ts';
import { runLoop } from '../control/loop.ts';
import type { GivenLoopPorts } from '../control/loop-ports.ts';
import { OPERATOR_PACE, type Pace } from '../control/pace.ts';
import { leadingEverything } from '../control/shards/leadership.ts';
import { movesInFlight } from '../execute/journal.ts';
import { LOG_LINES } from '../log-lines.ts';
import { EXCLUDED_NAMESPACES } from '../model/excluded-namespaces.ts';
import { formatInstant } from '../model/instant.ts';
import { kindOf } from '../model/move.ts';
import { NO_SERVICE_LEVELS, type ServiceLevels } from '../model/service-level.ts';
import type { UsageSamples } from '../model/snapshot.ts';
import { after, type EpochSeconds, epochSeconds, seconds } from '../model/units.ts';
import { nextFire } from '../plan/cron.ts';
import type { Plan } from '../plan/plan.ts';
import type { AppGraphStore, PlannedRun, StartCron, Telemetry } from '../ports.ts';
import { createEvictor } from './api-server/evictor.ts';
import { createGates } from './api-server/gates.ts';
import { createLedgerObjects } from './api-server/ledgers.ts';
import { createPlanObjects } from './api-server/plans.ts';
import { createPolicyObjects } from './api-server/policies.ts';
import { createReader } from './api-server/reader.ts';
import { recordService } from './api-server/service-records.ts';
import { createSteering } from './api-server/steering.ts';
import type { Cluster } from './cluster.ts';
import type { VirtualClock } from './virtual-clock.ts';
import type { SimulatedPod, World } from './world.ts';

interface OperatorSettings {
  readonly cluster: Cluster;
  readonly clock: VirtualClock;
  readonly policies: readonly RebalancePolicy[];
  readonly usage: () => UsageSamples | undefined;
  readonly planned: (plan: Plan) => void;
  readonly evicted: (pod: SimulatedPod, kind: 'Transfer' | 'Preemption') => void;
}

interface RunningOperator {
  /** Ends it. Rejects with the first failure of any of its looks: on the modelled cluster each is a mistake of ours. */
  readonly stop: () => Promise<void>;
}

/** The operator's own loops over the API server of the modelled cluster: what decides is in src/control and src/execute. */
export function startOperator(settings: OperatorSettings): RunningOperator {
  const { cluster, clock, policies, usage } = settings;
  const { world } = cluster;
  const stopping = new AbortController();
  const policyObjects = createPolicyObjects(world.serverTime, actingPolicies(policies, world.serverTime()));
  const plans = createPlanObjects(policyObjects.changed);
  const ledgers = createLedgerObjects();
  const classes = new Map(world.scenario.classes.map((each) => [each.name, each]));
  const serviceLevels = (): ServiceLevels => ({ ...NO_SERVICE_LEVELS, classes, ledgers: ledgers.current() });
  const failures: object[] = [];
  const ports = {
    reader: createReader(world, { plans, usage, serviceLevels }),
    evictor: createEvictor(cluster, (pod) => settings.evicted(pod, kindOfEviction(pod, plans.stored.values()))),
    steering: createSteering(cluster),
    gates: createGates(cluster),
    plans: writtenAtOnce(plans.store),
    policies: policyObjects.store,
    appGraphs: NO_APP_GRAPHS,
    ledgers: ledgers.store,
    records: recordService(world),
    events: { send: async () => undefined },
    telemetry: { ...NO_TELEMETRY, planned: ({ plan }: PlannedRun) => settings.planned(plan) },
    clock,
    demand: createGateQueue(world.turnover),
    usageServers: new Map(),
    ledgerNews: createLedgerNews(),
    leadership: leadingEverything(undefined, undefined),
    startCron: virtualCron(world),
    log: (line, fields) => {
      if (LOG_LINES[line].level === 'error') {
        failures.push(fields);
      }
    },
    runFailed: () => undefined,
    preempted: () => undefined,
  } satisfies GivenLoopPorts & GatePorts & LedgerPorts;
  const loopSettings = {
    excludedNamespaces: EXCLUDED_NAMESPACES,
    maxInFlight: MAX_IN_FLIGHT,
    pace: paceOf(world),
    passed: () => undefined,
  };
  const { signal } = stopping;
  const running = Promise.all([
    runLoop(ports, loopSettings, signal),
    keepGates(ports, loopSettings, signal),
    keepLedgers(ports, loopSettings, signal),
  ]);
  running.catch(() => undefined); // `stop` reports it: until then nobody else waits for it
  return {
    async stop() {
      stopping.abort();
      await running;
      const [first] = failures;
      if (first !== undefined) {
        throw new Error('the operator failed in the simulation', { cause: causeOf(first) });
      }
    },
  };
}

/**
 * What policies would do is what a simulation is for: plans are carried out whatever their mode. Of those that select the same
 * pods the first one owns them, as the oldest does on a cluster.
 */
function actingPolicies(policies: readonly RebalancePolicy[], now: EpochSeconds): readonly RebalancePolicy[] {
  return policies.map(({ metadata, spec, ...rest }, place) => {
    const creationTimestamp = formatInstant(after(now, seconds(place - policies.length)));
    return { ...rest, metadata: { ...metadata, creationTimestamp }, spec: { ...spec, mode: 'Automatic' } };
  });
}

/** Limits of policies are what a simulation is about. */
const MAX_IN_FLIGHT = Number.POSITIVE_INFINITY;

/** The modelled API server keeps none. */
const NO_APP_GRAPHS: AppGraphStore = { list: async () => [], writeStatus: async () => undefined };

const NO_TELEMETRY: Telemetry = {
  moveEnded: () => undefined,
  nextRun: () => undefined,
  steered: () => undefined,
  planned: () => undefined,
  policies: () => undefined,
  led: () => undefined,
  gate: () => undefined,
  waiting: () => undefined,
  hitRatios: () => undefined,
};

/** Where every change is seen at once, changes wake the looks and nothing else has to. */
const ON_CHANGES = seconds(30);

function paceOf(world: World): Pace {
  const { reaction } = world.scenario.timing;
  const onChange = (wake: () => void): void => {
    world.observe(wake);
    world.observeNodes(wake);
  };
  return reaction > 0
    ? {
        ...OPERATOR_PACE,
        plans: reaction,
        policies: reaction,
        onArrival: (wake) => world.observe(({ info: { waiting } }) => (waiting?.gated === true ? wake() : undefined)),
      }
    : {
        plans: ON_CHANGES,
        policies: seconds(0),
        gates: ON_CHANGES,
        arrivals: seconds(0),
        ledgers: seconds(0),
        ledgerWrites: Number.POSITIVE_INFINITY,
        onArrival: onChange,
        onChange,
      };
}

/** By the journal: the intent is stored before the eviction is sent. */
function kindOfEviction({ info: { uid } }: SimulatedPod, plans: Iterable<RebalancePlan>): 'Transfer' | 'Preemption' {
  const intent = [...plans].flatMap(movesInFlight).find(({ run }) => run.podUID === uid);
  if (intent === undefined) {
    throw new Error(`pod ${uid} was evicted, and no journal says why`);
  }
  return kindOf(intent.move) === 'Preemption' ? 'Preemption' : 'Transfer';
}

/** Fires by the event queue. */
function virtualCron({ queue, scenario }: World): StartCron {
  return (schedule, timeZone, fire) => {
    let isStopped = false;
    const next = () => nextFire(schedule, timeZone, epochSeconds(scenario.start + queue.now()));
    const arm = (): void => {
      const instant = next();
      if (instant !== undefined) {
        queue.at(instant - scenario.start, () => {
          if (!isStopped) {
            fire();
            arm();
          }
        });
      }
    };
    arm();
    return {
      next,
      stop: () => {
        isStopped = true;
      },
    };
  };
}

function causeOf(fields: object): unknown {
  return 'err' in fields ? fields.err : fields;
}
