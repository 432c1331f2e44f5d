import type { RebalancePlan } from '../../src/api/v1alpha1/rebalance-plan.ts';
import { isInFlight, NOT_EVICTED } from '../../src/execute/transitions.ts';
import { isDisruption } from '../../src/model/move.ts';
import { epochSeconds, seconds } from '../../src/model/units.ts';
import { pastMovesOf } from '../../src/observe/project/past-moves.ts';
import { lostService } from '../../src/plan/budgets/overhead.ts';
import { NO_PODS, startupTimes } from '../../src/plan/startup.ts';
import { type AuditEvent, acceptedEvictions } from '../control-plane/audit.ts';
import { createJoin, keyOf, type StoredChange } from './plan-log.ts';

/** What a policy may do at a time. */
export interface PolicyLimits {
  /** Moves in flight, over all its plans. */
  readonly maxConcurrent: number;
  /** Pod-seconds of service that moves of all policies may have cost in the seconds of `window` before one of this policy begins. */
  readonly overhead?: { readonly limit: number; readonly window: number };
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
  /** Policies that had more moves in flight than maxConcurrent in what was stored, and `all` with more than all may have, as `name: moves`. */
  readonly overConcurrent: readonly string[];
  /**
   * Moves whose intent was stored though the service that they were expected to cost was not left any more, and how they stood last. Not
   * those that went back to Planned, or ended without an eviction: an intent whose write takes effect only after the operator has given
   * it up is not acted on.
   */
  readonly overOverhead: readonly string[];
  /** Most moves of all policies that were in flight at an instant. */
  readonly mostInFlight: number;
  /** How often an intent was stored that brought all policies to their limit. */
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
/** Seconds between the decision to begin a move and the time when a watch has brought it, at most. */
const DELAY = 3;
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
  readonly inFlight: number;
  /** Seconds since the epoch. */
  readonly at: number;
}

/** A move that began though too little service was left. */
interface Overspending {
  /** Its key. */
  readonly plan: string;
  readonly place: number;
  /** What was left, and what was not. */
  readonly excess: string;
}

/**
 * Plays all changes of plans and journals in the order in which the API server stored them: by their resourceVersions, since each kind has a
 * watch of its own. So at every intent all is known that was stored before it, and nothing that came later.
 */
export function createLimitWatch(limits: OperatorLimits): LimitWatch {
  const arrivals: Arrival[] = [];
  const states = new Map<string, State>();
  const join = createJoin();
  const most = new Map<string, number>();
  const overOverhead = new Map<string, Overspending>();
  let timesAtLimit = 0;
  let intentsWithinOverhead = 0;

  const count = (name: string, inFlight: number): void => void most.set(name, Math.max(most.get(name) ?? 0, inFlight));
  const inFlightOf = (policy?: string): number =>
    [...states.values()].reduce(
      (sum, { plan, inFlight }) => sum + (policy === undefined || policyOf(plan) === policy ? inFlight : 0),
      0,
    );
  const play = ({ at, change }: Arrival): void => {
    const plan = join(change);
    if (plan === undefined) {
      return;
    }
    const policy = policyOf(plan);
    const begun = begunMoves(plan, states.get(keyOf(plan))?.plan);
    const keyAt = (place: number): string => `${keyOf(plan)} ${place}`;
    for (const place of movesNotEvicted(plan)) {
      overOverhead.delete(keyAt(place));
    }
    const overhead = limits.policies.get(policy)?.overhead;
    const [place] = begun;
    if (overhead !== undefined && place !== undefined) {
      intentsWithinOverhead += begun.length;
      const before = states.get(keyOf(plan))?.plan ?? plan;
      const excess = overspent(before, overhead, [...states.values()], at);
      if (excess !== undefined) {
        overOverhead.set(keyAt(place), { plan: keyOf(plan), place, excess });
      }
    }
    states.set(keyOf(plan), { plan, inFlight: disruptionsInFlight(plan), at });
    count(policy, inFlightOf(policy));
    const all = inFlightOf();
    count('all', all);
    timesAtLimit += begun.length > 0 && all >= limits.maxInFlight ? 1 : 0;
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
      return {
        overConcurrent: [...most].flatMap(([name, moves]) =>
          moves > limitOf(name, limits) ? `${name}: ${moves}` : [],
        ),
        overOverhead: [...overOverhead.values()].map(({ plan, place, excess }) => {
          const phase = states.get(plan)?.plan.status?.moves?.[place]?.phase;
          return `${excess}; move ${place} is ${phase} in the end`;
        }),
        mostInFlight: most.get('all') ?? 0,
        timesAtLimit,
        intentsWithinOverhead,
      };
    },
  };
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

function disruptionsInFlight({ spec, status }: RebalancePlan): number {
  return (status?.moves ?? []).filter(({ phase }, place) => {
    const move = spec.moves[place];
    return isInFlight(phase) && move !== undefined && isDisruption(move);
  }).length;
}

/** Places of the moves that are in flight and were not before. */
function begunMoves({ status }: RebalancePlan, before: RebalancePlan | undefined): readonly number[] {
  return (status?.moves ?? []).flatMap(({ phase }, place) => {
    const old = before?.status?.moves?.[place]?.phase ?? 'Planned';
    return isInFlight(phase) && !isInFlight(old) ? [place] : [];
  });
}

/** Places of the moves that have evicted nobody: where a plan stops, a move that was taken back ends without being stored as Planned. */
function movesNotEvicted({ status }: RebalancePlan): readonly number[] {
  return (status?.moves ?? []).flatMap(({ phase }, place) => (NOT_EVICTED.has(phase) ? [place] : []));
}

/**
 * Says so when the next move of a plan had too little service left when it began. `before` is the plan before that, `states` are all plans by
 * then, `at` is when the watch has brought that it began.
 */
function overspent(
  before: RebalancePlan,
  { limit, window }: NonNullable<PolicyLimits['overhead']>,
  states: readonly State[],
  at: number,
): string | undefined {
  const recent = states.filter((state) => state.at > at - window - LONGEST_MOVE || state.inFlight > 0);
  const past = pastMovesOf(recent.map(({ plan }) => plan));
  const startup = startupTimes(past, NO_PODS);
  const next = before.spec.moves.find((move, place) => {
    const phase = before.status?.moves?.[place]?.phase ?? 'Planned';
    return phase === 'Planned' && isDisruption(move);
  });
  const cost = next === undefined ? 0 : Number(next.cost ?? startup.of(next.owner.uid));
  const instants = Array.from({ length: DELAY + 1 }, (_, delay) => epochSeconds(at - delay));
  const lost = Math.min(...instants.map((now) => lostService(past, startup, seconds(window), now)));
  return lost + cost > limit
    ? `${before.metadata.name}: ${lost.toFixed(0)} s were lost and the next move costs ${cost.toFixed(0)} s of ${limit} s`
    : undefined;
}
