import { setTimeout as delay } from 'node:timers/promises';
import type { KubernetesVersion } from '../control-plane/kubernetes-versions.ts';
import { type KubeObject, keyOf, type ObjectMeta, type PodObject } from './kube-object.ts';
import type { Probe } from './random-probe.ts';
import { isProvisional } from './scheduler-message.ts';
import { conditionOf, volumesAvailable } from './stage-cluster.ts';
import type { World } from './world.ts';

/** What kube-scheduler decided about a pod. */
export type SchedulerVerdict =
  | { readonly kind: 'Accepted'; readonly node: string }
  | { readonly kind: 'Refused'; readonly message: string };

/** A verdict, and the pod as the API server admitted it. */
export interface Answer {
  readonly verdict: SchedulerVerdict;
  readonly admitted: PodObject;
}

/** Creates the volumes and claims of a probe and waits until they can be used. */
export async function stageProbe(world: World, { storage }: Probe): Promise<void> {
  await world.api.createAll(storage.volumes);
  await volumesAvailable(world, storage.volumes);
  await world.api.createAll(storage.claims);
}

/**
 * Asks the scheduler: creates the pod, waits for the verdict, removes the pod. The scheduler hears of claims and pods by
 * different watches, so that it may look at a new claim's pod too early: such a refusal is asked for again.
 */
export async function askScheduler(world: World, probe: Probe): Promise<Answer> {
  const answer = await askOnce(world, probe.pod);
  const early = answer.verdict.kind === 'Refused' && probe.storage.claims.length > 0;
  return early ? await askOnce(world, probe.pod) : answer;
}

async function askOnce(world: World, pod: PodObject): Promise<Answer> {
  const { api, pods } = world;
  const admitted = (await api.create(pod)) as PodObject;
  const key = keyOf(pod);
  const current = () => pods.get(key) as PodObject | undefined;
  try {
    const verdict = await pods.until(
      `the scheduler's verdict on ${key}`,
      () => verdictOn(world, current()),
      () => current()?.status,
    );
    return { verdict, admitted };
  } finally {
    const bound = current()?.spec.nodeName !== undefined;
    await api.remove(pod);
    await pods.until(`${key} is gone`, () => (current() === undefined ? true : undefined));
    await removeEphemeral(world, admitted);
    if (!bound) {
      await forgotten(world, admitted);
    }
  }
}

/** How long the scheduler keeps room for a pod that was removed while its volumes were being bound: it looks each second. */
const VOLUME_BINDER_MILLISECONDS = 1_300;
const KEEPING_ROOM: readonly KubernetesVersion[] = ['1.33', '1.34', '1.35'];

/** Whether the scheduler keeps room for such a pod at all: from 1.36 it forgets it at once. */
export function keepsRoom({ plane }: World): boolean {
  return KEEPING_ROOM.includes(plane.kubernetes);
}

/** The scheduler keeps no room for a pod any more. */
async function forgotten(world: World, { spec }: PodObject): Promise<void> {
  if (keepsRoom(world) && spec['volumes'] !== undefined) {
    await delay(VOLUME_BINDER_MILLISECONDS);
  }
}

/**
 * A pod whose claims are still to be bound or provisioned has been accepted once the scheduler nominates its node (KEP-5278,
 * from 1.35) or names it in a claim; it preempts nobody, so that it is nominated for no other reason.
 */
function verdictOn(world: World, pod: PodObject | undefined): SchedulerVerdict | undefined {
  if (pod === undefined) {
    return undefined;
  }
  const node = pod.spec.nodeName ?? pod.status?.nominatedNodeName ?? selectedNode(world, pod);
  if (node !== undefined) {
    return { kind: 'Accepted', node };
  }
  const { status, reason, message = '' } = conditionOf(pod, 'PodScheduled') ?? {};
  if (status !== 'False' || isProvisional(message)) {
    return undefined;
  }
  if (reason !== 'Unschedulable') {
    throw new Error(`the scheduler has no verdict: ${reason}: ${message}`);
  }
  return { kind: 'Refused', message };
}

/** The node that the scheduler has one of the pod's claims provisioned for. */
function selectedNode({ claims }: World, { metadata, spec }: PodObject): string | undefined {
  const volumes = (spec['volumes'] ?? []) as readonly Volume[];
  const named = new Set(volumes.map((volume) => `${metadata.namespace}/${volume.persistentVolumeClaim?.claimName}`));
  return claims
    .all()
    .filter((claim) => named.has(keyOf(claim)) || isOwnedBy(claim, metadata))
    .map((claim) => claim.metadata.annotations?.['volume.kubernetes.io/selected-node'])
    .find((node) => node !== undefined);
}

interface Volume {
  readonly persistentVolumeClaim?: { readonly claimName: string };
}

function isOwnedBy(claim: KubeObject, { uid }: ObjectMeta): boolean {
  return claim.metadata.ownerReferences?.some((owner) => owner['uid'] === uid) === true;
}

/** The garbage collector would do it later. */
async function removeEphemeral({ api, claims }: World, { metadata }: PodObject): Promise<void> {
  const made = claims.all().filter((claim) => isOwnedBy(claim, metadata));
  for (const claim of made) {
    await api.remove(claim);
    await gone(claims, claim);
  }
}

/** Removes the volumes and claims of a probe and waits until they are gone. */
export async function clearProbe({ api, volumes, claims }: World, { storage }: Probe): Promise<void> {
  for (const claim of storage.claims) {
    await api.remove(claim);
    await gone(claims, claim);
  }
  for (const volume of storage.volumes) {
    await api.remove(volume);
    await gone(volumes, volume);
  }
}

async function gone(mirror: World['claims'], object: KubeObject): Promise<void> {
  const key = keyOf(object);
  await mirror.until(`${object.kind} ${key} is gone`, () => (mirror.get(key) === undefined ? true : undefined));
}
