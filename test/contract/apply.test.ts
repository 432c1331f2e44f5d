import { afterEach, describe, expect, it } from 'vitest';
import { type ApplyOptions, applyResource, type DryRun } from '../../src/adapters/kubernetes/apply.ts';
import { clientOf, type Handler, json, NEVER, startFakeApiServer, status } from './fake-api-server.ts';

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) {
    await cleanup();
  }
});

const POLICY = { apiVersion: 'evenkeel.dev/v1alpha1', kind: 'RebalancePolicy', metadata: { name: 'even' }, spec: {} };
const stored = (resourceVersion: string, spec: object = {}) => json({ ...POLICY, metadata: { resourceVersion }, spec });
const missing = status(404, { reason: 'NotFound', details: { name: 'even', kind: 'rebalancepolicies' } });

/** A client of a server that answers so, and what that server was asked. */
async function asking(...answers: readonly Handler[]) {
  const server = await startFakeApiServer(...answers);
  const client = clientOf(server.url);
  cleanups.push(
    () => client.close(),
    () => server.stop(),
  );
  return { client, seen: server.seen };
}

const OPTIONS: ApplyOptions = { fieldManager: 'me', force: false, dryRun: 'none' };

async function applied(dryRun: DryRun, ...answers: readonly Handler[]) {
  const { client, seen } = await asking(...answers);
  const outcome = await applyResource(client, POLICY, { ...OPTIONS, dryRun }, NEVER);
  return { outcome, methods: seen.map(({ method }) => method) };
}

describe('an object that is applied', () => {
  it.each<[string, DryRun, readonly Handler[], string]>([
    ['is new', 'none', [missing, stored('1')], 'created'],
    ['is new', 'server', [missing, stored('1')], 'created'],
    ['has a new version', 'none', [stored('1'), stored('2')], 'configured'],
    ['has the version that it had', 'none', [stored('1'), stored('1')], 'unchanged'],
    ['would have another spec', 'server', [stored('1'), stored('1', { suspend: true })], 'configured'],
    ['would have the spec that it has', 'server', [stored('1'), stored('2')], 'unchanged'],
  ])('%s (dry run %s)', async (_, dryRun, answers, expected) => {
    expect(await applied(dryRun, ...answers)).toEqual({ outcome: expected, methods: ['GET', 'PATCH'] });
  });

  it.each<[Handler, string]>([
    [missing, 'created'],
    [stored('1'), 'configured'],
  ])('is not sent in a dry run of the client', async (answer, expected) => {
    expect(await applied('client', answer)).toEqual({ outcome: expected, methods: ['GET'] });
  });

  it.each<[string, Record<string, unknown>, string]>([
    ['RebalancePolicy', {}, 'rebalancepolicies/it'],
    ['RebalancePlan', { namespace: 'shop' }, 'rebalanceplans/it'],
    ['ServiceClass', {}, 'serviceclasses/it'],
    ['QoSLedger', { namespace: 'shop' }, 'namespaces/shop/qosledgers/it'],
    ['PlacementHint', {}, 'namespaces/default/placementhints/it'],
    ['AppGraph', { namespace: 7 }, 'namespaces/default/appgraphs/it'],
  ])('of kind %s with %j is read and sent where objects of its kind are', async (kind, metadata, path) => {
    const { client, seen } = await asking(missing, stored('1'));
    const object = { kind, metadata: { name: 'it', ...metadata } };
    await applyResource(client, object, OPTIONS, NEVER);
    expect(seen.map((each) => each.path)).toEqual(Array(2).fill(`/apis/evenkeel.dev/v1alpha1/${path}`));
    expect(seen[1]).toMatchObject({ body: object, headers: { 'content-type': 'application/apply-patch+yaml' } });
  });

  it.each<[Partial<ApplyOptions>, Record<string, string>]>([
    [{}, { fieldManager: 'me', force: 'false' }],
    [{ force: true }, { fieldManager: 'me', force: 'true' }],
    [{ dryRun: 'server' }, { fieldManager: 'me', force: 'false', dryRun: 'All' }],
  ])('with the options %j is sent with them', async (options, query) => {
    const { client, seen } = await asking(missing, stored('1'));
    await applyResource(client, POLICY, { ...OPTIONS, ...options }, NEVER);
    expect(seen.map((each) => Object.fromEntries(each.query))).toEqual([{}, query]);
  });

  it.each([
    [{ kind: 'Pod', metadata: { name: 'web-1' } }, '"Pod"'],
    [{ kind: 'RebalancePolicy', metadata: {} }, '"RebalancePolicy"'],
    [{ kind: 'RebalancePolicy', metadata: { name: 7 } }, '"RebalancePolicy"'],
    [{ kind: 'RebalancePolicy', metadata: 'even' }, '"RebalancePolicy"'],
    [{ metadata: { name: 'even' } }, 'undefined'],
  ])('is none of ours, or has no name, like %j, and is not even asked for', async (object, kind) => {
    const { client, seen } = await asking(missing);
    await expect(applyResource(client, object, OPTIONS, NEVER)).rejects.toMatchObject({
      kind: 'Invalid',
      message: `cannot apply an object of kind ${kind}: only ours, with a name`,
    });
    expect(seen).toEqual([]);
  });

  it('is not sent where it may not be read, and says why it was refused where it was sent', async () => {
    const { client, seen } = await asking(status(403));
    await expect(applyResource(client, POLICY, OPTIONS, NEVER)).rejects.toMatchObject({ kind: 'Forbidden' });
    expect(seen).toHaveLength(1);
    const refusing = await asking(stored('1'), status(409, { reason: 'Conflict' }));
    await expect(applyResource(refusing.client, POLICY, OPTIONS, NEVER)).rejects.toMatchObject({ kind: 'Conflict' });
  });
});
