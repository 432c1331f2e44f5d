import { afterEach, describe, expect, it } from 'vitest';
import { createServiceRecords } from '../../src/adapters/kubernetes/service-records.ts';
import { createSharedReflectors } from '../../src/adapters/kubernetes/shared-reflectors.ts';
import { systemClock } from '../../src/adapters/system-clock.ts';
import { clientOf, type FakeApiServer, json, listOf, silence, startFakeApiServer } from './fake-api-server.ts';

let server: FakeApiServer;
afterEach(() => server.stop());

const LISTENER = { failed: () => undefined, unreadable: () => undefined };

describe('watches of what ledgers are kept by', () => {
  it('are not begun when they were stopped before', async () => {
    server = await startFakeApiServer();
    const client = clientOf(server.url);
    await createServiceRecords(createSharedReflectors(client), systemClock, LISTENER).watch(AbortSignal.abort());
    expect(server.seen).toEqual([]);
    await client.close();
  });

  it('end when they are stopped, classes or none', async () => {
    server = await startFakeApiServer(json(listOf([])), silence());
    const client = clientOf(server.url);
    const stop = new AbortController();
    const records = createServiceRecords(createSharedReflectors(client), systemClock, LISTENER);
    records.follow(() => stop.abort(), stop.signal);
    await records.watch(stop.signal);
    expect(server.seen[0]?.path).toBe('/apis/evenkeel.dev/v1alpha1/serviceclasses');
    await client.close();
  });
});
