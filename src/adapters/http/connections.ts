import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { seconds } from '../../model/units.ts';
import { createRate, type Rate, setBounded } from './rate.ts';

/** How many connections a server has at a time. */
export interface ConnectionLimits {
  readonly connections: number;
  /** Of one source address. */
  readonly perAddress: number;
  /** New ones of one source address; default any. */
  readonly newPerAddress?: Rate;
}

interface Connection {
  readonly socket: Socket;
  readonly address: string;
  /** Requests that are being answered. */
  requests: number;
}

/** Source addresses whose rates are kept. */
const MAX_ADDRESSES = 1024;

/**
 * Keeps a server within limits so that strangers cannot take its connections from others. Where there are too many, the oldest
 * idle connection of the address that has most makes room; one that is being answered is never cut off.
 */
export function limitConnections(server: Server, limits: ConnectionLimits): void {
  /** By remote address and port; those that have been idle longest are first. */
  const all = new Map<string, Connection>();
  const counts = new Map<string, number>();
  const isTooFast = rateByAddress(limits.newPerAddress);

  function add(key: string, connection: Connection): void {
    all.set(key, connection);
    counts.set(connection.address, countOf(connection.address) + 1);
  }

  function remove(key: string, { address }: Connection): void {
    if (all.delete(key)) {
      const count = countOf(address) - 1;
      count === 0 ? counts.delete(address) : counts.set(address, count);
    }
  }

  function countOf(address: string): number {
    return counts.get(address) ?? 0;
  }

  /** Cuts off an idle connection, of this address if one is given. Returns whether there was one. */
  function makeRoom(address?: string): boolean {
    let chosen: readonly [string, Connection] | undefined;
    for (const entry of all) {
      const [, { requests, address: other }] = entry;
      const isCandidate = requests === 0 && (address === undefined || address === other);
      if (isCandidate && (chosen === undefined || countOf(other) > countOf(chosen[1].address))) {
        chosen = entry;
      }
    }
    if (chosen === undefined) {
      return false;
    }
    remove(...chosen);
    chosen[1].socket.destroy();
    return true;
  }

  function isRefused(address: string): boolean {
    return (
      isTooFast(address) ||
      (countOf(address) >= limits.perAddress && !makeRoom(address)) ||
      (all.size >= limits.connections && !makeRoom())
    );
  }

  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress;
    if (address === undefined || isRefused(address)) {
      socket.destroy();
      return;
    }
    const key = keyOf(socket);
    const connection = { socket, address, requests: 0 };
    add(key, connection);
    socket.once('close', () => remove(key, connection));
  });

  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const key = keyOf(socket);
    const connection = all.get(key);
    if (connection !== undefined) {
      connection.requests += 1;
      response.once('close', () => {
        connection.requests -= 1;
        if (all.delete(key)) {
          all.set(key, connection);
        }
      });
    }
  });
}

/** The same for a socket with TLS and for the one below it. */
function keyOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

function rateByAddress(rate: Rate | undefined): (address: string) => boolean {
  if (rate === undefined) {
    return () => false;
  }
  const rates = new Map<string, () => boolean>();
  return (address) => {
    const mayConnect = rates.get(address) ?? createRate(rate, () => seconds(performance.now() / 1000));
    setBounded(rates, MAX_ADDRESSES, address, mayConnect);
    return !mayConnect();
  };
}
