import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What the operator tells over HTTP. Everything is read-only. */
export interface Endpoints {
  /** Prometheus text and its content type. */
  metrics(): Promise<{ readonly type: string; readonly body: string }>;
  /** `undefined` when ready, else why not. */
  unreadiness(): string | undefined;
}

/** A listening server. */
export interface HttpServer {
  readonly port: number;
  /** Ends idle connections at once and resolves when the others have ended. */
  close(): Promise<void>;
}

/** Serves /metrics, /healthz and /readyz. Rejects when the address cannot be had. */
export async function serve(host: string, port: number, endpoints: Endpoints): Promise<HttpServer> {
  const server = createServer({ requestTimeout: 10_000 }, (request, response) => {
    answer(request, response, endpoints).catch((error: unknown) => fail(response, error));
  });
  await listen(server, host, port);
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
      }),
  };
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

async function answer(request: IncomingMessage, response: ServerResponse, endpoints: Endpoints): Promise<void> {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    return send(response, 405, 'text/plain', 'only GET and HEAD\n');
  }
  switch ((request.url ?? '').split('?')[0]) {
    case '/healthz':
      return send(response, 200, 'text/plain', 'ok\n');
    case '/readyz': {
      const reason = endpoints.unreadiness();
      return send(response, reason === undefined ? 200 : 503, 'text/plain', `${reason ?? 'ok'}\n`);
    }
    case '/metrics': {
      const { type, body } = await endpoints.metrics();
      return send(response, 200, type, body);
    }
    default:
      return send(response, 404, 'text/plain', 'there are /metrics, /healthz and /readyz\n');
  }
}

function send(response: ServerResponse, code: number, type: string, body: string): void {
  response.writeHead(code, { 'content-type': type, 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
  response.end(body);
}

function fail(response: ServerResponse, error: unknown): void {
  if (!response.headersSent) {
    send(response, 500, 'text/plain', `${error instanceof Error ? error.message : String(error)}\n`);
  }
}
