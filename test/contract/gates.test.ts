import { afterEach, describe, expect, it } from 'vitest';
import { createGates } from '../../src/adapters/kubernetes/gates.ts';
import { aRawPod, type Raw } from '../support/builders/raw.ts';
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

  it.each([[{}], [{ status: {} }], [{ status: { allowed: 'true' } }], [{ status: 'allowed' }], [[]]])(
    'is not there where the answer is %j',
    async (answer) => {
      const { gates } = await gatesOf(json(answer, 201));
      expect(await gates.available(NEVER)).toBe(false);
    },
  );
});

describe('open', () => {
  it('removes our gate and narrows the affinity in one patch over what was read', async () => {
    const { gates, server } = await gatesOf(json(aWaitingPod({ schedulingGates: [gate] })), json({}));
    expect(await gates.open(web, { kind: 'Pinned', node: 'node-2' }, NEVER)).toBe('Done');
    const matchFields = [{ key: 'metadata.name', operator: 'In', values: ['node-2'] }];
    const required = { nodeSelectorTerms: [{ matchFields }] };
    expect(server.seen[1]).toMatchObject({ method: 'PATCH', path: PATH });
    expect(server.seen[1]?.headers['content-type']).toBe('application/merge-patch+json');
    expect(server.seen[1]?.body).toEqual({
      metadata: { uid: 'uid-1', resourceVersion: '7', annotations: { 'evenkeel.dev/steered-to': 'node-2' } },
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
    expect(await gates.open(web, { kind: 'Anywhere' }, NEVER)).toBe('Done');
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
    expect(await gates.open(web, { kind: 'Pinned', node: 'node-2' }, NEVER)).toBe('Done');
    // It is not said to be tied to the node.
    expect(server.seen[1]?.body).toEqual({
      metadata: { uid: 'uid-1', resourceVersion: '7' },
      spec: { schedulingGates: null },
    });
    expect(reports).toEqual([expect.stringContaining('shop/web-1 cannot be tied to node-2')]);
  });

  const placement = { target: 'node-2', fallbacks: ['node-3'], alternatives: ['host-2', 'host-3'] };
  const preferred = [
    { weight: 100, preference: { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['node-2'] }] } },
    { weight: 50, preference: { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['node-3'] }] } },
  ];

  it('steers to the planned node and keeps to its alternatives, and says where to', async () => {
    const { gates, server, reports } = await gatesOf(json(aWaitingPod({ schedulingGates: [gate] })), json({}));
    expect(await gates.open(web, { kind: 'Steered', placement }, NEVER)).toBe('Done');
    const kept = { key: 'kubernetes.io/hostname', operator: 'In', values: ['host-2', 'host-3'] };
    expect(server.seen[1]?.body).toEqual({
      metadata: { uid: 'uid-1', resourceVersion: '7', annotations: { 'evenkeel.dev/steered-to': 'node-2' } },
      spec: {
        schedulingGates: null,
        affinity: {
          nodeAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: preferred,
            requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: [kept] }] },
          },
        },
      },
    });
    expect(reports).toEqual([]);
  });

  it('prefers the planned node, and reports it, when an affinity that matches nothing cannot be kept to alternatives', async () => {
    const required = { nodeSelectorTerms: [{}] };
    const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } };
    const { gates, server, reports } = await gatesOf(
      json(aWaitingPod({ schedulingGates: [gate], affinity })),
      json({}),
    );
    expect(await gates.open(web, { kind: 'Steered', placement }, NEVER)).toBe('Done');
    expect(server.seen[1]?.body).toEqual({
      metadata: { uid: 'uid-1', resourceVersion: '7' },
      spec: {
        schedulingGates: null,
        affinity: {
          nodeAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: preferred,
            requiredDuringSchedulingIgnoredDuringExecution: required,
          },
        },
      },
    });
    expect(reports).toEqual([expect.stringContaining('shop/web-1 cannot be tied to node-2')]);
  });

  it('says that an affinity of too many terms may be why a pod is not kept to its alternatives', async () => {
    const term = (name: string) => ({ matchExpressions: [{ key: 'zone', operator: 'In', values: [name] }] });
    const nodeSelectorTerms = Array.from({ length: 9 }, (_, index) => term(`zone-${index}`));
    const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } };
    const { gates, reports } = await gatesOf(json(aWaitingPod({ schedulingGates: [gate], affinity })), json({}));
    expect(await gates.open(web, { kind: 'Steered', placement }, NEVER)).toBe('Done');
    expect(reports).toEqual([expect.stringContaining('more than 8 terms')]);
  });

  it('says that alternatives that cannot be named may be why a pod only prefers the planned node', async () => {
    const { gates, reports } = await gatesOf(json(aWaitingPod({ schedulingGates: [gate] })), json({}));
    const unnamed = { ...placement, alternatives: undefined };
    expect(await gates.open(web, { kind: 'Steered', placement: unnamed }, NEVER)).toBe('Done');
    expect(reports).toEqual([expect.stringContaining('alternatives cannot be named')]);
  });

  it('reports nothing where it opens for any node', async () => {
    const { gates, reports } = await gatesOf(json(aWaitingPod({ schedulingGates: [gate] })), json({}));
    expect(await gates.open(web, { kind: 'Anywhere' }, NEVER)).toBe('Done');
    expect(reports).toEqual([]);
  });

  it.each<[string, readonly Handler[], string, number]>([
    ['is another incarnation', [json(aWaitingPod({ schedulingGates: [gate] }, { uid: 'other' }))], 'Gone', 1],
    ['is gone', [status(404, {})], 'Gone', 1],
    ['is another incarnation that has no gate', [json(aWaitingPod({}, { uid: 'other' }))], 'Gone', 1],
    ['cannot be read', [json([])], 'Gone', 1],
    ['has no gate of ours', [json(aWaitingPod({ schedulingGates: [{ name: 'other' }] }))], 'Changed', 1],
    ['has no gate', [json(aWaitingPod({}))], 'Changed', 1],
    ['went meanwhile', [json(aWaitingPod({ schedulingGates: [gate] })), status(404, {})], 'Gone', 2],
    ['was changed meanwhile', [json(aWaitingPod({ schedulingGates: [gate] })), status(409, {})], 'Changed', 2],
  ])('changes nothing when the pod %s', async (_, handlers, answer, requests) => {
    const { gates, server } = await gatesOf(...handlers);
    expect(await gates.open(web, { kind: 'Pinned', node: 'node-2' }, NEVER)).toBe(answer);
    expect(server.seen).toHaveLength(requests);
  });

  it('rejects, and names the right that is missing', async () => {
    const { gates } = await gatesOf(json(aWaitingPod({ schedulingGates: [gate] })), status(403, {}));
    await expect(gates.open(web, { kind: 'Anywhere' }, NEVER)).rejects.toThrow('grant the verb patch on pods');
  });
});

describe('list', () => {
  it('gives Pending pods that are gated or tied to a node, and reports what it cannot read', async () => {
    const pin = { key: 'metadata.name', operator: 'In', values: ['node-2'] };
    const required = { nodeSelectorTerms: [{ matchFields: [pin] }] };
    const tied = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } };
    const items = [
      aWaitingPod({ schedulingGates: [gate] }),
      aWaitingPod({ affinity: tied }, { name: 'tied', annotations: { 'evenkeel.dev/steered-to': 'node-2' } }),
      aWaitingPod({}, { name: 'other' }),
      aWaitingPod({ schedulingGates: 'no list' }, { name: 'odd' }),
    ];
    const { gates, server, reports } = await gatesOf(json({ kind: 'PodList', metadata: {}, items }));
    const found = await gates.list(NEVER);
    expect(found.map(({ name }) => name)).toEqual(['web-1', 'tied']);
    expect(server.seen[0]?.query.get('fieldSelector')).toBe('status.phase=Pending');
    expect(reports).toEqual([expect.stringContaining('Pod shop/odd')]);
  });

  it('reports what is no pod at all', async () => {
    const items = [{}, aWaitingPod({ schedulingGates: [gate] })];
    const { gates, reports } = await gatesOf(json({ kind: 'PodList', metadata: {}, items }));
    expect((await gates.list(NEVER)).map(({ name }) => name)).toEqual(['web-1']);
    expect(reports).toEqual([expect.stringContaining('Pod (without a name): ')]);
  });
});

describe('release', () => {
  it('evicts the pod exactly as it was looked at', async () => {
    const done = json({ kind: 'Status', apiVersion: 'v1', status: 'Success' }, 201);
    const { gates, server } = await gatesOf(json(aWaitingPod({})), done);
    expect(await gates.release(web, NEVER)).toBe('Done');
    expect(server.seen[1]).toMatchObject({
      method: 'POST',
      path: `${PATH}/eviction`,
      body: { deleteOptions: { preconditions: { uid: 'uid-1', resourceVersion: '7' } } },
    });
  });

  it.each<[string, Handler[], string, number]>([
    ['has a node', [json(aWaitingPod({ nodeName: 'node-1' }))], 'Changed', 1],
    ['is bound meanwhile', [json(aWaitingPod({})), status(409, {})], 'Changed', 2],
    ['is another incarnation', [json(aWaitingPod({}, { uid: 'other' }))], 'Gone', 1],
    ['is another incarnation, on a node', [json(aWaitingPod({ nodeName: 'a' }, { uid: 'other' }))], 'Gone', 1],
    ['cannot be read', [json([])], 'Gone', 1],
    ['is gone', [status(404, {})], 'Gone', 1],
    ['goes meanwhile', [json(aWaitingPod({})), status(404, {})], 'Gone', 2],
  ])('leaves a pod that %s', async (_, answers, expected, requests) => {
    const { gates, server } = await gatesOf(...answers);
    expect(await gates.release(web, NEVER)).toBe(expected);
    expect(server.seen).toHaveLength(requests);
  });

  it('rejects with what else the server refuses', async () => {
    const { gates } = await gatesOf(json(aWaitingPod({})), status(403, {}));
    await expect(gates.release(web, NEVER)).rejects.toMatchObject({ kind: 'Forbidden' });
  });
});
