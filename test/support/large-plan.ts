import { emptyJournal } from '../../src/adapters/kubernetes/move-journals.ts';
import type { MoveJournal } from '../../src/api/v1alpha1/move-journal.ts';
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

/**
 * Pods of many services on one half of the nodes, of which half, which are `moves`, have to go to the other. Each node takes one
 * at a time.
 */
export function largePlan(moves: number, nodeCount = 40): LargePlan {
  const workloads = Array.from({ length: Math.ceil(moves / 5) }, (_, index) =>
    aWorkload(`deployment-of-service-${index}`, { replicas: 10 }),
  );
  const nodes = Array.from({ length: nodeCount }, (_, index) =>
    aNode(`worker-pool-1-node-${index}`, {
      allocatable: { cpu: (8000 * moves) / nodeCount, memory: 2 ** 40, pods: 500 },
    }),
  );
  const pods = workloads.flatMap((workload, index) =>
    Array.from({ length: 10 }, (_, replica) =>
      aPodOf(
        workload,
        `${workload.name}-5d4f8c7b9-x${replica}`,
        `worker-pool-1-node-${(index * 10 + replica) % (nodeCount / 2)}`,
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

/** Bytes of each object that was written while a plan was carried out: an object is stored whole, however small its patch. */
export interface BytesWritten {
  /** Of the plan itself. */
  readonly plans: readonly number[];
  /** Of its journal. */
  readonly journals: readonly number[];
  /** Together. */
  readonly total: number;
}

/** What an API server adds to an object: times, versions, and who manages which fields. */
const SERVER_METADATA = 700;

/** Carries a plan out, `concurrent` moves at a time. */
export async function bytesWritten(w: World, concurrent: number, limit = 20_000): Promise<BytesWritten> {
  const plans: number[] = [];
  const journals: number[] = [];
  const size = (object: unknown): number => Buffer.byteLength(JSON.stringify(object)) + SERVER_METADATA;
  w.tap = (when, call, [object, content]) => {
    if (when === 'after' && call === 'plans.writeStatus') {
      plans.push(size({ ...(object as RebalancePlan), status: content }));
    } else if (when === 'after' && call === 'journals.write') {
      journals.push(size({ ...(object as MoveJournal), spec: content }));
    } else if (when === 'after' && call === 'journals.create') {
      journals.push(size(emptyJournal(object as RebalancePlan)));
    }
  };
  await run(w, execution(concurrent), limit);
  const total = [...plans, ...journals].reduce((sum, each) => sum + each, 0);
  return { plans, journals, total };
}
