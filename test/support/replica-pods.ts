import { setTimeout as sleep } from 'node:timers/promises';
import type { ControlPlane } from '../control-plane/start.ts';

/** Pods in which operators are said to run, and whoever reports on them: operators are processes here, and their nodes have no kubelets. */
export interface ReplicaPods {
  /** Reports that the container has begun; the first time, its pod is made before. Resolves once that is stored. */
  begun(pod: string): Promise<void>;
  /** Reports that the container has ended at this moment, once a kubelet would have noticed. Resolves once that is stored. */
  ended(pod: string): Promise<void>;
  /** Removes the pod without a word about its container, as when its node has failed. Resolves once that is done. */
  lost(pod: string): Promise<void>;
}

const NAMESPACE = 'evenkeel-system';

/** Milliseconds between two looks of a kubelet at its containers (PLEG). */
const PLEG_PERIOD = 1000;

/** To store it takes kubectl about 0.2 s more. Real kubelets have reported an end after 0.2 to 1.1 s (`npm run campaign:kubelets`). */
const asKubelets = (): number => PLEG_PERIOD * Math.random();

/** Pods of the Deployment in deploy/, on some node of the cluster; `delay` says after how many milliseconds the kubelet reports an end. */
export async function createReplicaPods(cp: ControlPlane, delay: () => number = asKubelets): Promise<ReplicaPods> {
  const [node = ''] = (await cp.kubectl(['get', 'nodes', '-o', 'jsonpath={.items[*].metadata.name}'])).split(' ');
  const restarts = new Map<string, number>();
  const now = (): string => new Date().toISOString().replace(/\.\d+Z$/, 'Z');
  const patch = async (pod: string, state: object): Promise<void> => {
    const status = { name: 'operator', image: 'evenkeel', imageID: '', ready: false, ...state };
    const body = JSON.stringify({
      status: { containerStatuses: [{ restartCount: restarts.get(pod) ?? 0, ...status }] },
    });
    await cp.kubectl(['patch', 'pod', pod, '-n', NAMESPACE, '--subresource=status', '--type=merge', '-p', body]);
  };
  return {
    async begun(pod) {
      const startedAt = now();
      const count = restarts.get(pod);
      restarts.set(pod, count === undefined ? 0 : count + 1);
      if (count === undefined) {
        const template = await cp.kubectl([
          'get',
          'deployment/evenkeel',
          '-n',
          NAMESPACE,
          '-o',
          'jsonpath={.spec.template.spec}',
        ]);
        const spec = { ...(JSON.parse(template) as object), nodeName: node };
        await cp.apply([{ apiVersion: 'v1', kind: 'Pod', metadata: { name: pod, namespace: NAMESPACE }, spec }]);
        await cp.kubectl(['wait', '-n', NAMESPACE, '--for=condition=Ready', '--timeout=30s', `pod/${pod}`]);
      }
      await patch(pod, { ready: true, state: { running: { startedAt } } });
    },
    async ended(pod) {
      const finishedAt = now();
      await sleep(delay());
      await patch(pod, { state: { terminated: { exitCode: 137, reason: 'Error', finishedAt } } });
    },
    async lost(pod) {
      await cp.kubectl(['delete', 'pod', pod, '-n', NAMESPACE, '--force', '--grace-period=0', '--wait=false']);
    },
  };
}
