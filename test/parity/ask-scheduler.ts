import { type KubeObject, keyOf, type PodObject } from './kube-object.ts';
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
  try {
    const verdict = await pods.until(
      `the scheduler's verdict on ${key}`,
      () => verdictOn(pods.get(key) as PodObject | undefined),
      () => pods.get(key)?.['status'],
    );
    return { verdict, admitted };
  } finally {
    await api.remove(pod);
    await pods.until(`${key} is gone`, () => (pods.get(key) === undefined ? true : undefined));
    await removeEphemeral(world, admitted);
  }
}

/**
 * A pod whose claims are still to be bound or provisioned has been accepted once the scheduler nominates its node
 * (KEP-5278); it preempts nobody, so that it is nominated for no other reason.
 */
function verdictOn(pod: PodObject | undefined): SchedulerVerdict | undefined {
  const node = pod?.spec.nodeName ?? pod?.status?.nominatedNodeName;
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

/** The garbage collector would do it later. */
async function removeEphemeral({ api, claims }: World, { metadata }: PodObject): Promise<void> {
  const made = claims
    .all()
    .filter((claim) => claim.metadata.ownerReferences?.some((owner) => owner['uid'] === metadata.uid));
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
