import type { Random } from '../random.ts';

/** What can go wrong with any request. */
const OF_ANY_REQUEST = [
  /** 429 as the API server's priority and fairness answers it. */
  'TooManyRequests',
  'TooManyRequestsRetryAfter',
  'InternalError',
  'Unavailable',
  'Unauthorized',
  /** The connection breaks before the request has reached the server. */
  'ResetBefore',
  /** The server has carried out the request; the answer is lost. */
  'ResetAfter',
  /** No answer at all: only a deadline of the client's own ends it. */
  'Stall',
  /** The answer comes in small pieces. */
  'SlowBody',
  /** The connection breaks in the middle of the answer. */
  'Truncated',
] as const;

const OF_WATCHES = ['DroppedEvents', 'DuplicatedEvents', 'GoneStatus', 'GoneInStream'] as const;

const OF_METRICS = ['StaleMetrics', 'MissingMetrics', 'NotANumberMetrics', 'NegativeMetrics'] as const;

/** A way in which the proxy spoils a request. */
export type FaultKind = (typeof FAULT_KINDS)[number];
/** Every way in which the proxy spoils requests. */
export const FAULT_KINDS = [...OF_ANY_REQUEST, ...OF_WATCHES, ...OF_METRICS] as const;
/** Ways in which samples of the Metrics API are spoiled. */
export type MetricsFault = (typeof OF_METRICS)[number];

/** As much of a request as decides what can go wrong with it. */
export interface FaultyRequest {
  readonly path: string;
  readonly isWatch: boolean;
}

/** Whether `path` is one of the Metrics API. */
export function isMetrics(path: string): boolean {
  return path.startsWith('/apis/metrics.k8s.io/');
}

/** How often the faults of watches and of metrics are chosen for those, which are few among all requests. */
const SHARE_OF_SPECIAL = 2 / 3;

/**
 * What goes wrong with a request: nothing, or with probability `rate` one of what can. Those are chosen that were injected
 * least so far, so that few requests meet every kind.
 */
export function chooseFault(
  { path, isWatch }: FaultyRequest,
  rate: number,
  kinds: ReadonlySet<FaultKind>,
  injected: ReadonlyMap<FaultKind, number>,
  random: Random,
): FaultKind | undefined {
  if (random.next() >= rate) {
    return undefined;
  }
  const special: readonly FaultKind[] = isWatch ? OF_WATCHES : isMetrics(path) ? OF_METRICS : [];
  const isSpecial = random.next() < SHARE_OF_SPECIAL;
  const [first, second] = (isSpecial ? [special, OF_ANY_REQUEST] : [OF_ANY_REQUEST, special]).map((possible) =>
    possible.filter((kind) => kinds.has(kind)),
  );
  return rarest(first ?? [], injected, random) ?? rarest(second ?? [], injected, random);
}

/** A stall costs a deadline, in which nothing else can happen: there is one for four of each other kind. */
const COSTS: Partial<Record<FaultKind, number>> = { Stall: 4 };

function rarest(
  kinds: readonly FaultKind[],
  injected: ReadonlyMap<FaultKind, number>,
  random: Random,
): FaultKind | undefined {
  const costOf = (kind: FaultKind): number => (injected.get(kind) ?? 0) * (COSTS[kind] ?? 1);
  const least = Math.min(...kinds.map(costOf));
  const rare = kinds.filter((kind) => costOf(kind) === least);
  return rare[random.below(rare.length)];
}

/** Whether a fault is one of metrics. */
export function isMetricsFault(kind: FaultKind): kind is MetricsFault {
  return OF_METRICS.some((each) => each === kind);
}
