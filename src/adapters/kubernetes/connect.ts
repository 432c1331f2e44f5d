import { existsSync } from 'node:fs';
import type { RequestOptions } from 'node:https';
import { dirname } from 'node:path';
import type { KubeConfig } from '@kubernetes/client-node';
import { ApiError } from './api-error.ts';
import { ConnectError } from './connect-error.ts';
import type { Connection, Credentials } from './connection.ts';
import { type Environment, kubeconfigPaths, readKubeconfig } from './kubeconfig-file.ts';

/** Which cluster to talk to; what is absent is found as kubectl finds it. */
export interface ConnectOptions {
  /** `--kubeconfig`. */
  readonly kubeconfig?: string | undefined;
  /** `--context`. */
  readonly context?: string | undefined;
  readonly env: Environment;
}

const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount/token';

/**
 * A connection by `--kubeconfig`, KUBECONFIG, `~/.kube/config`, or the service account of the pod, in this order. Nothing
 * is sent yet. Rejects with ConnectError.
 */
export async function connect(options: ConnectOptions): Promise<Connection> {
  const paths = kubeconfigPaths(options.kubeconfig, options.env);
  if (paths.length > 0) {
    const load = () => loadFiles(paths, options.context);
    return createConnection(await load(), load);
  }
  if (existsSync(SERVICE_ACCOUNT) && options.env['KUBERNETES_SERVICE_HOST'] !== undefined) {
    return createConnection(await loadInCluster(), loadInCluster);
  }
  throw new ConnectError('no cluster to talk to: write --kubeconfig, set KUBECONFIG, or run inside of a cluster');
}

/** The client library takes half a second to load: only when there is something to connect to. */
async function newConfig(): Promise<KubeConfig> {
  const { KubeConfig } = await import('@kubernetes/client-node');
  return new KubeConfig();
}

async function loadInCluster(): Promise<KubeConfig> {
  const config = await newConfig();
  config.loadFromCluster();
  allowPlainHttp(config);
  return config;
}

/** All files merged as kubectl merges them: the first to name something wins. */
async function loadFiles(paths: readonly string[], context: string | undefined): Promise<KubeConfig> {
  const parts = await Promise.all(paths.map(loadFile));
  const merged = await newConfig();
  merged.loadFromOptions({
    clusters: firstOfName(parts.flatMap(({ clusters }) => clusters)),
    contexts: firstOfName(parts.flatMap(({ contexts }) => contexts)),
    users: firstOfName(parts.flatMap(({ users }) => users)),
    currentContext: context ?? parts.find(({ currentContext }) => currentContext)?.currentContext ?? '',
  });
  complete(merged, paths.join(', '));
  allowPlainHttp(merged);
  return merged;
}

async function loadFile(path: string): Promise<KubeConfig> {
  const config = await newConfig();
  const text = readKubeconfig(path);
  try {
    config.loadFromString(text);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ConnectError(`kubeconfig ${path}: ${why}`, { cause: error });
  }
  config.makePathsAbsolute(dirname(path));
  return config;
}

function firstOfName<Entry extends { readonly name: string }>(entries: readonly Entry[]): Entry[] {
  return entries.filter((entry, index) => entries.findIndex(({ name }) => name === entry.name) === index);
}

const ANONYMOUS = { name: 'evenkeel-anonymous' };

/** Checks that the context leads to a cluster and a user; a context without a user is anonymous. */
function complete(config: KubeConfig, files: string): void {
  const names = config.contexts.map(({ name }) => name).join(', ');
  const { currentContext } = config;
  if (!currentContext) {
    throw new ConnectError(`kubeconfig ${files}: no current-context: write --context with one of: ${names || 'none'}`);
  }
  const context = config.contexts.find(({ name }) => name === currentContext);
  if (context === undefined) {
    throw new ConnectError(
      `kubeconfig ${files}: no context ${JSON.stringify(currentContext)}: there is ${names || 'none'}`,
    );
  }
  if (config.getCluster(context.cluster) === null) {
    throw new ConnectError(
      `kubeconfig ${files}: context ${currentContext} names the unknown cluster ${JSON.stringify(context.cluster)}`,
    );
  }
  if (!context.user) {
    config.loadFromOptions({
      ...config,
      users: [...config.users, ANONYMOUS],
      contexts: config.contexts.map((each) => (each === context ? { ...each, user: ANONYMOUS.name } : each)),
    });
  } else if (config.getUser(context.user) === null) {
    throw new ConnectError(
      `kubeconfig ${files}: context ${currentContext} names the unknown user ${JSON.stringify(context.user)}`,
    );
  }
}

/** For plain HTTP, as from kubectl proxy, client-node insists on an admission that there is no TLS to verify. */
function allowPlainHttp(config: KubeConfig): void {
  const clusters = config.clusters.map((cluster) =>
    cluster.server.startsWith('http:') ? { ...cluster, skipTLSVerify: true } : cluster,
  );
  config.loadFromOptions({ ...config, clusters });
}

function createConnection(first: KubeConfig, load: () => Promise<KubeConfig>): Connection {
  let current: Promise<KubeConfig> = Promise.resolve(first);
  const cluster = first.getCurrentCluster();
  const server = checkServer(cluster?.server ?? '');
  return {
    server,
    context: first.currentContext,
    namespace: first.getContextObject(first.currentContext)?.namespace ?? 'default',
    proxy: cluster?.proxyUrl === '' ? undefined : cluster?.proxyUrl,
    credentials: async () => readCredentials(await current, server),
    refresh: () => {
      current = load();
      // Whoever asks for credentials next hears of it.
      current.catch(() => undefined);
    },
  };
}

function checkServer(server: string): string {
  if (!URL.canParse(server) || !/^https?:$/.test(new URL(server).protocol)) {
    throw new ConnectError(
      `the server ${JSON.stringify(server)} of the kubeconfig is not a URL: write https://HOST:PORT`,
    );
  }
  return server.replace(/\/+$/, '');
}

/** Files and tokens are read anew each time; a credential plugin runs again when what it gave has expired. */
async function readCredentials(config: KubeConfig, server: string): Promise<Credentials> {
  const options: RequestOptions & { headers: Record<string, unknown> } = { headers: {} };
  try {
    await config.applyToHTTPSOptions(options);
  } catch (error) {
    const why = error instanceof Error ? error.message.trim() : String(error);
    throw new ApiError('Credentials', `no credentials for ${server}: ${why}`, { cause: error, unsent: true });
  }
  const basic = options.auth ? { Authorization: `Basic ${Buffer.from(options.auth).toString('base64')}` } : {};
  const headers = Object.entries({ ...basic, ...options.headers });
  return {
    headers: Object.fromEntries(headers.map(([name, value]) => [name, String(value).trim()])),
    tls: {
      ca: material(options.ca),
      cert: material(options.cert),
      key: material(options.key),
      servername: options.servername,
      rejectUnauthorized: options.rejectUnauthorized ?? true,
    },
  };
}

function material(value: RequestOptions['ca'] | RequestOptions['key']): string | Buffer | undefined {
  return typeof value === 'string' || Buffer.isBuffer(value) ? value : undefined;
}
