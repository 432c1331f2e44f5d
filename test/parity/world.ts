import { createClusterReader } from '../../src/adapters/kubernetes/cluster-reader.ts';
import type { ClusterSnapshot } from '../../src/model/snapshot.ts';
import type { KubernetesVersion } from '../control-plane/kubernetes-versions.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/start.ts';
import { connectApi, type KubeApi } from './kube-api.ts';
import { type Mirror, mirror, type Waiter } from './mirror.ts';
import { fixtures } from './vocabulary.ts';

/** A control plane with what all clusters of a campaign share, and the means to change and watch it. */
export interface World {
  readonly plane: ControlPlane;
  readonly api: KubeApi;
  readonly pods: Mirror;
  readonly nodes: Mirror;
  readonly claims: Mirror;
  readonly volumes: Mirror;
  /** What the operator would plan from now. */
  snapshot(): Promise<ClusterSnapshot>;
  close(): Promise<void>;
}

/** How to open a world. */
export interface WorldOptions {
  /** The version of Kubernetes; default that of the control plane. */
  readonly kubernetes?: KubernetesVersion;
  readonly log: (line: string) => void;
}

/** Starts a control plane for a campaign; nothing is left of it after `close`. */
export async function openWorld(options: WorldOptions): Promise<World> {
  const plane = await startControlPlane({ metricsServer: false, ...options });
  try {
    return await worldOf(plane);
  } catch (error) {
    await plane.stop();
    throw error;
  }
}

async function worldOf(plane: ControlPlane): Promise<World> {
  const api = await connectApi(plane.kubeconfig);
  const ending = new AbortController();
  const reader = createClusterReader(api.client);
  await api.createAll(fixtures());
  const waiters = new Set<Waiter>();
  const kinds = ['Pod', 'Node', 'PersistentVolumeClaim', 'PersistentVolume'] as const;
  const [pods, nodes, claims, volumes] = await Promise.all([
    mirror(api.client, kinds[0], waiters, ending.signal),
    mirror(api.client, kinds[1], waiters, ending.signal),
    mirror(api.client, kinds[2], waiters, ending.signal),
    mirror(api.client, kinds[3], waiters, ending.signal),
  ]);
  return {
    plane,
    api,
    pods,
    nodes,
    claims,
    volumes,
    snapshot: () => reader.snapshot(ending.signal),
    close: async () => {
      ending.abort();
      await api.close();
      await plane.stop();
    },
  };
}
