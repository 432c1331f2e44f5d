import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createGates } from '../../src/adapters/kubernetes/gates.ts';
import { SCHEDULING_GATE } from '../../src/model/gate.ts';
import type { PodRef } from '../../src/model/pod.ts';
import type { KubeObject, PodObject } from './kube-object.ts';
import { NAMESPACES } from './vocabulary.ts';
import type { World } from './world.ts';

const POLICY = join(import.meta.dirname, '..', '..', 'deploy', 'overlays', 'gate', 'gate-policy.yaml');
const PATIENCE = 15_000;

/**
 * Installs what steering mode Gate needs: the admission policy that gates the pods that controllers make, in all namespaces.
 * Resolves when the API server heeds it everywhere, which takes up to a second.
 */
export async function installSteering(world: World): Promise<void> {
  await world.plane.apply(readFileSync(POLICY, 'utf8'));
  for (const name of NAMESPACES) {
    const namespace: KubeObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
    await world.api.patch(namespace, { metadata: { labels: { 'evenkeel.dev/gate': 'enabled' } } });
  }
  const deadline = performance.now() + PATIENCE;
  for (const name of NAMESPACES) {
    while (!(await isGated(world, name))) {
      if (performance.now() > deadline) {
        throw new Error(`the admission policy does not gate the pods of namespace ${name}`);
      }
      await delay(50);
    }
  }
}

/** Whether the next pod of a controller there would wait at the gate. */
async function isGated({ api }: World, namespace: string): Promise<boolean> {
  const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'some', uid: 'some', controller: true };
  const next: PodObject = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace, name: 'next', ownerReferences: [owner] },
    spec: { containers: [{ name: 'main', image: 'registry.invalid/main:1' }] },
  };
  const { spec } = await api.tryOut(next);
  return JSON.stringify(spec?.['schedulingGates'] ?? []).includes(SCHEDULING_GATE);
}

/** Opens the gate of a replacement and ties it to a node, by the operator's own means. Throws when that cannot be done. */
export async function sendTo({ api }: World, pod: PodRef, node: string): Promise<void> {
  const problems: string[] = [];
  const gates = createGates(api.client, (problem) => problems.push(problem));
  const answer = await gates.open(pod, { kind: 'Pinned', node }, new AbortController().signal);
  if (answer !== 'Done' || problems.length > 0) {
    throw new Error(`sending ${pod.namespace}/${pod.name} to ${node}: ${answer} ${problems.join()}`);
  }
}
