import type { RebalancePlan } from '../../src/api/v1alpha1/rebalance-plan.ts';
import type { SteeringMode } from '../../src/api/v1alpha1/rebalance-policy.ts';
import type { ClusterSnapshot } from '../../src/model/snapshot.ts';
import type { Plan } from '../../src/plan/plan.ts';
import { plan as computePlan } from '../../src/plan/planner.ts';
import { toRebalancePlan } from '../../src/report/plan-resource.ts';
import { greedyLb, someOptions } from './builders/options.ts';
import { aPolicy } from './builders/policy.ts';
import { aNode, aPodOf, aSnapshot, aWorkload } from './builders.ts';
import { execution, PLAN, run } from './execution.ts';
import { type World, world } from './fake-world.ts';

/** A cluster and a plan with many moves of it. */
export interface LargePlan {
  readonly snapshot: ClusterSnapshot;
  readonly plan: Plan;
}

/** Pods of many services on one half of 40 nodes, of which half, which are `moves`, have to go to the other. */
export function largePlan(moves: number): LargePlan {
  const workloads = Array.from({ length: Math.ceil(moves / 5) }, (_, index) =>
    aWorkload(`deployment-of-service-${index}`, { replicas: 10 }),
  );
  const nodes = Array.from({ length: 40 }, (_, index) =>
    aNode(`worker-pool-1-node-${index}`, { allocatable: { cpu: 200 * moves, memory: 2 ** 40, pods: 500 } }),
  );
  const pods = workloads.flatMap((workload, index) =>
    Array.from({ length: 10 }, (_, replica) =>
      aPodOf(
        workload,
        `${workload.name}-5d4f8c7b9-x${replica}`,
        `worker-pool-1-node-${(index * 10 + replica) % 20}`,
        1000,
      ),
    ),
  );
  const uses = Object.fromEntries(pods.map(({ name }) => [name, 1000]));
  const snapshot = aSnapshot({ nodes, pods, uses, workloads });
  return { snapshot, plan: computePlan(snapshot, someOptions({ strategy: greedyLb({ tolerance: 0 }) })) };
}

/** Puts a large plan to be carried out on its modelled cluster. */
export function stage({ snapshot, plan }: LargePlan, steering: SteeringMode = 'None'): World {
  const w = world(snapshot.nodes, [...snapshot.workloads.values()], snapshot.pods);
  const resource = toRebalancePlan(plan, aPolicy('even'), 1, snapshot);
  w.plans.put({ ...resource, metadata: { name: PLAN }, status: { phase: 'Executing', steering } });
  return w;
}

/** Carries a plan out. Resolves to the bytes of the whole plan in each write: an object is stored whole, however small its patch. */
export async function bytesWritten(w: World, concurrent: number): Promise<readonly number[]> {
  const sizes: number[] = [];
  w.tap = (when, call, [plan, status]) => {
    if (when === 'before' && call === 'plans.writeStatus') {
      sizes.push(Buffer.byteLength(JSON.stringify({ ...(plan as RebalancePlan), status })));
    }
  };
  await run(w, execution(concurrent), 20_000);
  return sizes;
}
