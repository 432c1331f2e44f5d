import { createServer, type Server } from 'node:net';

/** Ports that are ours until they are given back, or this process ends. */
export interface PortClaim {
  readonly ports: readonly number[];
  release(): void;
}

/** Below the range that the kernel hands out to outgoing connections, so that no client takes one of them. */
const FIRST = 20_000;
const LAST = 32_000;
/** Ports to a block. Blocks are the same for every caller, so that two claims are either of one block or have nothing in common. */
const BLOCK = 10;

/**
 * Claims up to nine neighbouring ports of 127.0.0.1 that nobody listens on. The one before them is listened on for as long as the
 * claim lasts, which keeps every other caller, in this process or another one, from the block between this call and the moment
 * when its servers have started. Throws when no block is free.
 */
export async function claimPorts(count: number): Promise<PortClaim> {
  const blocks = (LAST - FIRST) / BLOCK;
  for (let attempt = 0; attempt < 1000; attempt += 1) {
    const withBackOff = FIRST + BLOCK * Math.floor(Math.random() * blocks);
    const guard = await listen(withBackOff);
    if (guard !== undefined) {
      const ports = Array.from({ length: count }, (_, index) => withBackOff + 1 + index);
      if (await areFree(ports)) {
        guard.unref();
        return { ports, release: () => void guard.close() };
      }
      guard.close();
    }
  }
  throw new Error(`found no block of ${BLOCK} free ports on 127.0.0.1 between ${FIRST} and ${LAST}`);
}

async function areFree(ports: readonly number[]): Promise<boolean> {
  for (const port of ports) {
    const server = await listen(port);
    if (server === undefined) {
      return false;
    }
    await new Promise((resolve) => server.close(resolve));
  }
  return true;
}

/** Undefined when somebody else listens there. */
function listen(port: number): Promise<Server | undefined> {
  return new Promise((resolve) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', () => resolve(undefined));
    server.listen({ port, host: '127.0.0.1' }, () => resolve(server));
  });
}
