import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Move } from '../../src/plan/plan.ts';
import type { Json, KubeObject, PodObject } from './kube-object.ts';
import type { World } from './world.ts';

const ROOT = join(import.meta.dirname, '..', '..');

/** Installs what the operator steers with: the PlacementHint resource and the admission policy that reads it. */
export async function installSteering({ plane }: World): Promise<void> {
  const crd = 'placementhints.evenkeel.dev';
  await plane.apply(readFileSync(join(ROOT, 'crds', `${crd}.yaml`), 'utf8'));
  await plane.kubectl(['wait', '--for=condition=Established', '--timeout=30s', 'crd', crd]);
  await plane.apply(readFileSync(join(ROOT, 'deploy', 'overlays', 'default', 'placement-policy.yaml'), 'utf8'));
}

/**
 * Hints at the node of a move as the operator does, and waits until the API server heeds it, which takes up to a second.
 * Resolves to the hint.
 */
export async function placeHint(world: World, { pod, owner, to }: Move): Promise<KubeObject> {
  const hint: KubeObject = {
    apiVersion: 'evenkeel.dev/v1alpha1',
    kind: 'PlacementHint',
    metadata: { namespace: pod.namespace, name: `move-${pod.uid}` },
    spec: { ownerUID: owner.uid, nodeName: to, plan: 'parity', podUID: pod.uid },
  };
  await world.api.create(hint);
  const deadline = performance.now() + 15_000;
  while (!(await isHeeded(world, hint, owner.name))) {
    if (performance.now() > deadline) {
      throw new Error(`the admission policy does not heed the hint for ${pod.namespace}/${pod.name}`);
    }
    await delay(10);
  }
  return hint;
}

/** Whether the next pod of the owner would prefer the node. */
async function isHeeded({ api }: World, { metadata, spec }: KubeObject, owner: string): Promise<boolean> {
  const ownerReference = {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    name: owner,
    uid: spec?.['ownerUID'],
    controller: true,
  };
  const next: PodObject = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: metadata.namespace ?? '', name: `${metadata.name}-next`, ownerReferences: [ownerReference] },
    spec: { containers: [{ name: 'main', image: 'registry.invalid/main:1' }] },
  };
  const admitted = await api.tryOut(next);
  const affinity = admitted.spec?.['affinity'] as { readonly nodeAffinity?: Json } | undefined;
  const preferred = affinity?.nodeAffinity?.['preferredDuringSchedulingIgnoredDuringExecution'];
  return JSON.stringify(preferred ?? []).includes(JSON.stringify(spec?.['nodeName']));
}
