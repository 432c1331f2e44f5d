import type { RebalancePlan, RebalancePlanStatus } from '../../api/v1alpha1/rebalance-plan.ts';
import { API_VERSION } from '../../api/v1alpha1/schema.ts';
import { isObject } from '../../model/json.ts';
import type { PlanStore } from '../../ports.ts';
import { ApiError, ifThere, orConflict } from './api-error.ts';
import type { ApiClient } from './client.ts';
import { listObjects } from './list.ts';
import { MERGE_PATCH, replacingPatch } from './merge-patch.ts';
import { followMetadata } from './metadata-watch.ts';
import { RESOURCES } from './resource.ts';

/** RebalancePlans on an API server, each list a request. `report` hears of watches that failed; they are begun anew all the same. */
export function createPlanStore(client: ApiClient, report: (error: unknown) => void): PlanStore {
  async function writeStatus(
    plan: RebalancePlan,
    status: RebalancePlanStatus,
    signal: AbortSignal,
  ): Promise<RebalancePlan> {
    const { name, uid, resourceVersion } = plan.metadata;
    const body = { metadata: { uid, resourceVersion }, status: replacingPatch(plan.status, status) };
    const target = { ...RESOURCES.RebalancePlan, name, subresource: 'status' };
    return asPlan(
      await orConflict(client.sendIdempotent({ verb: 'patch', target, body, contentType: MERGE_PATCH }, signal)),
    );
  }

  return {
    async create(plan, signal) {
      const { status, ...body } = plan;
      const created = asPlan(
        await orConflict(client.send({ verb: 'create', target: RESOURCES.RebalancePlan, body }, signal)),
      );
      return status === undefined ? created : await writeStatus(created, status, signal);
    },
    list: async (signal) =>
      (await listObjects(client, RESOURCES.RebalancePlan, {}, signal)).map((body) => asPlan({ body })),
    async get(name, signal) {
      const answer = await ifThere(client.read({ verb: 'get', target: { ...RESOURCES.RebalancePlan, name } }, signal));
      return answer && asPlan(answer);
    },
    writeStatus,
    async approve(name, signal) {
      const body = { spec: { approved: true } };
      const target = { ...RESOURCES.RebalancePlan, name };
      return asPlan(await client.send({ verb: 'patch', target, body, contentType: MERGE_PATCH }, signal));
    },
    async remove(name, signal) {
      await ifThere(client.send({ verb: 'delete', target: { ...RESOURCES.RebalancePlan, name } }, signal));
    },
    watch: (changed, signal) => followMetadata(client, RESOURCES.RebalancePlan, changed, report).run(signal),
  };
}

/** The API server has checked the schema; this is about talking to the right one. Items of a list name no kind. Throws ApiError. */
export function asPlan({ body }: { readonly body: unknown }): RebalancePlan {
  if (!isObject(body) || !isObject(body.metadata) || !isObject(body.spec)) {
    throw new ApiError('BadAnswer', 'the API server answered with something that is no RebalancePlan');
  }
  return { ...body, apiVersion: API_VERSION, kind: 'RebalancePlan' } as unknown as RebalancePlan;
}
