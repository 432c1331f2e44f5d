import { ApiClient } from '../../../src/adapters/kubernetes/client.ts';
import { createClusterReader } from '../../../src/adapters/kubernetes/cluster-reader.ts';
import { connect } from '../../../src/adapters/kubernetes/connect.ts';
import { systemClock } from '../../../src/adapters/system-clock.ts';
import type { RebalancePolicySpec } from '../../../src/api/v1alpha1/rebalance-policy.ts';
import type { ClusterSnapshot } from '../../../src/model/snapshot.ts';
import { plan } from '../../../src/plan/planner.ts';
import { resolveOptions } from '../../../src/plan/resolve-options.ts';
import { standardDeviation } from '../../control-plane/node-loads.ts';
import type { ControlPlane } from '../../control-plane/start.ts';
import { applyPlan, statesOf } from '../../support/apply-plan.ts';

/** What plan after plan would take on a cluster where nobody else does anything and each pod lands where it is meant to. */
export interface PerfectSteering {
  /** Moves until the standard deviation of the nodes' load is a quarter of what it was; `undefined` when it never is. */
  readonly toAQuarter: number | undefined;
  /** Moves until a plan has none. */
  readonly toRest: number;
}

/** A policy that has not come to rest by then never does. */
const ROUNDS = 20;

/** Plans on what the cluster is now. `spec` may leave out what the API server fills in. */
export async function steerPerfectly(cp: ControlPlane, spec: RebalancePolicySpec): Promise<PerfectSteering> {
  const options = resolveOptions(spec);
  let state = await readCluster(cp);
  const goal = deviationOf(state) / 4;
  let [toAQuarter, toRest]: [number | undefined, number] = [undefined, 0];
  for (let round = 0; round < ROUNDS; round += 1) {
    const found = plan(state, options);
    if (found.moves.length === 0) {
      return { toAQuarter, toRest };
    }
    const next = applyPlan(state, found);
    if (toAQuarter === undefined && deviationOf(next) <= goal) {
      toAQuarter = toRest + statesOf(state, found).findIndex((each) => deviationOf(each) <= goal);
    }
    toRest += found.moves.length;
    state = next;
  }
  throw new Error(`${ROUNDS} plans in a row had moves, although every move landed`);
}

async function readCluster(cp: ControlPlane): Promise<ClusterSnapshot> {
  const connection = await connect({ kubeconfig: cp.kubeconfig, env: {} });
  const options = { clock: systemClock, random: Math.random, userAgent: 'evenkeel/test', attempts: 5 };
  const client = new ApiClient(connection, options);
  try {
    return await createClusterReader(client).snapshot(new AbortController().signal);
  } finally {
    await client.close();
  }
}

function deviationOf({ nodes, usage }: ClusterSnapshot): number {
  return standardDeviation(nodes.map(({ name, allocatable }) => (usage?.nodes.get(name)?.cpu ?? 0) / allocatable.cpu));
}
