import { afterEach, describe, expect, it } from 'vitest';
import { ApiError } from '../../src/adapters/kubernetes/api-error.ts';
import { createPlanStore } from '../../src/adapters/kubernetes/plan-store.ts';
import { createPolicyStore } from '../../src/adapters/kubernetes/policy-store.ts';
import type { RebalancePlan } from '../../src/api/v1alpha1/rebalance-plan.ts';
import { ConflictError } from '../../src/ports.ts';
import { aPlan } from '../support/builders/plan.ts';
import { aPolicy } from '../support/builders/policy.ts';
import { clientOf, type Handler, json, NEVER, startFakeApiServer, status } from './fake-api-server.ts';

const PLANS = '/apis/evenkeel.dev/v1alpha1/rebalanceplans';

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) {
    await cleanup();
  }
});

async function serverOf(...handlers: readonly Handler[]) {
  const server = await startFakeApiServer(...handlers);
  const client = clientOf(server.url);
  cleanups.push(
    () => client.close(),
    () => server.stop(),
  );
  const report = (error: unknown): never => {
    throw error;
  };
  return { server, plans: createPlanStore(client, report), policies: createPolicyStore(client, report) };
}

/** As an API server stores it at this version. */
function stored(resourceVersion: string, fields: RebalancePlan['status'] = {}): RebalancePlan {
  const plan = aPlan(aPolicy('even'), [], fields);
  return { ...plan, metadata: { ...plan.metadata, uid: 'uid-plan', resourceVersion } };
}

describe('a status of a plan', () => {
  it('is written only over the version that its writer has read, of the very same plan', async () => {
    const { server, plans } = await serverOf(json(stored('8')));
    const written = await plans.writeStatus(stored('7'), { phase: 'Completed' }, NEVER);
    expect(written.metadata.resourceVersion).toBe('8');
    expect(server.seen).toMatchObject([
      {
        method: 'PATCH',
        path: `${PLANS}/even-0123456789/status`,
        body: { metadata: { uid: 'uid-plan', resourceVersion: '7' }, status: { phase: 'Completed' } },
      },
    ]);
  });

  it('goes on from the version of the creation', async () => {
    const { server, plans } = await serverOf(json(stored('3'), 201), json(stored('4')));
    await plans.create(aPlan(aPolicy('even'), []), NEVER);
    expect(server.seen.map(({ method, body }) => [method, (body as RebalancePlan).metadata.resourceVersion])).toEqual([
      ['POST', undefined],
      ['PATCH', '3'],
    ]);
  });

  it('takes away what is no longer in it', async () => {
    const { server, plans } = await serverOf(json(stored('8')));
    await plans.writeStatus(stored('7', { message: 'old', stopped: 'MetricsStale' }), { phase: 'Aborted' }, NEVER);
    expect(server.seen[0]?.body).toMatchObject({ status: { phase: 'Aborted', message: null, stopped: null } });
  });

  it.each([
    ['is newer', 409, 'Conflict'],
    ['is gone', 404, 'NotFound'],
  ])('conflicts when the plan %s', async (_, code, reason) => {
    const { plans } = await serverOf(
      status(code, { reason, details: { name: 'even-0123456789', kind: 'rebalanceplans' } }),
    );
    await expect(plans.writeStatus(stored('7'), {}, NEVER)).rejects.toThrow(ConflictError);
  });
});

it.each([
  ['there is another of its name', {}, ConflictError],
  ['its schema refuses it', { details: { name: 'even', kind: 'rebalancepolicies' } }, ApiError],
])('a status of a policy that the server answers with 422 since %s is refused as such', async (_, fields, expected) => {
  const { policies } = await serverOf(status(422, { reason: 'Invalid', ...fields }));
  await expect(policies.writeStatus(aPolicy('even'), {}, NEVER)).rejects.toThrow(expected);
});

it('a status of a policy is written only to the policy that was read, not to one made anew under its name', async () => {
  const { server, policies } = await serverOf(json({}));
  const policy = aPolicy('even');
  await policies.writeStatus(
    { ...policy, metadata: { ...policy.metadata, uid: 'uid-even' } },
    { observedGeneration: 1 },
    NEVER,
  );
  expect(server.seen[0]?.body).toEqual([
    { op: 'test', path: '/metadata/uid', value: 'uid-even' },
    { op: 'add', path: '/status', value: { observedGeneration: 1 } },
  ]);
});
