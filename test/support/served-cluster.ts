import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { pathOf, RESOURCES } from '../../src/adapters/kubernetes/resource.ts';
import { type Handler, json, startFakeApiServer, status } from '../contract/fake-api-server.ts';

/** What is wrong with a cluster, as seen from the command line. */
export const CONDITIONS = ['well', 'no metrics', 'no nodes', 'stale', 'empty', 'unreachable', 'forbidden'] as const;
/** One of them. */
export type Condition = (typeof CONDITIONS)[number];

/** An API server in such a condition. */
export interface ServedCluster {
  /** File of a kubeconfig for it. */
  readonly kubeconfig: string;
  stop(): Promise<void>;
}

interface Item {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

const SNAPSHOT = join(import.meta.dirname, '..', '..', 'examples', 'snapshot', 'cluster.yaml');
const NAMESPACE = /^(.*)\/namespaces\/([^/]+)\/([^/]+)$/;

/**
 * Serves the example snapshot and these objects in a condition, with samples of now unless they are stale. Watches stay open and
 * silent. Patches are answered with the object as it is.
 */
export async function serveCluster(
  condition: Condition,
  extra: readonly object[],
  folder: string,
): Promise<ServedCluster> {
  const kubeconfig = join(folder, `${condition.replace(' ', '-')}.yaml`);
  const write = (server: string): void => writeFileSync(kubeconfig, kubeconfigFor(server));
  if (condition === 'unreachable') {
    write('http://127.0.0.1:1');
    return { kubeconfig, stop: async () => undefined };
  }
  const server = await startFakeApiServer(
    condition === 'forbidden' ? forbid : answer(itemsIn(condition, extra), condition),
  );
  write(server.url);
  return { kubeconfig, stop: () => server.stop() };
}

function kubeconfigFor(server: string): string {
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server } }],
    users: [{ name: 'jane', user: { token: 't' } }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'jane' } }],
    'current-context': 'c',
  });
}

/** By path of their list. */
function itemsIn(condition: Condition, extra: readonly object[]): ReadonlyMap<string, readonly Item[]> {
  const age = condition === 'stale' ? 3_600_000 : 10_000;
  const lines = readFileSync(SNAPSHOT, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('- {'))
    .map((line) =>
      line.slice(2).replace(/"timestamp":"[^"]*"/, `"timestamp":"${new Date(Date.now() - age).toISOString()}"`),
    );
  const given = [...lines.map((line) => JSON.parse(line) as Item), ...(extra as readonly Item[])];
  const all = given.map((item) => ({ ...item, metadata: { ...item.metadata, resourceVersion: '7' } }));
  const gone = condition === 'no nodes' ? ['Node', 'NodeMetrics'] : [];
  const kept = condition === 'empty' ? [] : all.filter(({ kind }) => !gone.includes(kind));
  return Map.groupBy(kept, ({ kind }) => pathOf(RESOURCES[kind as keyof typeof RESOURCES]));
}

function answer(items: ReadonlyMap<string, readonly Item[]>, condition: Condition): Handler {
  const known = new Set(Object.values(RESOURCES).map((resource) => pathOf(resource)));
  return (seen, response, socket) => {
    if (condition === 'no metrics' && seen.path.startsWith('/apis/metrics.k8s.io/')) {
      response.writeHead(404).end('404 page not found');
      return;
    }
    if (seen.query.get('watch') !== null) {
      response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
      return;
    }
    const [, group, namespace, resource] = NAMESPACE.exec(seen.path) ?? [];
    const path = namespace === undefined ? seen.path : `${group}/${resource}`;
    if (known.has(path)) {
      const found = (items.get(path) ?? []).filter(
        ({ metadata }) => namespace === undefined || metadata.namespace === namespace,
      );
      json({ kind: 'List', apiVersion: 'v1', metadata: { resourceVersion: '7' }, items: found })(
        seen,
        response,
        socket,
      );
      return;
    }
    const [list = '', name = ''] = [seen.path.slice(0, seen.path.lastIndexOf('/')), seen.path.split('/').at(-1)];
    const object = items.get(list)?.find(({ metadata }) => metadata.name === name);
    const isApplied = seen.headers['content-type']?.startsWith('application/apply-patch') === true;
    const found = object ?? (isApplied ? seen.body : undefined);
    const absent = status(404, { reason: 'NotFound', message: `"${name}" not found` });
    (found === undefined ? absent : json(found))(seen, response, socket);
  };
}

/** As RBAC refuses whoever has no right at all. */
const forbid: Handler = (seen, response, socket) => {
  const [, group = '', rest = ''] = /^\/(?:api\/v1|apis\/([^/]+)\/[^/]+)\/(.*)$/.exec(seen.path) ?? [];
  const [resource = '', name] = rest.replace(/^namespaces\/[^/]+\//, '').split('/');
  const verb = { PATCH: 'patch', POST: 'create', PUT: 'update' }[seen.method] ?? (name === undefined ? 'list' : 'get');
  const message = `${resource} is forbidden: User "jane" cannot ${verb} resource "${resource}" in API group "${group}" at the cluster scope`;
  status(403, { reason: 'Forbidden', message })(seen, response, socket);
};
