import { afterEach, describe, expect, it } from 'vitest';
import { applyResource, type DryRun } from '../../src/adapters/kubernetes/apply.ts';
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

async function applied(dryRun: DryRun, ...answers: readonly Handler[]) {
  const server = await startFakeApiServer(...answers);
  const client = clientOf(server.url);
  cleanups.push(
    () => client.close(),
    () => server.stop(),
  );
  const outcome = await applyResource(client, POLICY, { fieldManager: 'me', force: false, dryRun }, NEVER);
  return { outcome, methods: server.seen.map(({ method }) => method) };
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
});
