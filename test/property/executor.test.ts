import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RebalancePlan } from '../../src/api/v1alpha1/rebalance-plan.ts';
import { type RebalancePolicy, STEERING_MODES, type SteeringMode } from '../../src/api/v1alpha1/rebalance-policy.ts';
import { sweepGates } from '../../src/control/gates.ts';
import { step } from '../../src/execute/executor.ts';
import type { ExecutionPolicy } from '../../src/execute/executor-ports.ts';
import { entries, podsInFlight } from '../../src/execute/journal.ts';
import { isFinal, isInFlight } from '../../src/execute/transitions.ts';
import { seconds } from '../../src/model/units.ts';
import { resolveOptions } from '../../src/plan/resolve-options.ts';
import { ConflictError } from '../../src/ports.ts';
import { aMove, aPlan } from '../support/builders/plan.ts';
import { aPolicy } from '../support/builders/policy.ts';
import { aNode, aPodOf, aWorkload, TEN_CORES } from '../support/builders.ts';
import { placements, type Script } from '../support/fake-cluster.ts';
import { type World, type WorldPorts, world } from '../support/fake-world.ts';
import type { Delays } from '../support/standing-scenario.ts';
import { drive } from '../support/test-clock.ts';

const PLAN = 'even-0123456789';
const SETTINGS = { excludedNamespaces: new Set<string>() };
const forever = new AbortController().signal;
const OWNERS = [
  aWorkload('web', { replicas: 3 }),
  aWorkload('api', { replicas: 3 }),
  aWorkload('db', { replicas: 3, kind: 'StatefulSet' }),
] as const;
const PODS = OWNERS.flatMap((owner) => [0, 1, 2].map((index) => aPodOf(owner, `${owner.name}-${index}`, 'a')));

/** What befalls the operator before a step, next to crashes and answers. */
type Disturbance = 'edit' | 'suspend' | 'delete' | 'cordon' | 'notReady' | 'vanish' | 'twoLeaders' | 'staleLeader';

/** Everything that chance decides. */
interface History {
  readonly maxConcurrent: number;
  /** Which pods move, in order, and where to. */
  readonly moves: readonly (readonly [pod: number, to: 'b' | 'c'])[];
  readonly steering: SteeringMode;
  readonly delays: Delays;
  /** Owners whose PDB allows no eviction. */
  readonly withBackOff: readonly number[];
  /** Answers to evictions and dry runs in order; undefined is what the cluster would say, as is everything later. */
  readonly answers: readonly (Script | undefined)[];
  /** Port calls, begun or ended, between one crash and the next. */
  readonly crashes: readonly number[];
  /** Seconds before each step; every five seconds afterwards. */
  readonly pauses: readonly number[];
  /** How long what a leader has noted may wait to be stored, for each move. */
  readonly noteWait: number;
  /** By number of the step. */
  readonly disturbances: readonly (readonly [step: number, what: Disturbance])[];
}

class Crash extends Error {}

/** What ends a process that crashes, by the signal that it hands to its calls. */
const processes = new WeakMap<AbortSignal, AbortController>();

/** What a history comes to. */
interface End {
  readonly plan: RebalancePlan;
  readonly accepted: readonly string[];
  readonly placements: readonly string[];
}

function build(history: History): World {
  const w = world([aNode('a', TEN_CORES), aNode('b', TEN_CORES), aNode('c', TEN_CORES)], OWNERS, PODS);
  Object.assign(w.cluster.delays, history.delays);
  for (const owner of history.withBackOff) {
    w.cluster.minAvailable.set(OWNERS[owner]?.uid ?? '', 3);
  }
  const answers = [...history.answers];
  w.cluster.script = () => answers.shift();
  const moves = history.moves.flatMap(([pod, to]) => (PODS[pod] === undefined ? [] : [aMove(PODS[pod], to)]));
  if (history.steering === 'Gate') {
    OWNERS.forEach(({ uid }) => void w.cluster.gated.add(uid));
  }
  w.plans.put(aPlan(aPolicy('even'), moves, { steering: history.steering }));
  return w;
}

/** Throws when an invariant is broken; called around every port call. */
function check(w: World, maxConcurrent: number): void {
  const { accepted } = w.cluster;
  if (new Set(accepted).size !== accepted.length) {
    throw new Error(`15: evicted twice: ${accepted.join(', ')}`);
  }
  const journal = entries(w.plans.of(PLAN));
  const inFlight = journal.filter(({ run }) => isInFlight(run.phase));
  if (inFlight.length > maxConcurrent) {
    throw new Error(`14: ${inFlight.length} moves in flight, ${maxConcurrent} allowed`);
  }
  if (new Set(inFlight.map(({ move }) => move.owner.uid)).size !== inFlight.length) {
    throw new Error('14: two moves of one owner in flight');
  }
  for (const { run, move } of journal) {
    const forgotten = ['Planned', 'Skipped', 'Aborted'].includes(run.phase) && accepted.includes(run.podUID);
    if (forgotten) {
      throw new Error(`14: ${move.pod.name} was evicted and the journal says ${run.phase}`);
    }
  }
}

async function play(history: History): Promise<End> {
  const w = build(history);
  const crashes = [...history.crashes];
  let untilCrash = crashes.shift() ?? Number.POSITIVE_INFINITY;
  let broken: unknown;
  w.tap = (_when, _call, args) => {
    try {
      check(w, history.maxConcurrent);
    } catch (error) {
      broken ??= error;
    }
    untilCrash -= 1;
    if (untilCrash < 0) {
      untilCrash = crashes.shift() ?? Number.POSITIVE_INFINITY;
      const crash = new Crash('killed');
      processes.get(args.at(-1) as AbortSignal)?.abort(crash);
      throw crash;
    }
  };
  let policy: RebalancePolicy | undefined = aPolicy('even');
  const first = w.plans.of(PLAN);
  const newProcess = () => w.newProcess(seconds(history.noteWait));
  let leader = newProcess();
  for (let number = 0; w.plans.of(PLAN).status?.phase === 'Executing'; number += 1) {
    if (number > 1_500) {
      throw new Error(`18: no end: ${JSON.stringify(w.plans.of(PLAN).status)}`);
    }
    const due = history.disturbances.filter(([at]) => at === number).map(([, what]) => what);
    for (const what of due) {
      policy = disturb(w, policy, what);
    }
    const others = due.includes('twoLeaders') ? [attempt(newProcess(), undefined, policy, history)] : [];
    const stale = due.includes('staleLeader') ? [attempt(newProcess(), first, policy, history)] : [];
    const led = attempt(leader, undefined, policy, history);
    await drive(w.clock, Promise.all([...stale, led, ...others]));
    leader = (await led) === 'Killed' ? newProcess() : leader;
    if (broken !== undefined) {
      throw broken;
    }
    await w.clock.advance(history.pauses[number] ?? 5);
  }
  w.tap = () => undefined;
  await sweepGates(w.ports, SETTINGS, forever);
  const held = [...w.cluster.pods.values()].filter(({ waiting }) => waiting?.gated === true);
  if (held.length > 0) {
    throw new Error(`still at the gate: ${held.map(({ name }) => name).join(', ')}`);
  }
  await w.clock.advance(100);
  return { plan: w.plans.of(PLAN), accepted: [...w.cluster.accepted], placements: placements(w.cluster) };
}

/** One leader's step, hints and gates swept before as the operator does. Crashes and conflicts end it, as they should. */
async function attempt(
  ports: WorldPorts,
  stale: RebalancePlan | undefined,
  policy: RebalancePolicy | undefined,
  { maxConcurrent }: History,
): Promise<'Stepped' | 'Killed'> {
  const how: ExecutionPolicy = {
    current: async () => (policy === undefined ? undefined : { policy, invalid: [] }),
    options: policy === undefined ? undefined : resolveOptions(policy.spec),
    maxConcurrent,
    maxInFlight: 100,
    stop: undefined,
  };
  const life = new AbortController();
  const { signal } = life;
  processes.set(signal, life);
  try {
    const plans = await ports.plans.list(signal);
    const [plan] = stale === undefined ? plans : [stale];
    const inFlight = podsInFlight(plans);
    for (const { spec, metadata } of await ports.steering.list(signal)) {
      if (!inFlight.has(spec.podUID)) {
        await ports.steering.remove(metadata.namespace ?? '', spec.podUID, signal);
      }
    }
    await sweepGates(ports, SETTINGS, signal);
    if (plan !== undefined) {
      await step(plan, how, ports, signal);
    }
  } catch (error) {
    const known = error instanceof AggregateError ? error.errors[0] : error;
    if (known instanceof Crash) {
      return 'Killed';
    }
    if (!(known instanceof ConflictError)) {
      throw error;
    }
  }
  return 'Stepped';
}

function disturb(w: World, policy: RebalancePolicy | undefined, what: Disturbance): RebalancePolicy | undefined {
  switch (what) {
    case 'edit':
      return (
        policy && { ...policy, metadata: { ...policy.metadata, generation: (policy.metadata.generation ?? 0) + 1 } }
      );
    case 'suspend':
      return policy && { ...policy, spec: { ...policy.spec, suspend: true } };
    case 'delete':
      return undefined;
    case 'cordon':
      w.cluster.putNode(aNode('b', { ...TEN_CORES, unschedulable: true }));
      return policy;
    case 'notReady':
      w.cluster.putNode(aNode('c', { ...TEN_CORES, ready: false }));
      return policy;
    case 'vanish':
      w.cluster.vanish('pod', PODS[0]?.uid ?? '');
      return policy;
    default:
      return policy;
  }
}

const span = (max: number) => fc.integer({ min: 0, max });
const never = fc.constant(Number.POSITIVE_INFINITY);
const moves = fc
  .uniqueArray(fc.nat({ max: PODS.length - 1 }), { minLength: 1, maxLength: 6 })
  .chain((pods) =>
    fc.tuple(...pods.map((pod) => fc.tuple(fc.constant(pod), fc.constantFrom('b' as const, 'c' as const)))),
  );
const steering = fc.constantFrom(...STEERING_MODES);
const crashes = fc.array(span(60), { maxLength: 12 });
const noteWait = fc.constantFrom(0.01, 1, 5);
const pauses = fc.array(fc.oneof({ weight: 3, arbitrary: span(3) }, { weight: 1, arbitrary: span(60) }), {
  maxLength: 20,
});
const answer: fc.Arbitrary<Script | undefined> = fc.oneof(
  { weight: 4, arbitrary: fc.constant(undefined) },
  { weight: 3, arbitrary: fc.boolean().map((acted) => ({ kind: 'Ambiguous', message: 'reset', acted }) as const) },
  { weight: 1, arbitrary: fc.constant({ kind: 'RefusedByBudget', message: 'keep-it' } as const) },
  {
    weight: 1,
    arbitrary: span(30).map((wait) => ({ kind: 'TryLater', message: 'busy', retryAfter: seconds(wait) }) as const),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'Refused', message: 'two PDBs' } as const) },
  { weight: 1, arbitrary: fc.constant({ kind: 'Forbidden', message: 'no right' } as const) },
);
const disturbance = fc.constantFrom<Disturbance>(
  ...([
    'edit',
    'suspend',
    'delete',
    'cordon',
    'notReady',
    'vanish',
    'twoLeaders',
    'twoLeaders',
    'staleLeader',
  ] as const),
);
const calmDelays = fc.record({ grace: span(20), recreate: span(5), bind: span(5), ready: span(20) });

const histories: fc.Arbitrary<History> = fc.record({
  maxConcurrent: fc.integer({ min: 1, max: 3 }),
  moves,
  steering,
  delays: fc.record({
    grace: span(40),
    recreate: fc.oneof({ weight: 9, arbitrary: span(5) }, { weight: 1, arbitrary: never }),
    bind: fc.oneof({ weight: 9, arbitrary: span(5) }, { weight: 1, arbitrary: never }),
    ready: fc.oneof({ weight: 9, arbitrary: span(40) }, { weight: 1, arbitrary: never }),
  }),
  withBackOff: fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: fc.subarray([0, 1, 2]) }),
  answers: fc.array(answer, { maxLength: 25 }),
  crashes,
  pauses,
  noteWait,
  disturbances: fc.array(fc.tuple(span(20), disturbance), { maxLength: 4 }),
});

/** Crashes at any point, and nothing else that could go wrong. */
const crashesOnly: fc.Arbitrary<History> = fc.record({
  maxConcurrent: fc.integer({ min: 1, max: 3 }),
  moves,
  steering: fc.constantFrom('AdmissionPolicy', 'Gate'),
  delays: calmDelays,
  withBackOff: fc.constant([]),
  answers: fc.constant([]),
  crashes: fc.array(span(60), { minLength: 1, maxLength: 4 }),
  pauses,
  noteWait,
  disturbances: fc.constant([]),
});

describe('the executor', () => {
  it('14, 15, 18: stays within its budget, evicts a pod once, and brings every move to its end, whatever happens', async () => {
    await fc.assert(
      fc.asyncProperty(histories, async (history) => {
        const { plan } = await play(history);
        const phases = entries(plan).map(({ run }) => run.phase);
        expect(phases.filter((phase) => !isFinal(phase))).toEqual([]);
        expect(['Completed', 'Aborted']).toContain(plan.status?.phase);
        expect(plan.status?.summary?.done ?? 0).toBe(phases.length);
      }),
      { numRuns: 400 },
    );
  });

  it('19: ends in the same cluster after crashes as without, or with fewer moves', async () => {
    await fc.assert(
      fc.asyncProperty(crashesOnly, async (history) => {
        const smooth = await play({ ...history, crashes: [] });
        const rough = await play(history);
        expect(smooth.accepted).toHaveLength(history.moves.length);
        expect(smooth.accepted).toEqual(expect.arrayContaining([...rough.accepted]));
        if (rough.accepted.length === smooth.accepted.length) {
          expect(rough.placements).toEqual(smooth.placements);
        }
      }),
      { numRuns: 200 },
    );
  });
});
