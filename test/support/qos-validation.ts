import type { ServiceClass } from '../../src/model/service-level.ts';
import { NO_STORAGE } from '../../src/model/storage.ts';
import { seconds } from '../../src/model/units.ts';
import { createInterner } from '../../src/observe/interner.ts';
import {
  DEFAULT_IMAGE_SIZE,
  DEFAULT_METRICS,
  DEFAULT_START,
  DEFAULT_TIMING,
  makeNode,
} from '../../src/simulate/parts.ts';
import { type Random, randomStreams } from '../../src/simulate/random.ts';
import { classesIn, type LoggedRequest, workloadsOf } from '../../src/simulate/request-log.ts';
import type { Delay, Scenario, Variant } from '../../src/simulate/scenario.ts';
import { aPolicy } from './builders/policy.ts';
import { aServiceClass } from './builders/service-levels.ts';

/** How an experiment differs from the published one; times in seconds. */
export interface QosSettings {
  readonly nodes?: number;
  readonly duration?: number;
  readonly seed?: number;
  /** Over which the SLOs are to hold. */
  readonly window?: number;
  /** sigma of all classes. */
  readonly margin?: number;
  /** Of every pod; 2.37 is the mean of the published simulation. */
  readonly startup?: number;
  /** At the latest between two passes. */
  readonly period?: number;
  /** An eviction and the binding that follows it take as long as on a cluster; in one step otherwise. */
  readonly delays?: boolean;
  /** Of each request. */
  readonly replicas?: number;
  /** Of all classes. */
  readonly mode?: ServiceClass['mode'];
}

/**
 * The published experiment (QoS, validation 1): 20 nodes of ten slots, one request a second, one hour. An eviction and the
 * binding that follows it are one step in the published simulation, so that pods are gone at once and the operator sees every
 * change at once, unless `delays` is set.
 */
export function qosScenario(
  requests: readonly LoggedRequest[],
  variants: readonly Variant[],
  settings: QosSettings = {},
): Scenario {
  const { nodes = 20, duration = 3600, seed = 1, window = 3600, margin = 30, startup = 2.37 } = settings;
  const { delays = false, replicas = 1, mode = 'Aggregated' } = settings;
  const interner = createInterner();
  const start: Delay = { kind: 'Fixed', value: seconds(startup) };
  return {
    name: 'QoS validation 1',
    seed,
    duration: seconds(duration),
    start: DEFAULT_START,
    nodes: Array.from({ length: nodes }, (_, index) =>
      makeNode(`node-${String(index + 1).padStart(2, '0')}`, { cpu: '3750m', memory: '3840Mi' }, interner),
    ),
    workloads: workloadsOf(requests, interner).map((each) => ({ ...each, info: { ...each.info, replicas } })),
    incidents: [],
    pdbs: [],
    namespaces: new Map([['default', new Map()]]),
    storage: NO_STORAGE,
    classes: classesIn(requests, 'requests').map(({ name, slo }, index) =>
      aServiceClass({
        name,
        slo,
        importance: index + 1,
        mode,
        window,
        safetyMargin: margin,
        expectedStartup: startup,
        penalties: TIERS[String(slo)] ?? [],
      }),
    ),
    timing: {
      ...DEFAULT_TIMING,
      ...(delays ? {} : ONE_STEP),
      startup: { hot: start, cold: start },
    },
    metrics: { ...DEFAULT_METRICS, served: false },
    starvation: false,
    memory: undefined,
    imageSize: DEFAULT_IMAGE_SIZE,
    variants,
  };
}

const ONE_STEP: Partial<Scenario['timing']> = {
  termination: { kind: 'Fixed', value: seconds(0) },
  scheduling: seconds(0),
  reaction: seconds(0),
};

/** Tiers of algorithms.md 8. */
const TIERS: Readonly<Record<string, ServiceClass['penalties']>> = {
  '1': [
    { below: 0.9999, surcharge: 0.1 },
    { below: 0.99, surcharge: 0.3 },
    { below: 0.95, surcharge: 1 },
  ],
  '0.9': [
    { below: 0.9, surcharge: 0.1 },
    { below: 0.8911, surcharge: 0.3 },
    { below: 0.8556, surcharge: 1 },
  ],
  '0.5': [
    { below: 0.5, surcharge: 0.1 },
    { below: 0.495, surcharge: 0.3 },
    { below: 0.475, surcharge: 1 },
  ],
};

/** PriorityClasses and stock preemption. */
export const PRIORITY: Variant = { name: 'priority', scheduler: 'Priority', policies: [] };
/** QoSDriven as published. */
export const PUBLISHED: Variant = publishedVariant();
/** Our defaults. */
export const OURS: Variant = oursVariant();

/** QoSDriven as published, with a pass every so many seconds at the latest. */
export function publishedVariant(period?: number): Variant {
  return { name: 'published', scheduler: 'None', policies: [qosPolicy('published', 'None', period)] };
}

/** Our defaults, with a pass every so many seconds at the latest. */
export function oursVariant(period?: number): Variant {
  return { name: 'ours', scheduler: 'None', policies: [qosPolicy('ours', 'Standard', period)] };
}

function qosPolicy(name: string, refinements: 'None' | 'Standard', period = 30) {
  return aPolicy(name, {
    mode: 'Automatic',
    interval: `${period}s`,
    strategy: { type: 'QoSDriven', qosDriven: { refinements } },
    protections: { minReplicas: 1 },
    budgets: [{ maxMoves: 1000, maxConcurrent: 100 }],
    steering: { mode: 'Gate' },
  });
}

/** Slots of the published cluster. */
const CAPACITY = 200;

/**
 * Requests of the same shape as the published ones: other orders, mixes and durations, one submission a second. `contention` is
 * drawn between 1.1 and 1.5: requests that want to run at a time, over the slots that there are; what was promised fits.
 */
export function generateRequests(seed: number): {
  readonly requests: readonly LoggedRequest[];
  readonly contention: number;
} {
  const random = randomStreams(seed)('requests');
  const contention = 1.1 + 0.1 * ((seed - 1) % 5);
  const total = Math.round(CAPACITY * contention);
  const [prod, batch] = [0.2 + 0.15 * random.uniform(), 0.2 + 0.15 * random.uniform()];
  const counts = fitted(Math.round(total * prod), Math.round(total * batch), total);
  const requests = shuffledKinds(counts, random).map((kind, second) => ({
    ...kind,
    second,
    id: String(second + 1),
    // Four in five last beyond the hour, as all published ones do; the others end within it.
    duration: random.uniform() < 0.8 ? 7200 : 1200 + random.below(2400),
    ...SIZE,
  }));
  return { requests, contention };
}

/** What every published request asks for. */
const SIZE = { cpu: 0.375, memory: 0.375 };

type Kind = Pick<LoggedRequest, 'className' | 'slo' | 'priority'>;

/** So many of each class, the most important first, in a random order. */
function shuffledKinds([prod, batch, free]: readonly [number, number, number], random: Random): readonly Kind[] {
  const kinds: Kind[] = [
    ...Array.from({ length: prod }, () => ({ className: 'prod', slo: 1, priority: 11 })),
    ...Array.from({ length: batch }, () => ({ className: 'batch', slo: 0.9, priority: 7 })),
    ...Array.from({ length: free }, () => ({ className: 'free', slo: 0.5, priority: 1 })),
  ];
  for (let place = kinds.length - 1; place > 0; place -= 1) {
    const other = random.below(place + 1);
    const [left, right] = [kinds[place], kinds[other]];
    if (left !== undefined && right !== undefined) {
      kinds[place] = right;
      kinds[other] = left;
    }
  }
  return kinds;
}

/** Fewer of the middle class where what was promised would not fit into 97 % of the slots. */
function fitted(prod: number, batch: number, total: number): readonly [number, number, number] {
  const promised = prod + 0.9 * batch + 0.5 * (total - prod - batch);
  const excess = Math.max(0, promised - 0.97 * CAPACITY);
  const moved = Math.min(batch, Math.ceil(excess / 0.4));
  return [prod, batch - moved, total - prod - batch + moved];
}

/** The same requests, each lasting beyond an experiment of this many seconds. */
export function lasting(requests: readonly LoggedRequest[], duration: number): readonly LoggedRequest[] {
  return requests.map((request) => ({ ...request, duration: Math.max(request.duration, 2 * duration) }));
}

/** The last moment at which a request may end so that the one that follows it is served long enough to be judged. */
const LAST_END = 2700;

/**
 * Requests that were promised this share of the slots together for an hour: 45 to 75 of SLO 1, as many of .9, and the rest of
 * .5; about one a second, between .9 and 1.1. One in five ends within the hour, and another of its class follows at once.
 */
export function generateNearFull(seed: number, promised: number): readonly LoggedRequest[] {
  const random = randomStreams(seed)('requests near full load');
  const [prod, batch] = [45 + random.below(31), 45 + random.below(31)];
  const free = Math.round((promised * CAPACITY - prod - 0.9 * batch) / 0.5);
  const requests: LoggedRequest[] = [];
  let second = 0;
  for (const [place, kind] of shuffledKinds([prod, batch, free], random).entries()) {
    const request = { ...kind, ...SIZE, second, id: String(place + 1), duration: 7200 };
    const ends = 1200 + random.below(LAST_END - 1200);
    if (random.uniform() < 0.2 && second < 1200) {
      requests.push({ ...request, duration: ends - second }, { ...request, second: ends, id: `${place + 1}-next` });
    } else {
      requests.push(request);
    }
    second += 0.9 + 0.2 * random.uniform();
  }
  return requests;
}
