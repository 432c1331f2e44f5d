import { afterEach, describe, expect, it } from 'vitest';
import { createGates } from '../../src/adapters/kubernetes/gates.ts';
import type { PodInfo } from '../../src/model/pod.ts';
import { aRawPod, type Raw } from '../support/builders/raw.ts';
import { aPod } from '../support/builders.ts';
import { clientOf, type Handler, json, NEVER, startFakeApiServer, status } from './fake-api-server.ts';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(cleanups.splice(0).map((cleanup) => cleanup()));
});

const web = { namespace: 'shop', name: 'web-1', uid: 'uid-1' };
const PATH = '/api/v1/namespaces/shop/pods/web-1';
const gate = { name: 'evenkeel.dev/qos' };

function aWaitingPod(spec: Raw, metadata: Raw = {}): Raw {
  const meta = { ...web, resourceVersion: '7', ...metadata };
  return aRawPod(web.name, { metadata: meta, spec: { nodeName: undefined, ...spec }, status: { phase: 'Pending' } });
}

async function gatesOf(...handlers: readonly Handler[]) {
  const server = await startFakeApiServer(...handlers);
  const client = clientOf(server.url);
  const reports: string[] = [];
  cleanups.push(
    () => client.close(),
    () => server.stop(),
  );
  return { server, reports, gates: createGates(client, (message) => reports.push(message)) };
}

describe('the right to open gates', () => {
  it.each([true, false])('is what the API server says: %s', async (allowed) => {
    const { gates, server } = await gatesOf(json({ status: { allowed } }, 201));
    expect(await gates.available(NEVER)).toBe(allowed);
    expect(server.seen).toMatchObject([
      {
        path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
        body: { spec: { resourceAttributes: { verb: 'patch', group: '', resource: 'pods' } } },
      },
    ]);
  });
});

describe('open', () => {
  it('removes our gate and narrows the affinity in one patch over what was read', async () => {
    const { gates, server } = await gatesOf(json(aWaitingPod({ schedulingGates: [gate] })), json({}));
    expect(await gates.open(web, 'node-2', NEVER)).toBe('Done');
    const matchFields = [{ key: 'metadata.name', operator: 'In', values: ['node-2'] }];
    const required = { nodeSelectorTerms: [{ matchFields }] };
    expect(server.seen[1]).toMatchObject({ method: 'PATCH', path: PATH });
    expect(server.seen[1]?.headers['content-type']).toBe('application/merge-patch+json');
    expect(server.seen[1]?.body).toEqual({
      metadata: { uid: 'uid-1', resourceVersion: '7', annotations: { 'evenkeel.dev/pinned-to': 'node-2' } },
      spec: {
        schedulingGates: null,
        affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } },
      },
    });
  });

  it('leaves the gates of others, and the affinity when there is no target', async () => {
    const { gates, server } = await gatesOf(
      json(aWaitingPod({ schedulingGates: [{ name: 'other' }, gate] })),
      json({}),
    );
    expect(await gates.open(web, undefined, NEVER)).toBe('Done');
    expect(server.seen[1]?.body).toEqual({
      metadata: { uid: 'uid-1', resourceVersion: '7' },
      spec: { schedulingGates: [{ name: 'other' }] },
    });
  });

  it('opens without the node, and reports it, when an affinity that matches nothing cannot be narrowed', async () => {
    const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{}] } } };
    const { gates, server, reports } = await gatesOf(
      json(aWaitingPod({ schedulingGates: [gate], affinity })),
      json({}),
    );
    expect(await gates.open(web, 'node-2', NEVER)).toBe('Done');
    expect(server.seen[1]?.body).toMatchObject({ spec: { schedulingGates: null } });
    expect(reports).toEqual([expect.stringContaining('shop/web-1 cannot be tied to node-2')]);
  });

  it.each<[string, readonly Handler[], string, number]>([
    ['is another incarnation', [json(aWaitingPod({ schedulingGates: [gate] }, { uid: 'other' }))], 'Gone', 1],
    ['is gone', [status(404, {})], 'Gone', 1],
    ['has no gate of ours', [json(aWaitingPod({ schedulingGates: [{ name: 'other' }] }))], 'Changed', 1],
    ['was changed meanwhile', [json(aWaitingPod({ schedulingGates: [gate] })), status(409, {})], 'Changed', 2],
  ])('changes nothing when the pod %s', async (_, handlers, answer, requests) => {
    const { gates, server } = await gatesOf(...handlers);
    expect(await gates.open(web, 'node-2', NEVER)).toBe(answer);
    expect(server.seen).toHaveLength(requests);
  });

  it('rejects, and names the right that is missing', async () => {
    const { gates } = await gatesOf(json(aWaitingPod({ schedulingGates: [gate] })), status(403, {}));
    await expect(gates.open(web, undefined, NEVER)).rejects.toThrow('grant the verb patch on pods');
  });
});

describe('list', () => {
  it('gives Pending pods that are gated or tied to a node, and reports what it cannot read', async () => {
    const items = [
      aWaitingPod({ schedulingGates: [gate] }),
      aWaitingPod({}, { name: 'tied', annotations: { 'evenkeel.dev/pinned-to': 'node-2' } }),
      aWaitingPod({}, { name: 'other' }),
      aWaitingPod({ schedulingGates: 'no list' }, { name: 'odd' }),
    ];
    const { gates, server, reports } = await gatesOf(json({ kind: 'PodList', metadata: {}, items }));
    const found = await gates.list(NEVER);
    expect(found.map(({ pod, resourceVersion }) => [pod.name, resourceVersion])).toEqual([
      ['web-1', '7'],
      ['tied', '7'],
    ]);
    expect(server.seen[0]?.query.get('fieldSelector')).toBe('status.phase=Pending');
    expect(reports).toEqual([expect.stringContaining('Pod shop/odd')]);
  });
});

describe('release', () => {
  const pod: PodInfo = { ...aPod('web-1'), ...web };

  it('evicts the pod exactly as it was listed', async () => {
    const { gates, server } = await gatesOf(json({ kind: 'Status', apiVersion: 'v1', status: 'Success' }, 201));
    expect(await gates.release({ pod, resourceVersion: '7' }, NEVER)).toBe('Done');
    expect(server.seen).toMatchObject([
      {
        method: 'POST',
        path: `${PATH}/eviction`,
        body: { deleteOptions: { preconditions: { uid: 'uid-1', resourceVersion: '7' } } },
      },
    ]);
  });

  it('leaves a pod that was bound meanwhile', async () => {
    const { gates } = await gatesOf(status(409, {}));
    expect(await gates.release({ pod, resourceVersion: '7' }, NEVER)).toBe('Changed');
  });
});
