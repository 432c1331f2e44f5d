import { createServer } from 'node:net';

/**
 * Ports of 127.0.0.1 that nobody listens on, all different. They lie below the range that the kernel hands out to
 * outgoing connections, so that no client takes one between this call and the server's start.
 */
export async function freePorts(count: number): Promise<readonly number[]> {
  const ports = new Set<number>();
  for (let attempt = 0; ports.size < count; attempt += 1) {
    if (attempt === 1000) {
      throw new Error(`found only ${ports.size} of ${count} free ports on 127.0.0.1 between 20000 and 32000`);
    }
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    if (await isFree(port)) {
      ports.add(port);
    }
  }
  return [...ports];
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1' }, () => server.close(() => resolve(true)));
  });
}
