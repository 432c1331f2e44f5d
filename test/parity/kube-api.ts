import { isApiError } from '../../src/adapters/kubernetes/api-error.ts';
import { ApiClient } from '../../src/adapters/kubernetes/client.ts';
import { connect } from '../../src/adapters/kubernetes/connect.ts';
import type { ResourceRef } from '../../src/adapters/kubernetes/resource.ts';
import { systemClock } from '../../src/adapters/system-clock.ts';
import { runConcurrently } from '../../src/model/concurrent.ts';
import { type KubeObject, keyOf } from './kube-object.ts';

/** Changes objects of a real API server as an administrator. Every call fails loudly. */
export interface KubeApi {
  readonly client: ApiClient;
  /** Creates an object; resolves to what the server made of it. */
  create(object: KubeObject): Promise<KubeObject>;
  /** What the server would make of an object, as `create` does it; nothing is kept. */
  tryOut(object: KubeObject): Promise<KubeObject>;
  /** Creates objects, four at a time, in no certain order. */
  createAll(objects: readonly KubeObject[]): Promise<void>;
  /** Applies a JSON merge patch, or one to the status. */
  patch(object: KubeObject, patch: unknown, subresource?: 'status'): Promise<void>;
  /** Deletes an object at once, without a grace period; one that is gone is fine. */
  remove(object: KubeObject): Promise<void>;
  /** Deletes all objects of these kinds, in the namespaces given for those that have one. */
  removeAll(kinds: readonly string[], namespaces: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

const RESOURCES: Readonly<Record<string, ResourceRef & { readonly namespaced?: true }>> = {
  Namespace: { group: '', version: 'v1', resource: 'namespaces' },
  Node: { group: '', version: 'v1', resource: 'nodes' },
  Pod: { group: '', version: 'v1', resource: 'pods', namespaced: true },
  PersistentVolume: { group: '', version: 'v1', resource: 'persistentvolumes' },
  PersistentVolumeClaim: { group: '', version: 'v1', resource: 'persistentvolumeclaims', namespaced: true },
  ReplicaSet: { group: 'apps', version: 'v1', resource: 'replicasets', namespaced: true },
  StorageClass: { group: 'storage.k8s.io', version: 'v1', resource: 'storageclasses' },
  CSIDriver: { group: 'storage.k8s.io', version: 'v1', resource: 'csidrivers' },
  CSINode: { group: 'storage.k8s.io', version: 'v1', resource: 'csinodes' },
  PriorityClass: { group: 'scheduling.k8s.io', version: 'v1', resource: 'priorityclasses' },
  PlacementHint: { group: 'evenkeel.dev', version: 'v1alpha1', resource: 'placementhints', namespaced: true },
  RuntimeClass: { group: 'node.k8s.io', version: 'v1', resource: 'runtimeclasses' },
};

/** Where the objects of a kind live. Throws a RangeError for a kind that campaigns do not use. */
export function resourceOf(kind: string, namespace?: string): ResourceRef {
  const found = RESOURCES[kind];
  if (found === undefined) {
    throw new RangeError(`campaigns do not use ${kind}`);
  }
  const { group, version, resource } = found;
  return { group, version, resource, ...(namespace === undefined ? {} : { namespace }) };
}

const CONCURRENT = 4;
const NEVER = new AbortController().signal;

/** Connects as the user of a kubeconfig. */
export async function connectApi(kubeconfig: string): Promise<KubeApi> {
  const connection = await connect({ kubeconfig, env: {} });
  const client = new ApiClient(connection, {
    clock: systemClock,
    random: Math.random,
    userAgent: 'evenkeel/parity',
    attempts: 5,
  });
  return apiOf(client);
}

function apiOf(client: ApiClient): KubeApi {
  async function send(object: KubeObject, query: Readonly<Record<string, string>>): Promise<KubeObject> {
    const target = resourceOf(object.kind, object.metadata.namespace);
    try {
      const { body } = await client.send({ verb: 'create', target, query, body: object }, NEVER);
      return body as KubeObject;
    } catch (error) {
      throw new Error(`creating ${object.kind} ${keyOf(object)}: ${JSON.stringify(object)}`, { cause: error });
    }
  }

  const create = (object: KubeObject): Promise<KubeObject> => send(object, {});

  async function remove(object: KubeObject): Promise<void> {
    const { kind, metadata } = object;
    const target = { ...resourceOf(kind, metadata.namespace), name: metadata.name };
    try {
      await client.send({ verb: 'delete', target, query: { gracePeriodSeconds: '0' } }, NEVER);
    } catch (error) {
      if (!isApiError(error, 'NotFound')) {
        throw error;
      }
    }
  }

  async function removeAll(kinds: readonly string[], namespaces: readonly string[]): Promise<void> {
    for (const kind of kinds) {
      const targets = RESOURCES[kind]?.namespaced
        ? namespaces.map((namespace) => resourceOf(kind, namespace))
        : [resourceOf(kind)];
      for (const target of targets) {
        await client.send({ verb: 'delete', target, query: { gracePeriodSeconds: '0' } }, NEVER);
      }
    }
  }

  return {
    client,
    create,
    tryOut: (object) => send(object, { dryRun: 'All' }),
    createAll: async (objects) => {
      await runConcurrently(objects, CONCURRENT, NEVER, create);
    },
    patch: async ({ kind, metadata }, patch, subresource) => {
      const target: ResourceRef = {
        ...resourceOf(kind, metadata.namespace),
        name: metadata.name,
        ...(subresource === undefined ? {} : { subresource }),
      };
      const contentType = 'application/merge-patch+json';
      await client.send({ verb: 'patch', target, body: patch, contentType }, NEVER);
    },
    remove,
    removeAll,
    close: () => client.close(),
  };
}
