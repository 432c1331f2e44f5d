import type { ConditionType } from '../../src/api/v1alpha1/conditions.ts';
import type { RebalancePlan } from '../../src/api/v1alpha1/rebalance-plan.ts';
import { runLoop } from '../../src/control/loop.ts';
import { OPERATOR_PACE } from '../../src/control/pace.ts';
import type { ServiceLedger, ServiceLevels } from '../../src/model/service-level.ts';
import { epochSeconds } from '../../src/model/units.ts';
import { aLedger, aServiceClass, serviceLevels } from './builders/service-levels.ts';
import { aNode, aPodOf, aWorkload, ownerOf, TEN_CORES } from './builders.ts';
import { type World, world } from './fake-world.ts';
import { drive, NOON } from './test-clock.ts';

/** Four workloads. */
export const OWNERS = ['api', 'db', 'mail', 'web'].map((name) => aWorkload(name, { replicas: 3 }));

/** Node a carries eight pods of 10 % each, nodes b and c nothing: two moves a plan, by perNode of the default budget. */
export function tilted(): World {
  const pods = OWNERS.flatMap((owner) => [1, 2].map((index) => aPodOf(owner, `${owner.name}-${index}`, 'a', 1_000)));
  return world([aNode('a', TEN_CORES), aNode('b', TEN_CORES), aNode('c', TEN_CORES)], OWNERS, pods);
}

/** Two pods on each node; those of one use `cpu`, the others 1,000m. */
export function evenPods(cpu: number): ReturnType<typeof aPodOf>[] {
  return OWNERS.slice(0, 3).flatMap((owner, place) =>
    [1, 2].map((index) => aPodOf(owner, `${owner.name}-${index}`, 'abc'.charAt(place), place === 0 ? cpu : 1_000)),
  );
}

/** Ledgers of workloads of two pods that have all run for an hour, and go on so from this second on. */
export function twoOfEach(second: number, now: Pick<ServiceLedger, 'running' | 'waiting'>): ServiceLevels {
  const times = { useful: 2 * (3600 + second) };
  const span = { admittedAt: epochSeconds(NOON - 3600), asOf: epochSeconds(NOON + second) };
  const ledgers = OWNERS.map((workload) => aLedger({ owner: ownerOf(workload), times, ...span, ...now }));
  return serviceLevels([aServiceClass({ slo: 0.95, window: 600 })], ledgers);
}

/** Runs the loop for `span` seconds; `script` says what happens meanwhile, by second. Resolves to the number of good passes. */
export async function play(
  w: World,
  span: number,
  script: Readonly<Record<number, () => void>> = {},
  stop = new AbortController(),
): Promise<number> {
  let passes = 0;
  for (const [second, action] of Object.entries(script)) {
    w.clock.at(w.clock.now() + Number(second), action);
  }
  w.clock.at(w.clock.now() + span, () => stop.abort());
  const settings = {
    excludedNamespaces: new Set(['kube-system']),
    maxInFlight: 100,
    pace: OPERATOR_PACE,
    passed: () => {
      passes += 1;
    },
  };
  await drive(w.clock, runLoop(w.ports, settings, stop.signal));
  return passes;
}

/** Status and reason of a condition of a policy. */
export function condition(w: World, policy: string, type: ConditionType): string {
  const found = w.policies.stored.get(policy)?.policy.status?.conditions?.find((each) => each.type === type);
  return `${found?.status} ${found?.reason}`;
}

/** Message of a condition of a policy. */
export function messageOf(w: World, policy: string, type: ConditionType): string | undefined {
  return w.policies.stored.get(policy)?.policy.status?.conditions?.find((each) => each.type === type)?.message;
}

/** Every plan that is stored. */
export function plansOf(w: World): readonly RebalancePlan[] {
  return [...w.plans.stored.values()];
}

/** Evictions that were asked for, trials included, in their order. */
export function evictions(w: World): readonly string[] {
  return w.calls.filter((call) => /^(evict|dry-run) /.test(call));
}

/** A policy that acts by itself in its third run. */
export const AUTOMATIC = { mode: 'Automatic', interval: '10s', thresholds: { consecutive: 3 } };
