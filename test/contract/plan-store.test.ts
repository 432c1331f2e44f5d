import { afterEach, describe, expect, it } from 'vitest';
import { ApiError } from '../../src/adapters/kubernetes/api-error.ts';
import { createPlanStore } from '../../src/adapters/kubernetes/plan-store.ts';
import { createPolicyStore } from '../../src/adapters/kubernetes/policy-store.ts';
import type { RebalancePlan } from '../../src/api/v1alpha1/rebalance-plan.ts';
import { ConflictError } from '../../src/ports.ts';
import { aPlan } from '../support/builders/plan.ts';
import { aPolicy } from '../support/builders/policy.ts';
import { clientOf, type Handler, json, listOf, NEVER, startFakeApiServer, status } from './fake-api-server.ts';

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

describe('a plan', () => {
  const { name } = stored('7').metadata;
  const gone = status(404, { reason: 'NotFound', details: { name, kind: 'rebalanceplans' } });

  it('that has no status yet is created by one request', async () => {
    const { server, plans } = await serverOf(json(stored('3'), 201));
    const { status: _, ...plan } = aPlan(aPolicy('even'), []);
    expect((await plans.create(plan, NEVER)).metadata.resourceVersion).toBe('3');
    expect(server.seen).toMatchObject([{ method: 'POST', path: PLANS }]);
  });

  it('is created without its status, which is a request of its own', async () => {
    const { server, plans } = await serverOf(json(stored('3'), 201), json(stored('4')));
    expect((await plans.create(stored('', { phase: 'Proposed' }), NEVER)).metadata.resourceVersion).toBe('4');
    expect(server.seen[0]?.body).not.toHaveProperty('status');
    expect(server.seen[1]).toMatchObject({ path: `${PLANS}/${name}/status`, body: { status: { phase: 'Proposed' } } });
  });

  it('conflicts with one of its name', async () => {
    const { plans } = await serverOf(status(409, { reason: 'AlreadyExists' }));
    await expect(plans.create(stored(''), NEVER)).rejects.toThrow(ConflictError);
  });

  it('is read alone, or is not there; items of a list name no kind', async () => {
    const { apiVersion: _, kind: __, ...item } = stored('7');
    const { server, plans } = await serverOf(json(stored('7')), gone, status(403), json(listOf([item])));
    expect(await plans.get(name, NEVER)).toEqual(stored('7'));
    expect(await plans.get(name, NEVER)).toBeUndefined();
    await expect(plans.get(name, NEVER)).rejects.toMatchObject({ kind: 'Forbidden' });
    expect(await plans.list(NEVER)).toEqual([stored('7')]);
    expect(server.seen.map(({ path }) => path)).toEqual([...Array(3).fill(`${PLANS}/${name}`), PLANS]);
  });

  it('is approved as it is by then, if it is still there', async () => {
    const { server, plans } = await serverOf(json(stored('8')), gone);
    expect((await plans.approve(name, NEVER)).metadata.resourceVersion).toBe('8');
    expect(server.seen).toMatchObject([{ method: 'PATCH', path: `${PLANS}/${name}` }]);
    expect(server.seen[0]?.body).toEqual({ spec: { approved: true } });
    expect(server.seen[0]?.headers['content-type']).toBe('application/merge-patch+json');
    await expect(plans.approve(name, NEVER)).rejects.toMatchObject({ kind: 'NotFound' });
  });

  it('is deleted; gone already is fine, and all else is an error', async () => {
    const { server, plans } = await serverOf(json({}), gone, status(403));
    await plans.remove(name, NEVER);
    await plans.remove(name, NEVER);
    expect(server.seen.map(({ method, path }) => `${method} ${path}`)).toEqual(
      Array(2).fill(`DELETE ${PLANS}/${name}`),
    );
    await expect(plans.remove(name, NEVER)).rejects.toMatchObject({ kind: 'Forbidden' });
  });

  it.each([[[]], [{ spec: {} }], [{ metadata: {} }], [{ metadata: 'it', spec: {} }], [{ metadata: {}, spec: 'it' }]])(
    'is not read from %j',
    async (body) => {
      const { plans } = await serverOf(json(body));
      await expect(plans.get(name, NEVER)).rejects.toMatchObject({
        kind: 'BadAnswer',
        message: 'the API server answered with something that is no RebalancePlan',
      });
    },
  );
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
