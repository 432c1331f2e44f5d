import type { RebalancePolicySpec } from '../../src/api/v1alpha1/rebalance-policy.ts';
import { NO_STORAGE } from '../../src/model/storage.ts';
import { bytes, seconds } from '../../src/model/units.ts';
import { createInterner } from '../../src/observe/interner.ts';
import {
  DEFAULT_IMAGE_SIZE,
  DEFAULT_METRICS,
  DEFAULT_START,
  DEFAULT_TIMING,
  makeNode,
  makeWorkload,
} from '../../src/simulate/parts.ts';
import type { Scenario, Variant } from '../../src/simulate/scenario.ts';
import { constant, steps, type Trace } from '../../src/simulate/trace.ts';
import { aPolicy } from './builders/policy.ts';

/**
 * KSE's 32 scenarios (algorithms.md 8): users send requests to single-pod services on 4 nodes of 2 CPU and 2 GB for ten
 * minutes, with one planning round a minute. What the publication leaves open is chosen here:
 *
 * - a service is one pod of its own controller, so that requests fail from its eviction until its replacement is Ready;
 * - all services run one image, which is on every node before they arrive, so that each start is a hot one of 2.4 s
 *   (algorithms.md 5) and the image steers nobody;
 * - pods request 50m and 50Mi each, much less than they use, as the default scheduler must not know of the load;
 * - one request per second takes 100m, or 100 MB: 40 requests per second are half of what the four nodes have;
 * - requests arrive as a Poisson process, the same for all that are compared;
 * - linear growth goes from nothing to twice the rate, so that both forms send as many requests;
 * - service i of n gets the share of the density at i + 1/2: exponential with lambda = 5/n, or normal with mu = n/2 and
 *   sigma = mu/3; services arrive in this order, a second apart is too short to matter;
 * - memory behaves like memory: a service that starts has none yet and takes 63 % of what it misses in a minute, gives nothing
 *   back when fewer requests come, and is evicted where the node has no more;
 * - the Metrics API has samples over 15 s, in which the balance is measured, too.
 */
export interface KseCase {
  readonly pods: 20 | 40;
  readonly rate: 20 | 40;
  readonly growth: 'constant' | 'linear';
  readonly distribution: 'exponential' | 'normal';
  readonly resource: 'cpu' | 'memory';
}

/** All 32. */
export const KSE_CASES: readonly KseCase[] = ([20, 40] as const).flatMap((pods) =>
  ([20, 40] as const).flatMap((rate) =>
    (['constant', 'linear'] as const).flatMap((growth) =>
      (['exponential', 'normal'] as const).flatMap((distribution) =>
        (['cpu', 'memory'] as const).map((resource) => ({ pods, rate, growth, distribution, resource })),
      ),
    ),
  ),
);

const NODES = 4;
const DURATION = 600;
/** Seconds in which services start before anybody sends a request. */
const WARM_UP = 15;
/** Seconds in which a service takes 63 % of the memory that it wants and has not yet. */
const FILL = 60;
const IMAGE = 'service:1';
/** Millicores, and bytes, that one request per second takes. */
const COST = { cpu: 100, memory: 100e6 } as const;

/** What is compared. */
export const KSE_VARIANTS = ['default scheduler', 'GreedyLB', 'RefineLB', 'ours'] as const;
/** Name of one of them. */
export type KseVariant = (typeof KSE_VARIANTS)[number];

/** The scenario of a case, with every variant. */
export function kseScenario(each: KseCase, seed: number, variants: readonly KseVariant[] = KSE_VARIANTS): Scenario {
  const interner = createInterner();
  const images = new Map([[IMAGE, bytes(DEFAULT_IMAGE_SIZE)]]);
  const nodes = Array.from({ length: NODES }, (_, index) => ({
    ...makeNode(`node-${index + 1}`, { cpu: '2', memory: '2G' }, interner),
    images,
  }));
  const shares = sharesOf(each);
  const workloads = shares.map((share, index) =>
    makeWorkload(
      {
        name: `service-${String(index).padStart(2, '0')}`,
        template: {
          spec: {
            containers: [{ name: 'main', image: IMAGE, resources: { requests: { cpu: '50m', memory: '50Mi' } } }],
          },
        },
        usage: [{ cpu: constant(each.resource === 'cpu' ? 0 : 1), memory: constant(0) }],
        requests: { rate: rateOf(each, share), arrivals: 'Poisson', ...costOf(each) },
      },
      interner,
    ),
  );
  return {
    name: nameOf(each),
    seed,
    duration: seconds(WARM_UP + DURATION),
    start: DEFAULT_START,
    nodes,
    workloads,
    incidents: [],
    pdbs: [],
    namespaces: new Map([['default', new Map()]]),
    storage: NO_STORAGE,
    classes: [],
    timing: DEFAULT_TIMING,
    metrics: DEFAULT_METRICS,
    starvation: false,
    memory: each.resource === 'memory' ? { fill: seconds(FILL) } : undefined,
    imageSize: DEFAULT_IMAGE_SIZE,
    variants: variants.map((name) => variantOf(name, each)),
  };
}

/** `20 pods, 40/s, linear, exponential, cpu`. */
export function nameOf({ pods, rate, growth, distribution, resource }: KseCase): string {
  return `${pods} pods, ${rate}/s, ${growth}, ${distribution}, ${resource}`;
}

function sharesOf({ pods, distribution }: KseCase): readonly number[] {
  const [mu, sigma] = [pods / 2, pods / 6];
  const density = (x: number): number =>
    distribution === 'exponential' ? Math.exp((-5 / pods) * x) : Math.exp(-((x - mu) ** 2) / (2 * sigma ** 2));
  const densities = Array.from({ length: pods }, (_, index) => density(index + 0.5));
  const total = densities.reduce((sum, value) => sum + value, 0);
  return densities.map((value) => value / total);
}

function rateOf({ rate, growth }: KseCase, share: number): Trace {
  const value = rate * share;
  return growth === 'constant'
    ? steps([
        { at: 0, value: 0 },
        { at: WARM_UP, value },
      ])
    : [
        { at: WARM_UP, value: 0 },
        { at: WARM_UP + DURATION, value: 2 * value },
      ];
}

function costOf({ resource }: KseCase): { readonly cpu: number; readonly memory: number } {
  return { cpu: resource === 'cpu' ? COST.cpu : 0, memory: resource === 'memory' ? COST.memory : 0 };
}

/** As published: every round acts on whatever is above the mean, and nothing limits it. */
const PUBLISHED: Partial<RebalancePolicySpec> = {
  thresholds: { trigger: '0', minGain: '0', minImprovement: '0', minReduction: '0', consecutive: 1 },
  budgets: [{ maxMoves: 1000, maxConcurrent: 100 }],
};

/**
 * Ours, chosen once for all scenarios: a node serves 5 to 10 requests a second, of which a window of 15 s sees 75 to 150, so
 * that nodes differ by a tenth of their load by chance. Over five minutes chance evens out, and smaller differences count.
 */
const OURS: Partial<RebalancePolicySpec> = {
  thresholds: { trigger: '0.04', minGain: '0.005', minImprovement: '0.02', minReduction: '0', consecutive: 1 },
  budgets: [{ maxMoves: 1000, maxConcurrent: 100 }],
};
const SMOOTHING = '5m';

function variantOf(name: KseVariant, { resource }: KseCase): Variant {
  const common = {
    mode: 'Automatic' as const,
    interval: '60s',
    load: { resources: [{ name: resource, weight: 1 }] },
    protections: { minPodAge: '0s', minReplicas: 1, stabilization: '0s', cooldown: '0s' },
    steering: { mode: 'AdmissionPolicy' as const },
  };
  switch (name) {
    case 'default scheduler':
      return { name, scheduler: 'None', policies: [] };
    case 'GreedyLB':
      return policy(name, {
        ...common,
        ...PUBLISHED,
        strategy: { type: 'GreedyLB', greedyLB: { minimizeMoves: false } },
      });
    case 'RefineLB':
      return policy(name, {
        ...common,
        ...PUBLISHED,
        strategy: { type: 'RefineLB', refineLB: { refinements: 'None' } },
      });
    case 'ours':
      return policy(name, {
        ...common,
        ...OURS,
        load: { ...common.load, smoothing: SMOOTHING },
        strategy: { type: 'RefineLB' },
      });
    default:
      return name satisfies never;
  }
}

function policy(name: string, spec: unknown): Variant {
  return { name, scheduler: 'None', policies: [aPolicy(name.toLowerCase(), spec)] };
}
