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
  /** The answer comes from an API server whose clock is wrong. */
  'SkewedClock',
] as const;

/** No answer, and the request reaches the server after the client has given it up. */
const OF_WRITES = ['LateWrite'] as const;

const OF_EVICTIONS = ['LateEviction'] as const;

/** The list is one that is seconds old. */
const OF_LISTS = ['OldList'] as const;

const OF_WATCHES = [
  'DroppedEvents',
  'DuplicatedEvents',
  /** Each event comes seconds late. */
  'LaggingEvents',
  'GoneStatus',
  'GoneInStream',
] as const;

const OF_METRICS = ['StaleMetrics', 'MissingMetrics', 'NotANumberMetrics', 'NegativeMetrics'] as const;

/**
 * Pods were created by API servers whose clocks differ. Nothing that is chosen for single requests: a pod keeps its creation
 * time, so every answer has the same.
 */
const OF_PODS = ['SkewedCreation'] as const;

/** A way in which the proxy spoils a request. */
export type FaultKind = (typeof FAULT_KINDS)[number];
/** Every way in which the proxy spoils requests. */
export const FAULT_KINDS = [
  ...OF_ANY_REQUEST,
  ...OF_WRITES,
  ...OF_EVICTIONS,
  ...OF_LISTS,
  ...OF_WATCHES,
  ...OF_METRICS,
  ...OF_PODS,
] as const;
/** Ways in which samples of the Metrics API are spoiled. */
export type MetricsFault = (typeof OF_METRICS)[number];

/** As much of a request as decides what can go wrong with it. */
export interface FaultyRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
}

/** Whether a request opens a watch. */
export function isWatch({ query }: Pick<FaultyRequest, 'query'>): boolean {
  return ['true', '1'].includes(query.get('watch') ?? '');
}

function isMetrics({ path }: FaultyRequest): boolean {
  return path.startsWith('/apis/metrics.k8s.io/');
}

function isWrite({ method }: FaultyRequest): boolean {
  return method !== 'GET';
}

function isEviction({ method, path, query }: FaultyRequest): boolean {
  return method === 'POST' && path.endsWith('/eviction') && !query.has('dryRun');
}

/** Resources of which the operator keeps caches, and which it lists for those only. */
const CACHED = /\/(pods|replicasets|deployments|statefulsets|poddisruptionbudgets|namespaces)$/;

/**
 * Whether a list fills a cache. What decides over an eviction is read at that moment, and a server that answers such a read
 * from the past breaks the contract of its API; a cache is behind the server anyway.
 */
function fillsCache({ method, path, query }: FaultyRequest): boolean {
  const isNarrow = path.includes('/namespaces/') || (query.get('fieldSelector') ?? '').includes('spec.nodeName');
  const asksForState = query.has('resourceVersion') || query.has('continue');
  return method === 'GET' && CACHED.test(path) && !isNarrow && !asksForState;
}

/** Whether an answer carries pods. */
export function hasPods({ method, path }: FaultyRequest): boolean {
  return method === 'GET' && !path.startsWith('/apis/') && /\/pods(\/[^/]+)?$/.test(path);
}

/** Share of evictions that are spoiled at least, when anything is: there are few among all requests. */
export const LEAST_OF_EVICTIONS = 0.25;

function rateOf(request: FaultyRequest, rate: number): number {
  return rate > 0 && isEviction(request) ? Math.max(rate, LEAST_OF_EVICTIONS) : rate;
}

/** How often what can happen to few requests only is chosen for those. */
const SHARE_OF_SPECIAL = 2 / 3;

/**
 * What goes wrong with a request: nothing, or with a probability of about `rate` one of what can. Those are chosen that were injected
 * least so far, so that few requests meet every kind.
 */
export function chooseFault(
  request: FaultyRequest,
  rate: number,
  kinds: ReadonlySet<FaultKind>,
  injected: ReadonlyMap<FaultKind, number>,
  random: Random,
): FaultKind | undefined {
  if (random.next() >= rateOf(request, rate)) {
    return undefined;
  }
  const usual = isWrite(request) ? [...OF_ANY_REQUEST, ...OF_WRITES] : OF_ANY_REQUEST;
  const isSpecial = random.next() < SHARE_OF_SPECIAL;
  const [first, second] = (isSpecial ? [specialOf(request), usual] : [usual, specialOf(request)]).map((possible) =>
    possible.filter((kind) => kinds.has(kind)),
  );
  return rarest(first ?? [], injected, random) ?? rarest(second ?? [], injected, random);
}

function specialOf(request: FaultyRequest): readonly FaultKind[] {
  if (isWatch(request)) {
    return OF_WATCHES;
  }
  if (isMetrics(request)) {
    return OF_METRICS;
  }
  if (isEviction(request)) {
    return OF_EVICTIONS;
  }
  return fillsCache(request) ? OF_LISTS : [];
}

/** These cost a deadline, in which nothing else can happen: there is one for four of each other kind. */
const COSTS: Readonly<Record<string, number>> = { Stall: 4, LateWrite: 4 };

/** A kind that was injected least so far; undefined where there is none at all. */
export function rarest<Kind extends string>(
  kinds: readonly Kind[],
  injected: ReadonlyMap<Kind, number>,
  random: Random,
): Kind | undefined {
  const costOf = (kind: Kind): number => (injected.get(kind) ?? 0) * (COSTS[kind] ?? 1);
  const least = Math.min(...kinds.map(costOf));
  const rare = kinds.filter((kind) => costOf(kind) === least);
  return rare[random.below(rare.length)];
}

/** Whether a fault is one of metrics. */
export function isMetricsFault(kind: FaultKind): kind is MetricsFault {
  return OF_METRICS.some((each) => each === kind);
}
