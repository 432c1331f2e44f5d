import type { RebalancePlan } from '../../src/api/v1alpha1/rebalance-plan.ts';
import { ANSWER_GRACE } from '../../src/execute/advance.ts';
import { entries } from '../../src/execute/journal.ts';
import type { JournalEntry } from '../../src/execute/move.ts';
import { isInFlight } from '../../src/execute/transitions.ts';
import { isDisruption } from '../../src/model/move.ts';
import { type AuditEvent, acceptedEvictions } from '../control-plane/audit.ts';
import { hadEnded, type LastPlans, lastRun } from './last-runs.ts';
import { createJoin, keyOf, type StoredChange } from './plan-log.ts';
import { type OverheadLimit, overspent, type SpendingIntents, spendingIntents } from './spending.ts';
import { createTries, type Try } from './tries.ts';

/** What a policy may do at a time. */
export interface PolicyLimits {
  /** Moves in flight, over all its plans. */
  readonly maxConcurrent: number;
  readonly overhead?: OverheadLimit;
}

/** What all policies may do at a time. */
export interface OperatorLimits {
  /** Moves in flight of all policies. */
  readonly maxInFlight: number;
  /** By name. */
  readonly policies: ReadonlyMap<string, PolicyLimits>;
}

/** What came of the limits. Each list is to be empty. */
export interface LimitReport {
  /** Policies that had more moves in flight than maxConcurrent when one began, and `all` with more than all may have, as `name: number of moves: moves`. */
  readonly overConcurrent: readonly string[];
  /** Moves that began though the service that they were expected to cost was not left any more, and how they stood last. */
  readonly overOverhead: readonly string[];
  /** Most moves of all policies that stood as in flight when one of them began: the operator may have known of less. */
  readonly mostInFlight: number;
  /** How often a move began that brought all policies to their limit, by the same count. */
  readonly timesAtLimit: number;
  /** Intents of policies with a budget for service. */
  readonly intentsWithinOverhead: number;
}

/** Watches limits that hold at every instant. */
export interface LimitWatch {
  /** A change, as a watch brings it. */
  take(change: StoredChange): void;
  /** What all changes until now come to; `lateWrites` are the resourceVersions of what was stored after its sender had given it up. */
  report(lateWrites?: ReadonlySet<number>): LimitReport;
}

/** Milliseconds within which two watches bring all that was stored before. */
const SETTLED = 3000;
/** Seconds after its end for which a move may still count within a window: no pod of a campaign needs longer to start. */
const LONGEST_MOVE = 60;
/**
 * Seconds within which it is stored that an eviction was refused or not sent, even where one write of that is lost. An eviction that may
 * have been sent counts for longer than that.
 */
const STORED_WITHIN = ANSWER_GRACE - 3;

/** A change with its place in the order of the API server, and the time when it came. */
interface Arrival {
  readonly version: number;
  readonly at: number;
  readonly change: StoredChange;
}

/** A plan as it stands at an instant. */
interface State {
  readonly plan: RebalancePlan;
  readonly inFlight: readonly JournalEntry[];
  /** Seconds since the epoch. */
  readonly at: number;
}

interface InFlight {
  readonly plan: RebalancePlan;
  readonly entry: JournalEntry;
}

/** Moves that were in flight together when some of them began, as was stored by then. */
interface Together {
  /** Seconds since the epoch. */
  readonly at: number;
  readonly moves: readonly InFlight[];
}

/**
 * Plays all changes of plans and journals in the order in which the API server stored them: by their resourceVersions, since each kind has a
 * watch of its own. So at every intent all is known that was stored before it, and nothing that came later.
 */
export function createLimitWatch(limits: OperatorLimits): LimitWatch {
  const arrivals: Arrival[] = [];
  const states = new Map<string, State>();
  const tries = createTries();
  const join = createJoin();
  const together: Together[] = [];
  const spending: SpendingIntents[] = [];

  const play = ({ version, at, change }: Arrival): void => {
    const plan = join(change);
    if (plan === undefined) {
      return;
    }
    const begun = tries.follow(plan, states.get(keyOf(plan))?.plan, { version, at });
    states.set(keyOf(plan), { plan, inFlight: disruptionsInFlight(plan), at });
    if (begun.length === 0) {
      return;
    }
    const moves = [...states.values()].flatMap((state) => state.inFlight.map((entry) => ({ plan: state.plan, entry })));
    together.push({ at, moves });
    const overhead = limits.policies.get(policyOf(plan))?.overhead;
    if (overhead !== undefined) {
      const since = at - overhead.window - LONGEST_MOVE;
      const recent = [...states.values()].filter((state) => state.at > since || state.inFlight.length > 0);
      spending.push(
        spendingIntents(
          plan,
          begun,
          overhead,
          recent.map((state) => state.plan),
          at,
        ),
      );
    }
  };
  const playUntil = (instant: number): void => {
    arrivals.sort((left, right) => left.version - right.version);
    while (arrivals[0] !== undefined && arrivals[0].at * 1000 <= instant) {
      play(arrivals[0]);
      arrivals.shift();
    }
  };
  return {
    take: (change) => {
      const version = Number(change.object.metadata.resourceVersion);
      arrivals.push({ version, at: Date.now() / 1000, change });
      playUntil(Date.now() - SETTLED);
    },
    report: (lateWrites = new Set()) => {
      playUntil(Number.POSITIVE_INFINITY);
      const ends: LastPlans = new Map([...states.values()].map(({ plan }) => [plan.metadata.name, plan]));
      const stored = together.map(({ moves }) => moves.length);
      const isUnknown = (at: number, { plan, entry: { run } }: InFlight): boolean => {
        const last = lastRun(ends, plan.metadata.name, run.podUID);
        return hadEnded(last, at) || isKnownUnsent(at, tries.of(plan, run), lateWrites);
      };
      const known = together.map(({ at, moves }) => moves.filter((move) => !isUnknown(at, move)));
      return {
        overConcurrent: overConcurrent(known, limits),
        mostInFlight: Math.max(0, ...stored),
        timesAtLimit: stored.filter((count) => count >= limits.maxInFlight).length,
        overOverhead: overspent(spending, ends),
        intentsWithinOverhead: spending.reduce((sum, { begun }) => sum + begun.length, 0),
      };
    },
  };
}

/**
 * A move counts as the operator may have known it: what it knows of an eviction that was refused is stored a little later, and an intent
 * that was stored after its sender had given it up is never acted on. What the API server was asked for is judged by the audit log.
 */
function isKnownUnsent(at: number, sent: Try | undefined, lateWrites: ReadonlySet<number>): boolean {
  return sent?.takenBackAt !== undefined && (sent.takenBackAt <= at + STORED_WITHIN || lateWrites.has(sent.version));
}

function overConcurrent(together: readonly (readonly InFlight[])[], limits: OperatorLimits): readonly string[] {
  const names = ['all', ...limits.policies.keys()];
  return names.flatMap((name) => {
    const own = together.map((moves) => moves.filter(({ plan }) => name === 'all' || policyOf(plan) === name));
    const most = own.reduce((left, right) => (right.length > left.length ? right : left), []);
    return most.length > limitOf(name, limits)
      ? [
          `${name}: ${most.length}: ${most.map(({ plan, entry: { run } }) => `${plan.metadata.name} ${run.podUID} ${run.phase} try ${run.attempt}`).join(', ')}`,
        ]
      : [];
  });
}

/**
 * The same limits by the audit log: a move is in flight at least from the answer to its eviction until the second in which its plan says
 * that it has finished. Policies, and `all`, with more at an instant than they may have, as `name: moves`; empty when the limits hold.
 */
export function overConcurrentByAudit(
  audit: readonly AuditEvent[],
  plans: readonly RebalancePlan[],
  limits: OperatorLimits,
): readonly string[] {
  const moves = new Map(
    plans.flatMap((plan) =>
      (plan.status?.moves ?? []).flatMap(({ podUID, finishedAt, startedAt }) =>
        finishedAt === undefined || startedAt === undefined ? [] : [[podUID, { policy: policyOf(plan), finishedAt }]],
      ),
    ),
  );
  const spans = acceptedEvictions(audit).flatMap(({ answeredAt, uidPrecondition = '' }) => {
    const move = moves.get(uidPrecondition);
    const [from, to] = [Date.parse(answeredAt), Date.parse(move?.finishedAt ?? '')];
    return move === undefined || !(to > from) ? [] : [{ policy: move.policy, from, to }];
  });
  const names = ['all', ...limits.policies.keys()];
  return names.flatMap((name) => {
    const own = spans.filter(({ policy }) => name === 'all' || policy === name);
    const together = own.map(({ from }) => own.filter((each) => each.from <= from && each.to > from).length);
    const most = Math.max(0, ...together);
    return most > limitOf(name, limits) ? [`${name}: ${most}`] : [];
  });
}

function limitOf(name: string, { maxInFlight, policies }: OperatorLimits): number {
  return name === 'all' ? maxInFlight : (policies.get(name)?.maxConcurrent ?? Number.POSITIVE_INFINITY);
}

function policyOf({ spec }: RebalancePlan): string {
  return spec.policy.name;
}

function disruptionsInFlight(plan: RebalancePlan): readonly JournalEntry[] {
  return entries(plan).filter(({ move, run }) => isInFlight(run.phase) && isDisruption(move));
}
