import { isIPv4 } from 'node:net';
import { type HttpServer, listen, type ServerOptions } from '../adapters/http/server.ts';
import { Failure } from './failure.ts';

/** An address that a flag names. */
export interface Address {
  readonly flag: string;
  readonly text: string;
  readonly host: string;
  readonly port: number;
}

/** Listens on the address of a flag. Rejects with Failure when it cannot be had. */
export async function listenOn(
  { flag, text, host, port }: Address,
  options: Omit<ServerOptions, 'host' | 'port'>,
): Promise<HttpServer> {
  try {
    return await listen({ ...options, host, port });
  } catch (error) {
    throw new Failure(`${flag} ${text}: cannot listen there: ${messageOf(error)}`, 1, { cause: error });
  }
}

/** Reads `HOST:PORT` of a flag; `example` is a port for the message. Throws Failure. */
export function parseAddress(flag: string, text: string, example: number): Address {
  const [, host = '', port = ''] = /^(.*):(\d{1,5})$/.exec(text) ?? [];
  if (port === '' || Number(port) > 65535) {
    throw new Failure(
      `${flag} ${text} is not an address: write HOST:PORT such as 127.0.0.1:${example}, with port 0 for any free one`,
    );
  }
  return { flag, text, host: host.replace(/^\[|\]$/g, ''), port: Number(port) };
}

/** What an error says. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Whether only this machine reaches what listens there. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));
}
