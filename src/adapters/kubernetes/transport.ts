import { Agent, type buildConnector, type Dispatcher, EnvHttpProxyAgent, ProxyAgent, Socks5ProxyAgent } from 'undici';
import type { Fence } from '../../ports.ts';
import type { TlsMaterial } from './connection.ts';

/** Most connections for calls; watches have their own pool beside it. */
const MAX_CONNECTIONS = 4;

/** Connections to one server, shared by all requests. */
export interface Transport {
  /** The pool for calls, made anew only when certificates have changed. */
  forCalls(tls: TlsMaterial): Dispatcher;
  /** The pool for watches, which hold their connection for minutes. */
  forWatches(tls: TlsMaterial): Dispatcher;
  /** Ends all connections, those in use too. */
  close(): Promise<void>;
}

/** Keep-alive pools for a server, through `proxy` or what HTTPS_PROXY and NO_PROXY say. */
export function createTransport(proxy: string | undefined): Transport {
  const calls = createPool(proxy, MAX_CONNECTIONS);
  const watches = createPool(proxy, null);
  return {
    forCalls: calls.dispatcher,
    forWatches: watches.dispatcher,
    close: async () => {
      await Promise.all([calls.close(), watches.close()]);
    },
  };
}

interface Pool {
  dispatcher(tls: TlsMaterial): Dispatcher;
  close(): Promise<void>;
}

function createPool(proxy: string | undefined, connections: number | null): Pool {
  let current: { readonly tls: TlsMaterial; readonly dispatcher: Dispatcher } | undefined;

  function dispatcher(tls: TlsMaterial): Dispatcher {
    if (current === undefined || !sameTls(current.tls, tls)) {
      // What is under way ends on the old connections; close() waits for it.
      current?.dispatcher.close().catch(() => undefined);
      current = { tls, dispatcher: createDispatcher(tls, proxy, connections) };
    }
    return current.dispatcher;
  }

  return {
    dispatcher,
    close: async () => {
      await current?.dispatcher.destroy();
      current = undefined;
    },
  };
}

function createDispatcher(tls: TlsMaterial, proxy: string | undefined, connections: number | null): Dispatcher {
  const requestTls = { ...definedParts(tls), keepAlive: true, keepAliveInitialDelay: 30_000, timeout: 0 };
  const options = {
    connect: requestTls,
    connections,
    allowH2: false,
    keepAliveTimeout: 20_000,
    headersTimeout: 0,
    bodyTimeout: 0,
  };
  if (proxy?.startsWith('socks')) {
    const { connect: _, ...pool } = options;
    return new Socks5ProxyAgent(proxy.replace(/^socks5h?:/, 'socks5:'), { ...pool, requestTls });
  }
  if (proxy !== undefined) {
    return new ProxyAgent({ ...options, uri: proxy, requestTls });
  }
  const env = process.env;
  const proxied = env['HTTPS_PROXY'] ?? env['https_proxy'] ?? env['HTTP_PROXY'] ?? env['http_proxy'];
  return proxied === undefined || proxied === ''
    ? new Agent(options)
    : new EnvHttpProxyAgent({ ...options, requestTls });
}

/** `tls` without what is undefined, which undici does not take for absent. */
function definedParts({ ca, cert, key, servername, rejectUnauthorized }: TlsMaterial): buildConnector.BuildOptions {
  return {
    rejectUnauthorized,
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(servername === undefined ? {} : { servername }),
  };
}

function sameTls(left: TlsMaterial, right: TlsMaterial): boolean {
  return (
    left.servername === right.servername &&
    left.rejectUnauthorized === right.rejectUnauthorized &&
    (['ca', 'cert', 'key'] as const).every((part) => sameContent(left[part], right[part]))
  );
}

function sameContent(left: string | Buffer | undefined, right: string | Buffer | undefined): boolean {
  if (left === right) {
    return true;
  }
  return left !== undefined && right !== undefined && Buffer.from(left).equals(Buffer.from(right));
}

/**
 * `pool` with `fence` asked at the moment when a request is written to its connection. Asking any earlier is not enough:
 * a request may wait for a connection meanwhile, and a process that was paused (SIGSTOP, a frozen virtual machine) gets
 * the connection before its timers run. The request then rejects with what the fence throws, unsent.
 */
export function behindFence(pool: Dispatcher, fence: Fence): Dispatcher {
  return pool.compose((dispatch) => (options, handler) => dispatch(options, fenced(handler, fence)));
}

function fenced(handler: Dispatcher.DispatchHandler, fence: Fence): Dispatcher.DispatchHandler {
  return {
    onRequestStart(controller, context) {
      fence.assertOpen();
      handler.onRequestStart?.(controller, context);
    },
    onRequestUpgrade: (...args) => handler.onRequestUpgrade?.(...args),
    onResponseStart: (...args) => handler.onResponseStart?.(...args),
    onResponseData: (...args) => handler.onResponseData?.(...args),
    onResponseEnd: (...args) => handler.onResponseEnd?.(...args),
    onResponseError: (...args) => handler.onResponseError?.(...args),
  };
}
