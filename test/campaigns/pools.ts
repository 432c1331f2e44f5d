import { parseScenario, type Scenario } from '../control-plane/scenario-parse.ts';
import type { ControlPlane } from '../control-plane/start.ts';
import type { OperatorLimits, PolicyLimits } from './limits.ts';
import { applyEagerPolicy, eagerPolicy, MAX_CONCURRENT, setStage } from './stage.ts';

/** What a campaign has policies for. */
export interface Policies {
  readonly names: readonly string[];
  readonly limits: OperatorLimits;
  /** Flags of the operator for the limit over all. */
  readonly args: readonly string[];
  /** Applies all of them, with as many moves in a plan at most. */
  apply(cp: ControlPlane, maxMoves?: number): Promise<void>;
}

/** Seconds of service that moves may cost, of all policies, before one with such a budget waits; and the time that this is about. */
const OVERHEAD = { limit: 120, window: 60 };
/** One policy of so many has such a budget. */
const LIMITED_EVERY = 3;
const NODES = 3;
const WORKLOADS = 6;

/** One policy for all pods. */
export function onePolicy(name: string): Policies {
  return {
    names: [name],
    limits: { maxInFlight: Number.POSITIVE_INFINITY, policies: new Map([[name, { maxConcurrent: MAX_CONCURRENT }]]) },
    args: [],
    apply: (cp, maxMoves) => applyEagerPolicy(cp, name, maxMoves),
  };
}

/**
 * So many policies, each for a pool of nodes and its workloads: disjoint scopes, so that no policy undoes what another one has done. What they
 * share are limits: together they may have fewer moves in flight than each by itself, and some may cost service only while all together cost little.
 */
export function poolPolicies(count: number): Policies {
  const names = Array.from({ length: count }, (_, place) => poolName(place));
  const policies = new Map(names.map((name, place) => [name, limitsOf(place)]));
  return {
    names,
    limits: { maxInFlight: count, policies },
    args: ['--max-concurrent', String(count)],
    apply: (cp, maxMoves = 10) =>
      cp.apply([...policies].map(([name, limits]) => eagerPolicy(name, budgetOf(limits, maxMoves), scopeOf(name)))),
  };
}

/**
 * A control plane with the pools of these policies, out of balance, and everything of deploy/ but a running operator; `shared` is whether its
 * replicas may share policies.
 */
export function setPools({ names }: Policies, shared: boolean, log: (line: string) => void): Promise<ControlPlane> {
  return setStage(log, { scenario: scenarioOf(names), metricResolution: '10s', measured: true, shared });
}

function poolName(place: number): string {
  return `pool-${place + 1}`;
}

function limitsOf(place: number): PolicyLimits {
  const limits = { maxConcurrent: MAX_CONCURRENT };
  return place % LIMITED_EVERY === 1 ? { ...limits, overhead: OVERHEAD } : limits;
}

function budgetOf({ maxConcurrent, overhead }: PolicyLimits, maxMoves: number): Readonly<Record<string, unknown>> {
  const cost = overhead === undefined ? {} : { maxOverhead: `${overhead.limit}s`, window: `${overhead.window}s` };
  return { maxMoves, maxConcurrent, ...cost };
}

function scopeOf(pool: string): Readonly<Record<string, unknown>> {
  const selector = { matchLabels: { pool } };
  return { nodeSelector: selector, podSelector: selector };
}

/** Pods as in slow-pods.yaml: they take long enough to go and to start that moves stay open for a while. */
function scenarioOf(pools: readonly string[]): Scenario {
  const nodes = pools.map((pool) => ({
    prefix: `${pool}-node-`,
    count: NODES,
    cpu: '4',
    memory: '16Gi',
    labels: { pool },
  }));
  const workloads = pools.map((pool) => ({
    name: `${pool}-app`,
    count: WORKLOADS,
    namespace: 'shop',
    replicas: { min: 3, max: 5 },
    requests: { cpu: '100m', memory: '64Mi' },
    usage: {
      cpu: { logNormal: { mu: 4.2, sigma: 1.3, max: 600 } },
      memory: { logNormal: { mu: 5.3, sigma: 0.6, max: 1024 } },
    },
    startup: '5s',
    termination: '4s',
    pdb: { maxUnavailable: 1 },
    labels: { pool },
    podSpec: { nodeSelector: { pool } },
  }));
  return parseScenario(JSON.stringify({ seed: 59, nodes, workloads }), 'pools');
}
