import type { MovePhase, RebalancePlan } from '../../src/api/v1alpha1/rebalance-plan.ts';
import { step } from '../../src/execute/executor.ts';
import type { ExecutionPolicy } from '../../src/execute/executor-ports.ts';
import type { PodInfo } from '../../src/model/pod.ts';
import { resolveOptions } from '../../src/plan/resolve-options.ts';
import { aPlan } from './builders/plan.ts';
import { aPolicy } from './builders/policy.ts';
import { aNode, aPodOf, aWorkload, TEN_CORES } from './builders.ts';
import { type World, world } from './fake-world.ts';
import { drive } from './test-clock.ts';

/** Never aborted. */
export const forever = new AbortController().signal;
/** The policy that plans are of. */
export const policy = aPolicy('even');
/** Three workloads, one of which gives its pods names that stay. */
export const web = aWorkload('web', { replicas: 3 });
export const api = aWorkload('api', { replicas: 3 });
export const db = aWorkload('db', { replicas: 3, kind: 'StatefulSet' });
/** Their pods, all on node a of a to d. */
export const PODS = [
  aPodOf(web, 'web-1', 'a'),
  aPodOf(web, 'web-2', 'a'),
  aPodOf(api, 'api-1', 'a'),
  aPodOf(db, 'db-0', 'a'),
] as const;
export const [WEB_1, WEB_2, API_1, DB_0] = PODS;
/** Name of the plan that is carried out. */
export const PLAN = 'even-0123456789';
/** What lines of the log say of a move of WEB_1 to node b. */
export const LOGGED_MOVE = {
  policy: 'even',
  plan: PLAN,
  pod: 'shop/web-1',
  podUID: 'uid-web-1',
  from: 'a',
  to: 'b',
  reason: 'Balance',
};

/** A modelled cluster of four nodes, and every port to it. */
export function aWorld(pods: readonly PodInfo[] = PODS): World {
  return world(
    [aNode('a', TEN_CORES), aNode('b', TEN_CORES), aNode('c', TEN_CORES), aNode('d', TEN_CORES)],
    [web, api, db],
    pods,
  );
}

/** How the policy wants a plan carried out. */
export function execution(maxConcurrent = 2, changes: Partial<ExecutionPolicy> = {}): ExecutionPolicy {
  return {
    current: async () => ({ policy, invalid: [] }),
    options: resolveOptions(policy.spec),
    maxConcurrent,
    maxInFlight: 100,
    stop: undefined,
    ...changes,
  };
}

/** Stores a plan with these moves. */
export function put(w: World, moves: RebalancePlan['spec']['moves'], status: RebalancePlan['status'] = {}): void {
  w.plans.put(aPlan(policy, moves, status));
}

/** The plan as it stands for the operator: what it has noted may not be stored yet. */
export async function noted(w: World): Promise<RebalancePlan> {
  const plans = await w.ports.plans.list(forever);
  return plans.find(({ metadata }) => metadata.name === PLAN) ?? w.plans.of(PLAN);
}

/** Carries the plan on by one step. Resolves to how it stands then. */
export async function stepOnce(w: World, how = execution()): Promise<RebalancePlan> {
  return drive(w.clock, step(await noted(w), how, w.ports, forever));
}

/** A step a second until the plan has ended. */
export async function run(w: World, how = execution(), limit = 2_000): Promise<RebalancePlan> {
  for (let count = 0; count < limit; count += 1) {
    const plan = await stepOnce(w, how);
    if (plan.status?.phase !== 'Executing') {
      return plan;
    }
    await w.clock.advance(1);
  }
  throw new Error(`the plan did not end in ${limit} steps`);
}

/** Phases of the moves of a plan, in its order. */
export function phases(plan: RebalancePlan): readonly (MovePhase | undefined)[] {
  return plan.status?.moves?.map(({ phase }) => phase) ?? [];
}

/** What became of the moves of a plan, in its order. */
export function outcomes(plan: RebalancePlan): readonly (string | undefined)[] {
  return plan.status?.moves?.map(({ outcome }) => outcome) ?? [];
}
