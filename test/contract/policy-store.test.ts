import { describe, expect, it, vi } from 'vitest';
import { createPolicyStore, requestRun, suspendPolicy } from '../../src/adapters/kubernetes/policy-store.ts';
import { aPolicy } from '../support/builders/policy.ts';
import { answering } from './answering.ts';
import { type Handler, json, lines, listOf, NEVER, status } from './fake-api-server.ts';

const POLICIES = '/apis/evenkeel.dev/v1alpha1/rebalancepolicies';

async function storeOf(...handlers: readonly Handler[]) {
  const { server, client } = await answering(handlers);
  const reports: unknown[] = [];
  return { server, client, reports, policies: createPolicyStore(client, (error) => reports.push(error)) };
}

describe('the list of policies', () => {
  it('has what is wrong with one that cannot be followed', async () => {
    const { apiVersion: _, kind: __, ...even } = aPolicy('even');
    const broken = { ...even, metadata: { name: 'broken' }, spec: { ...even.spec, suspend: 'yes' } };
    const { server, policies } = await storeOf(json(listOf([even, broken])));
    const listed = await policies.list(NEVER);
    expect(listed.map(({ policy, invalid }) => [policy.metadata.name, invalid.length])).toEqual([
      ['even', 0],
      ['broken', 1],
    ]);
    expect(listed[0]?.policy).toEqual(aPolicy('even'));
    expect(listed[1]?.invalid).toEqual([expect.stringContaining('spec.suspend')]);
    expect(server.seen).toMatchObject([{ method: 'GET', path: POLICIES }]);
  });

  it('fails where policies may not be listed', async () => {
    const { policies } = await storeOf(status(403));
    await expect(policies.list(NEVER)).rejects.toMatchObject({ kind: 'Forbidden' });
  });
});

describe('what people ask of a policy', () => {
  it('is that it rests', async () => {
    const { server, client } = await storeOf(json({}));
    await suspendPolicy(client, 'even', NEVER);
    expect(server.seen).toMatchObject([{ method: 'PATCH', path: `${POLICIES}/even` }]);
    expect(server.seen[0]?.body).toEqual({ spec: { suspend: true } });
    expect(server.seen[0]?.headers['content-type']).toBe('application/merge-patch+json');
  });

  it('is a run', async () => {
    const { server, client } = await storeOf(json({}));
    await requestRun(client, 'even', '2026-01-01T12:00:00Z', NEVER);
    expect(server.seen).toMatchObject([{ method: 'PATCH', path: `${POLICIES}/even` }]);
    expect(server.seen[0]?.body).toEqual({
      metadata: { annotations: { 'evenkeel.dev/run-requested-at': '2026-01-01T12:00:00Z' } },
    });
  });

  it('is refused where there is no such policy', async () => {
    const { client } = await storeOf(status(404, { reason: 'NotFound', details: { name: 'even' } }));
    await expect(suspendPolicy(client, 'even', NEVER)).rejects.toMatchObject({ kind: 'NotFound' });
    await expect(requestRun(client, 'even', 'now', NEVER)).rejects.toMatchObject({ kind: 'NotFound' });
  });
});

describe('the watch of policies', () => {
  const object = (name: string, resourceVersion: string) => ({ metadata: { name, uid: name, resourceVersion } });

  it('tells of changes, asks for metadata alone, and reports what fails until it is stopped', async () => {
    const { server, reports, policies } = await storeOf(
      status(500),
      json(listOf([object('even', '5')])),
      lines([{ type: 'ADDED', object: object('other', '9') }], false),
    );
    const stop = new AbortController();
    const changed = vi.fn<() => void>();
    const watching = policies.watch(changed, stop.signal);
    await vi.waitFor(() => expect(changed).toHaveBeenCalledTimes(2), { timeout: 60_000 });
    stop.abort();
    await watching;
    expect(reports).toMatchObject([{ kind: 'ServerError' }]);
    expect(server.seen.every(({ headers }) => headers.accept?.includes('as=PartialObjectMetadata'))).toBe(true);
  });
});
