import type { AppGraph } from '../../api/v1alpha1/app-graph.ts';
import type { AppGraphStore } from '../../ports.ts';
import type { ApiClient } from './client.ts';
import { listObjects } from './list.ts';
import { replaceStatus } from './replace-status.ts';
import { RESOURCES } from './resource.ts';

/** AppGraphs on an API server. */
export function createAppGraphStore(client: ApiClient): AppGraphStore {
  return {
    // The API server has checked the schema.
    list: async (signal) => (await listObjects(client, RESOURCES.AppGraph, {}, signal)) as readonly AppGraph[],
    writeStatus({ metadata: { namespace = '', name, uid } }, status, signal) {
      return replaceStatus(client, { ...RESOURCES.AppGraph, namespace, name }, uid, status, signal);
    },
  };
}
