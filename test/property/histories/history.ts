import fc from 'fast-check';
import { STEERING_MODES, type SteeringMode } from '../../../src/api/v1alpha1/rebalance-policy.ts';
import { seconds } from '../../../src/model/units.ts';
import type { Script } from '../../support/fake-cluster.ts';
import type { Delays } from '../../support/standing-scenario.ts';

/** Troubles begin before this instant, in seconds; the replicas are left alone afterwards. */
export const TROUBLED = 100;

/** What becomes of one call of a port. */
export type Mishap =
  /** Takes long on its way there and back; others overtake it. */
  | { readonly kind: 'slow'; readonly there: number; readonly back: number }
  /** No answer comes: the connection breaks at once, or the caller's deadline passes. The server has acted or not. */
  | { readonly kind: 'broken'; readonly acted: boolean; readonly after: 0 | 10 }
  /** The server fails and has not acted. */
  | { readonly kind: 'failed' }
  /** kill -9 before the request is written, or while it is under way; a new process begins after `away`. */
  | { readonly kind: 'crash'; readonly sent: boolean; readonly there: number; readonly away: number }
  /** SIGTERM while the request is under way, as in a rolling update; a new process begins after `away`. */
  | { readonly kind: 'stop'; readonly there: number; readonly away: number }
  /** SIGSTOP before the request is written, or before its answer is read. */
  | { readonly kind: 'pause'; readonly sent: boolean; readonly span: number; readonly reversed: boolean };

/** What somebody or something else does. */
export type Happening =
  | {
      readonly kind:
        | 'suspend'
        | 'resume'
        | 'edit'
        | 'toDryRun'
        | 'delete'
        | 'recreate'
        | 'approve'
        | 'touchPlan'
        | 'metricsOff'
        | 'metricsOn'
        | 'gatesClosed'
        | 'gatesOpen';
    }
  /** A pod is deleted, or its eviction by somebody else goes through. */
  | { readonly kind: 'removePod'; readonly pod: number }
  | { readonly kind: 'scale'; readonly owner: number; readonly replicas: number }
  | {
      readonly kind: 'node';
      readonly node: 'a' | 'b' | 'c';
      readonly state: 'ready' | 'notReady' | 'cordoned' | 'full';
    }
  | { readonly kind: 'guard'; readonly owner: number; readonly minAvailable: number }
  /** The caches of a replica are cut off for a while. */
  | { readonly kind: 'stale'; readonly replica: number; readonly span: number };

/** Where the scheduler binds a new pod that is tied to no node. */
export type Landing = 'hinted' | 'elsewhere' | 'same' | 'nowhere';

/** Everything that chance decides. */
export interface History {
  readonly maxConcurrent: number;
  readonly mode: 'Automatic' | 'Approve' | 'DryRun';
  /** Which pods move by the first plan, in order, and where to. */
  readonly moves: readonly (readonly [pod: number, to: 'b' | 'c'])[];
  readonly steering: SteeringMode;
  /** Whether the policy goes on making plans of its own. */
  readonly planning: boolean;
  readonly minReady: number;
  /** How long what a leader has noted may wait to be stored, for each move of the plan. */
  readonly noteWait: number;
  /** Whether plans have a journal beside them. */
  readonly journalled: boolean;
  readonly delays: Delays;
  /** Of new pods in order; later ones land where the hint says. */
  readonly landings: readonly Landing[];
  /** Whether replicas share policies and the rest among them, or one leads everything. */
  readonly shared: boolean;
  /** Speeds of the replicas' monotonic clocks. */
  readonly rates: readonly number[];
  /** Seconds after which a kubelet reports that the container of a replica has ended; infinite where none does. */
  readonly reported: number;
  /** Answers to evictions and dry runs in order; undefined is what the cluster would say, as is everything later. */
  readonly answers: readonly (Script | undefined)[];
  /** Calls that go well before the mishap does. */
  readonly mishaps: readonly (readonly [gap: number, what: Mishap])[];
  /** The same, counting only calls that change something. */
  readonly writeMishaps: readonly (readonly [gap: number, what: Mishap])[];
  readonly happenings: readonly (readonly [at: number, what: Happening])[];
}

const span = (max: number) => fc.integer({ min: 0, max });
const rarelyNever = (usual: fc.Arbitrary<number>) =>
  fc.oneof({ weight: 15, arbitrary: usual }, { weight: 1, arbitrary: fc.constant(Number.POSITIVE_INFINITY) });
/** A request reaches the server within this time or never: what a crash leaves behind is not older. */
const passage = fc.constantFrom(0, 0.2, 1, 3);
const POD_COUNT = 9;

const moves = fc
  .uniqueArray(fc.nat({ max: POD_COUNT - 1 }), { minLength: 1, maxLength: 6 })
  .chain((pods) =>
    fc.tuple(...pods.map((pod) => fc.tuple(fc.constant(pod), fc.constantFrom('b' as const, 'c' as const)))),
  );

const crash: fc.Arbitrary<Mishap> = fc.record({
  kind: fc.constant('crash' as const),
  sent: fc.boolean(),
  there: passage,
  away: fc.constantFrom(0, 1, 20),
});
const mishap: fc.Arbitrary<Mishap> = fc.oneof(
  { weight: 4, arbitrary: crash },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('pause' as const),
      sent: fc.boolean(),
      span: fc.constantFrom(1, 4, 9, 16, 40),
      reversed: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('broken' as const),
      acted: fc.boolean(),
      after: fc.constantFrom(0 as const, 10 as const),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('slow' as const), there: passage, back: passage }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('stop' as const), there: passage, away: fc.constantFrom(0, 1, 20) }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'failed' } as const) },
);

const answer: fc.Arbitrary<Script | undefined> = fc.oneof(
  { weight: 6, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: fc.boolean().map((acted) => ({ kind: 'Ambiguous', message: 'reset', acted }) as const) },
  { weight: 1, arbitrary: fc.constant({ kind: 'RefusedByBudget', message: 'keep-it' } as const) },
  {
    weight: 1,
    arbitrary: span(30).map((wait) => ({ kind: 'TryLater', message: 'busy', retryAfter: seconds(wait) }) as const),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'Refused', message: 'more than one PodDisruptionBudget' } as const) },
  { weight: 1, arbitrary: fc.constant({ kind: 'Forbidden', message: 'no right' } as const) },
);

const happening: fc.Arbitrary<Happening> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .constantFrom(
        ...([
          'suspend',
          'suspend',
          'resume',
          'edit',
          'toDryRun',
          'delete',
          'recreate',
          'recreate',
          'approve',
          'touchPlan',
          'metricsOff',
          'metricsOn',
          'gatesClosed',
          'gatesOpen',
        ] as const),
      )
      .map((kind) => ({ kind })),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('removePod' as const), pod: fc.nat({ max: POD_COUNT + 3 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('scale' as const),
      owner: fc.nat({ max: 1 }),
      replicas: fc.integer({ min: 1, max: 5 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('node' as const),
      node: fc.constantFrom('a' as const, 'b' as const, 'c' as const),
      state: fc.constantFrom('ready' as const, 'notReady' as const, 'cordoned' as const, 'full' as const),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('guard' as const),
      owner: fc.nat({ max: 2 }),
      minAvailable: fc.integer({ min: 0, max: 3 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('stale' as const),
      replica: fc.nat({ max: 1 }),
      span: fc.constantFrom(5, 30, 100),
    }),
  },
);

const mishapsOf = (what: fc.Arbitrary<Mishap>, gap: number, maxLength: number) =>
  fc.array(fc.tuple(span(gap), what), { maxLength });
const steering = fc.constantFrom(...STEERING_MODES);
const noteWait = fc.constantFrom(0.01, 1, 5);
const reported = fc.constantFrom(0, 1, Number.POSITIVE_INFINITY);

/** Histories in which everything may go wrong. */
export const histories: fc.Arbitrary<History> = fc.record({
  maxConcurrent: fc.integer({ min: 1, max: 3 }),
  mode: fc.oneof(
    { weight: 8, arbitrary: fc.constant('Automatic' as const) },
    { weight: 2, arbitrary: fc.constant('Approve' as const) },
    { weight: 1, arbitrary: fc.constant('DryRun' as const) },
  ),
  moves,
  steering,
  planning: fc.boolean(),
  minReady: fc.constantFrom(0, 0, 4),
  noteWait,
  journalled: fc.boolean(),
  delays: fc.record({
    grace: span(30),
    recreate: rarelyNever(span(5)),
    bind: rarelyNever(span(5)),
    ready: rarelyNever(span(30)),
  }),
  landings: fc.array(fc.constantFrom<Landing>('hinted', 'hinted', 'elsewhere', 'same', 'nowhere'), { maxLength: 6 }),
  shared: fc.boolean(),
  rates: fc.array(fc.constantFrom(1, 0.9, 1.1), { minLength: 1, maxLength: 3 }),
  reported,
  answers: fc.array(answer, { maxLength: 15 }),
  mishaps: mishapsOf(mishap, 80, 4),
  writeMishaps: mishapsOf(mishap, 8, 6),
  happenings: fc.array(fc.tuple(span(TROUBLED - 10), happening), { maxLength: 5 }),
});

/** Crashes at any point, and nothing else that could go wrong. */
export const crashesOnly: fc.Arbitrary<History> = fc.record({
  maxConcurrent: fc.integer({ min: 1, max: 3 }),
  mode: fc.constant('Automatic' as const),
  moves,
  steering: fc.constantFrom('AdmissionPolicy', 'Gate'),
  planning: fc.constant(false),
  minReady: fc.constant(0),
  noteWait,
  journalled: fc.boolean(),
  delays: fc.record({ grace: span(15), recreate: span(5), bind: span(5), ready: span(15) }),
  landings: fc.constant([]),
  shared: fc.boolean(),
  rates: fc.constantFrom([1], [1, 1], [1, 1, 1]),
  reported,
  answers: fc.constant([]),
  mishaps: mishapsOf(crash, 60, 3),
  writeMishaps: mishapsOf(crash, 6, 4),
  happenings: fc.constant([]),
});
