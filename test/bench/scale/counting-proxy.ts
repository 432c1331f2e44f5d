import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A relay to an API server that counts what goes through it. */
export interface CountingProxy {
  /** Bytes both ways so far, encrypted as they are. */
  readonly bytes: () => number;
  /** A copy of a kubeconfig that goes through the relay, beside the original. */
  kubeconfig(file: string): string;
  stop(): Promise<void>;
}

/** Relays connections on a free port of the loopback to `url`. */
export async function startCountingProxy(url: string): Promise<CountingProxy> {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  let bytes = 0;
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
      });
      from.pipe(to);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    bytes: () => bytes,
    kubeconfig(file) {
      const copy = `${file}.counted`;
      writeFileSync(copy, readFileSync(file, 'utf8').replaceAll(url, `https://127.0.0.1:${port}`), { mode: 0o600 });
      return copy;
    },
    async stop() {
      for (const socket of sockets) {
        socket.destroy();
      }
      server.close();
      await once(server, 'close');
    },
  };
}
