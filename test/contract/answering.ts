import { onTestFinished } from 'vitest';
import type { ApiClient, ClientOptions } from '../../src/adapters/kubernetes/client.ts';
import { clientOf, type FakeApiServer, type Handler, startFakeApiServer } from './fake-api-server.ts';

/** A server with these answers and a client of it that tries once; both end with the test. */
export async function answering(
  handlers: readonly Handler[],
  options: Partial<ClientOptions> = {},
): Promise<{ readonly server: FakeApiServer; readonly client: ApiClient }> {
  const server = await startFakeApiServer(...handlers);
  const client = clientOf(server.url, { attempts: 1, ...options });
  onTestFinished(async () => {
    await client.close();
    await server.stop();
  });
  return { server, client };
}
