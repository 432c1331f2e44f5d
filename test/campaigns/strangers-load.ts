import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { type Ports, secureGet } from './strangers.ts';

/** What the thread of the strangers is to do. */
export interface StrangerLoad {
  readonly ports: Ports;
  readonly seconds: number;
  readonly connections: number;
  readonly anonymous: number;
}

/** What the strangers did. */
export interface StrangerCounts {
  readonly hostileConnections: number;
  readonly anonymousRequests: number;
}

const HOSTILE_ADDRESS = '127.0.0.2';
/** Between a connection that was closed and the next, in milliseconds. */
const RECONNECT = 500;
const GUESS_TIMEOUT = 10_000;

/** Holds a connection open without a word, or with half a head, and opens another one when it is closed. */
async function holdConnection(port: number, speaks: boolean, stop: AbortSignal, opened: () => void): Promise<void> {
  while (!stop.aborted) {
    const socket = connect({ port, host: '127.0.0.1', localAddress: HOSTILE_ADDRESS });
    const end = (): void => void socket.destroy();
    stop.addEventListener('abort', end, { once: true });
    socket.on('error', () => undefined);
    socket.on('connect', () => {
      opened();
      if (speaks) {
        socket.write('GET /metrics HTTP/1.1\r\nHost: x\r\n');
      }
    });
    socket.resume();
    await new Promise((resolve) => socket.once('close', resolve));
    stop.removeEventListener('abort', end);
    await sleep(RECONNECT);
  }
}

/** Sends another made-up token as soon as the last one was refused. */
async function guess(port: number, address: string, stop: AbortSignal, sent: () => void): Promise<void> {
  for (let index = 0; !stop.aborted; index += 1) {
    const headers = { authorization: `Bearer guess-${address}-${index}` };
    await secureGet(port, address, headers, AbortSignal.any([stop, AbortSignal.timeout(GUESS_TIMEOUT)])).catch(() =>
      sleep(1),
    );
    sent();
  }
}

const { ports, seconds, connections, anonymous } = workerData as StrangerLoad;
const stop = AbortSignal.timeout(1000 * seconds);
const counts = { hostileConnections: 0, anonymousRequests: 0 };
const hostile = [ports.health, ports.metrics].flatMap((port) =>
  Array.from({ length: connections }, (_, index) =>
    holdConnection(port, index % 2 === 0, stop, () => {
      counts.hostileConnections += 1;
    }),
  ),
);
const guessing = Array.from({ length: anonymous }, (_, index) =>
  guess(ports.metrics, `127.0.1.${index + 1}`, stop, () => {
    counts.anonymousRequests += 1;
  }),
);
await Promise.all([...hostile, ...guessing]);
parentPort?.postMessage(counts satisfies StrangerCounts);
