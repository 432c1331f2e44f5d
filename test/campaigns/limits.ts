import type { RebalancePlan } from '../../src/api/v1alpha1/rebalance-plan.ts';
import { entries } from '../../src/execute/journal.ts';
import type { JournalEntry } from '../../src/execute/move.ts';
import { isInFlight } from '../../src/execute/transitions.ts';
import { isDisruption } from '../../src/model/move.ts';
import { type AuditEvent, acceptedEvictions } from '../control-plane/audit.ts';
import { hadEnded, isTakenBack, type LastPlans, lastRun } from './last-runs.ts';
import { createJoin, keyOf, type StoredChange } from './plan-log.ts';
import { type OverheadLimit, overspent, type SpendingIntents, spendingIntents } from './spending.ts';

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
  /** Policies that had more moves in flight than maxConcurrent when one began, and `all` with more than all may have, as `name: moves`. */
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
  /** What all changes until now come to. */
  report(): LimitReport;
}

/** Milliseconds within which two watches bring all that was stored before. */
const SETTLED = 3000;
/** Seconds after its end for which a move may still count within a window: no pod of a campaign needs longer to start. */
const LONGEST_MOVE = 60;

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

/** Moves that were in flight together when some of them began, as was stored by then. */
interface Together {
  /** Seconds since the epoch. */
  readonly at: number;
  readonly moves: readonly { readonly plan: RebalancePlan; readonly entry: JournalEntry }[];
}

/**
 * Plays all changes of plans and journals in the order in which the API server stored them: by their resourceVersions, since each kind has a
 * watch of its own. So at every intent all is known that was stored before it, and nothing that came later.
 */
export function createLimitWatch(limits: OperatorLimits): LimitWatch {
  const arrivals: Arrival[] = [];
  const states = new Map<string, State>();
  const join = createJoin();
  const together: Together[] = [];
  const spending: SpendingIntents[] = [];

  const play = ({ at, change }: Arrival): void => {
    const plan = join(change);
    if (plan === undefined) {
      return;
    }
    const begun = begunMoves(plan, states.get(keyOf(plan))?.plan);
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
    report: () => {
      playUntil(Number.POSITIVE_INFINITY);
      const ends: LastPlans = new Map([...states.values()].map(({ plan }) => [plan.metadata.name, plan]));
      const stored = together.map(({ moves }) => moves.length);
      return {
        overConcurrent: overConcurrent(together, ends, limits),
        mostInFlight: Math.max(0, ...stored),
        timesAtLimit: stored.filter((count) => count >= limits.maxInFlight).length,
        overOverhead: overspent(spending, ends),
        intentsWithinOverhead: spending.reduce((sum, { begun }) => sum + begun.length, 0),
      };
    },
  };
}

/**
 * A move counts as the operator may have known it: one that had ended by then does not, nor one that was taken back, be it that its intent
 * was stored after whoever sent it had given it up. What the API server was asked for is judged by the audit log.
 */
function overConcurrent(together: readonly Together[], ends: LastPlans, limits: OperatorLimits): readonly string[] {
  const counts = together.map(({ at, moves }) => {
    const under = moves.filter(({ plan, entry: { run } }) => {
      const last = lastRun(ends, plan.metadata.name, run.podUID);
      return !isTakenBack(last, run.attempt) && !hadEnded(last, at);
    });
    const byPolicy = Map.groupBy(under, ({ plan }) => policyOf(plan));
    return new Map([['all', under.length], ...[...byPolicy].map(([name, own]) => [name, own.length] as const)]);
  });
  const most = (name: string): number => Math.max(0, ...counts.map((count) => count.get(name) ?? 0));
  const names = ['all', ...limits.policies.keys()];
  return names.flatMap((name) => (most(name) > limitOf(name, limits) ? [`${name}: ${most(name)}`] : []));
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

/**
 * Moves that are in flight and were not before. Every time that a move is taken back is one try more, and what it is then may be stored
 * with its next intent only.
 */
function begunMoves(plan: RebalancePlan, before: RebalancePlan | undefined): readonly JournalEntry[] {
  return entries(plan).filter(({ index, run }) => {
    const old = before?.status?.moves?.[index];
    const isAnew = !isInFlight(old?.phase ?? 'Planned') || old?.attempt !== run.attempt;
    return isInFlight(run.phase) && isAnew;
  });
}
