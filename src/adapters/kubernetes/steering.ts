import { createHash } from 'node:crypto';
import type { IOwnerReference } from '@kubernetes-models/apimachinery/apis/meta/v1/OwnerReference';
import type { PlacementHint } from '../../api/v1alpha1/placement-hint.ts';
import { API_VERSION } from '../../api/v1alpha1/schema.ts';
import type { Steering, SteeringOffer } from '../../ports.ts';
import { isApiError } from './api-error.ts';
import type { ApiClient } from './client.ts';
import { listObjects } from './list.ts';
import { RESOURCES, type ResourceRef } from './resource.ts';
import { bundleOf, PLACEMENT_WEBHOOK, WEBHOOK_CONFIGURATION } from './webhook-configuration.ts';

/** Name of our MutatingAdmissionPolicy and of its binding. */
export const ADMISSION_POLICY = 'evenkeel-placement';
/** Label of a hint with the name of its plan. */
const PLAN_LABEL = 'evenkeel.dev/plan';

/** Versions of MutatingAdmissionPolicy, the better one first: v1 from Kubernetes 1.36 on, v1beta1 in 1.34 and 1.35 when switched on. */
const VERSIONS = ['v1', 'v1beta1'] as const;

/** The admission webhook that this process serves. */
export interface ServedWebhook {
  /** Why it cannot answer a server that verifies it by this bundle of certificates in PEM; `undefined` when it can. For people. */
  problem(caBundle: string): string | undefined;
}

/** Places hints for the admission step. `webhook` is the webhook of this process; `undefined` while it serves none. */
export function createSteering(
  client: ApiClient,
  webhook: () => ServedWebhook | undefined = () => undefined,
): Steering {
  return {
    async offers(signal) {
      return {
        AdmissionPolicy: await admissionPolicyOffer(client, signal),
        Webhook: await webhookOffer(client, webhook(), signal),
      };
    },
    async place(namespace, spec, plan, signal) {
      const { name, uid = '' } = plan.metadata;
      const owner = {
        apiVersion: API_VERSION,
        kind: plan.kind,
        name,
        uid,
        controller: false,
        blockOwnerDeletion: false,
      } satisfies IOwnerReference;
      const body: PlacementHint = {
        apiVersion: API_VERSION,
        kind: 'PlacementHint',
        metadata: {
          name: hintName(spec.podUID),
          namespace,
          labels: { [PLAN_LABEL]: labelValue(name) },
          ownerReferences: [owner],
        },
        spec,
      };
      await ignoring(
        'AlreadyExists',
        client.sendIdempotent({ verb: 'create', target: { ...RESOURCES.PlacementHint, namespace }, body }, signal),
      );
    },
    remove: (namespace, podUID, signal) => removeHint(client, namespace, hintName(podUID), signal),
    discard: ({ metadata: { namespace = '', name } }, signal) => removeHint(client, namespace, name, signal),
    // The API server has checked the schema.
    list: async (signal) =>
      (await listObjects(client, RESOURCES.PlacementHint, {}, signal)) as readonly PlacementHint[],
  };
}

async function removeHint(client: ApiClient, namespace: string, name: string, signal: AbortSignal): Promise<void> {
  const target = { ...RESOURCES.PlacementHint, namespace, name };
  await ignoring('NotFound', client.sendIdempotent({ verb: 'delete', target }, signal));
}

async function admissionPolicyOffer(client: ApiClient, signal: AbortSignal): Promise<SteeringOffer> {
  for (const version of VERSIONS) {
    const policy = await find(client, named(RESOURCES.MutatingAdmissionPolicy, version), signal);
    if (policy.kind !== 'NotServed') {
      const binding = await find(client, named(RESOURCES.MutatingAdmissionPolicyBinding, version), signal);
      return policyOffer(version, policy, binding);
    }
  }
  return { available: false, why: `the API server serves no MutatingAdmissionPolicy (${VERSIONS.join(' or ')})` };
}

function named(resource: ResourceRef, version: string): ResourceRef {
  return { ...resource, version, name: ADMISSION_POLICY };
}

function policyOffer(version: string, policy: Found, binding: Found): SteeringOffer {
  const forbidden = [policy, binding].find(({ kind }) => kind === 'Forbidden');
  if (forbidden?.kind === 'Forbidden') {
    return { available: false, why: forbidden.message };
  }
  const served = `MutatingAdmissionPolicy ${version} is served`;
  if (policy.kind !== 'Found') {
    return { available: false, why: `${served}, but ${ADMISSION_POLICY} is not installed` };
  }
  return binding.kind === 'Found'
    ? { available: true, why: `${served} and ${ADMISSION_POLICY} is installed` }
    : { available: false, why: `${served}, but ${ADMISSION_POLICY} has no binding` };
}

async function webhookOffer(
  client: ApiClient,
  served: ServedWebhook | undefined,
  signal: AbortSignal,
): Promise<SteeringOffer> {
  if (served === undefined) {
    return { available: false, why: 'the operator serves no webhook' };
  }
  const target = { ...RESOURCES.MutatingWebhookConfiguration, name: WEBHOOK_CONFIGURATION };
  const found = await find(client, target, signal);
  if (found.kind === 'Forbidden') {
    return { available: false, why: found.message };
  }
  const bundle = found.kind === 'Found' ? bundleOf(found.object, PLACEMENT_WEBHOOK) : undefined;
  if (bundle === undefined) {
    const missing = `there is no MutatingWebhookConfiguration ${WEBHOOK_CONFIGURATION} with the webhook ${PLACEMENT_WEBHOOK}`;
    return { available: false, why: missing };
  }
  const problem = served.problem(bundle);
  return problem === undefined
    ? {
        available: true,
        why: `the operator serves the webhook of MutatingWebhookConfiguration ${WEBHOOK_CONFIGURATION}`,
      }
    : { available: false, why: problem };
}

type Found =
  | { readonly kind: 'Found'; readonly object: unknown }
  | { readonly kind: 'NotFound' | 'NotServed' }
  | { readonly kind: 'Forbidden'; readonly message: string };

async function find(client: ApiClient, target: ResourceRef, signal: AbortSignal): Promise<Found> {
  try {
    return { kind: 'Found', object: (await client.read({ verb: 'get', target }, signal)).body };
  } catch (error) {
    if (isApiError(error, 'Forbidden')) {
      return { kind: 'Forbidden', message: error.message };
    }
    if (isApiError(error, 'NotFound', 'NotServed')) {
      return { kind: error.kind === 'NotFound' ? 'NotFound' : 'NotServed' };
    }
    throw error;
  }
}

async function ignoring(kind: 'AlreadyExists' | 'NotFound', request: Promise<unknown>): Promise<void> {
  try {
    await request;
  } catch (error) {
    if (!isApiError(error, kind)) {
      throw error;
    }
  }
}

/** The same for the same pod, so that a hint is never made twice and is found without a list. */
function hintName(podUID: string): string {
  return `move-${/^[a-z0-9-]{1,64}$/.test(podUID) ? podUID : shortHash(podUID)}`;
}

/** Labels hold 63 characters, names of plans up to 253. */
function labelValue(name: string): string {
  return name.length <= 63 ? name : `${name.slice(0, 40).replace(/[^a-z0-9]+$/, '')}-${shortHash(name)}`;
}

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 20);
}
