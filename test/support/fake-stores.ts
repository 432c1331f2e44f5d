import { Ajv } from 'ajv';
import { type RebalancePlan, RebalancePlanSpec, RebalancePlanStatus } from '../../src/api/v1alpha1/rebalance-plan.ts';
import { type RebalancePolicy, RebalancePolicyStatus } from '../../src/api/v1alpha1/rebalance-policy.ts';
import { formatProblem, validatePolicy } from '../../src/api/validate.ts';
import type { PastMove } from '../../src/model/past-move.ts';
import { projectPastMoves } from '../../src/observe/project/past-moves.ts';
import { ConflictError, type PlanStore, type PolicyStore, type StoredPolicy } from '../../src/ports.ts';

/** Plans in memory: compares resource versions, and refuses what the CRD's schema refuses. */
export interface FakePlans {
  readonly store: PlanStore;
  /** By name. */
  readonly stored: Map<string, RebalancePlan>;
  /** Stores a plan without asking. Returns it with its resourceVersion. */
  put(plan: RebalancePlan): RebalancePlan;
  /** The plan as stored. Throws when there is none. */
  of(name: string): RebalancePlan;
}

/** Policies in memory; a write of status rings whoever watches, as on a real cluster. */
export interface FakePolicies {
  readonly store: PolicyStore;
  /** By name, as a person wrote them. */
  readonly stored: Map<string, RebalancePolicy>;
  /** Number of times that a status was written. */
  readonly writes: () => number;
  /** Creates a policy, or replaces its spec: the generation counts up. The spec may be wrong. */
  apply(name: string, spec: unknown): void;
  remove(name: string): void;
}

const ajv = new Ajv({ strict: false, validateFormats: false });
const checks = {
  planSpec: ajv.compile(RebalancePlanSpec),
  planStatus: ajv.compile(RebalancePlanStatus),
  policyStatus: ajv.compile(RebalancePolicyStatus),
};

function refuseInvalid(part: keyof typeof checks, value: unknown): void {
  const check = checks[part];
  if (!check(JSON.parse(JSON.stringify(value)))) {
    throw new Error(`the API server refuses ${part}: ${ajv.errorsText(check.errors)}`);
  }
}

/** Nobody may change what is stored but by storing it: a copy for every reader would say the same, at a cost. */
function frozen<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(frozen);
  }
  return value;
}

/** An empty store of plans. */
export function fakePlans(): FakePlans {
  const stored = new Map<string, RebalancePlan>();
  let version = 0;
  const put = (plan: RebalancePlan): RebalancePlan => {
    refuseInvalid('planSpec', plan.spec);
    refuseInvalid('planStatus', plan.status ?? {});
    version += 1;
    const next = frozen(structuredClone({ ...plan, metadata: { ...plan.metadata, resourceVersion: String(version) } }));
    stored.set(plan.metadata.name, next);
    return next;
  };
  const of = (name: string): RebalancePlan => {
    const plan = stored.get(name);
    if (plan === undefined) {
      throw new Error(`plan ${name} is not stored`);
    }
    return plan;
  };
  const store: PlanStore = {
    async create(plan) {
      if (stored.has(plan.metadata.name)) {
        throw new Error(`rebalanceplans "${plan.metadata.name}" already exists`);
      }
      return put(plan);
    },
    list: async () => [...stored.values()],
    get: async (name) => stored.get(name),
    async writeStatus({ metadata }, status) {
      const now = stored.get(metadata.name);
      if (now === undefined || now.metadata.resourceVersion !== metadata.resourceVersion) {
        throw new ConflictError(`plan ${metadata.name} is gone or newer`);
      }
      return put({ ...now, status });
    },
    async approve(name) {
      const plan = of(name);
      return put({ ...plan, spec: { ...plan.spec, approved: true } });
    },
    async remove(name) {
      stored.delete(name);
    },
  };
  return { store, stored, put, of };
}

/** An empty store of policies. */
export function fakePolicies(): FakePolicies {
  const stored = new Map<string, RebalancePolicy>();
  const watchers = new Set<() => void>();
  let count = 0;
  let removals = 0;
  /** A policy that is made anew is another one. */
  const uidOf = (name: string): string => (removals === 0 ? `uid-${name}` : `uid-${name}-${removals}`);
  const changed = (): void => {
    for (const ring of watchers) {
      ring();
    }
  };
  const verdicts = new WeakMap<RebalancePolicy, StoredPolicy>();
  const judged = (policy: RebalancePolicy): StoredPolicy => {
    const known = verdicts.get(policy);
    if (known !== undefined) {
      return known;
    }
    const { value, problems } = validatePolicy(structuredClone(policy));
    const verdict = frozen({ policy: value, invalid: problems.map(formatProblem) });
    verdicts.set(policy, verdict);
    return verdict;
  };
  const store: PolicyStore = {
    list: async () => [...stored.values()].map(judged),
    async writeStatus({ metadata }, status) {
      const now = stored.get(metadata.name);
      if (now === undefined || now.metadata.uid !== metadata.uid) {
        throw new ConflictError(`policy ${metadata.name} is gone`);
      }
      refuseInvalid('policyStatus', status);
      count += 1;
      stored.set(metadata.name, structuredClone({ ...now, status }));
      changed();
    },
    async watch(ring, signal) {
      watchers.add(ring);
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
      watchers.delete(ring);
    },
  };
  return {
    store,
    stored,
    writes: () => count,
    apply(name, spec) {
      const old = stored.get(name);
      const generation = (old?.metadata.generation ?? 0) + 1;
      const metadata = old?.metadata ?? { name, uid: uidOf(name), creationTimestamp: '2026-01-01T00:00:00Z' };
      const next = {
        ...old,
        apiVersion: 'evenkeel.dev/v1alpha1',
        kind: 'RebalancePolicy',
        metadata: { ...metadata, generation },
        spec,
      };
      stored.set(name, next as RebalancePolicy);
      changed();
    },
    remove(name) {
      removals += stored.delete(name) ? 1 : 0;
      changed();
    },
  };
}

/** What the stored plans remember, the oldest first. */
export function pastMovesOf({ stored }: FakePlans): readonly PastMove[] {
  return [...stored.values()]
    .flatMap((plan) => projectPastMoves({ ...plan }).moves)
    .sort((left, right) => left.startedAt - right.startedAt);
}
