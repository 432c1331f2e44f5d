import { createHash } from 'node:crypto';
import type { IOwnerReference } from '@kubernetes-models/apimachinery/apis/meta/v1/OwnerReference';
import type { PlacementHint } from '../../api/v1alpha1/placement-hint.ts';
import { API_VERSION } from '../../api/v1alpha1/schema.ts';
import type { Steering } from '../../ports.ts';
import { isApiError } from './api-error.ts';
import type { ApiClient } from './client.ts';
import { listObjects } from './list.ts';
import { RESOURCES, type ResourceRef } from './resource.ts';

/** Name of our MutatingAdmissionPolicy and of its binding. */
export const ADMISSION_POLICY = 'evenkeel-placement';
/** Label of a hint with the name of its plan. */
const PLAN_LABEL = 'evenkeel.dev/plan';

/** Places hints for the admission policy. `report` hears why steering is not available when that needs a person. */
export function createSteering(client: ApiClient, report: (message: string) => void): Steering {
  return {
    async available(signal) {
      const policy = await isThere(
        client,
        { ...RESOURCES.MutatingAdmissionPolicy, name: ADMISSION_POLICY },
        report,
        signal,
      );
      return (
        policy &&
        (await isThere(client, { ...RESOURCES.MutatingAdmissionPolicyBinding, name: ADMISSION_POLICY }, report, signal))
      );
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
    async remove(namespace, podUID, signal) {
      const target = { ...RESOURCES.PlacementHint, namespace, name: hintName(podUID) };
      await ignoring('NotFound', client.sendIdempotent({ verb: 'delete', target }, signal));
    },
    // The API server has checked the schema.
    list: async (signal) =>
      (await listObjects(client, RESOURCES.PlacementHint, {}, signal)) as readonly PlacementHint[],
  };
}

async function isThere(
  client: ApiClient,
  target: ResourceRef,
  report: (message: string) => void,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await client.read({ verb: 'get', target }, signal);
    return true;
  } catch (error) {
    if (isApiError(error, 'Forbidden')) {
      report(`steering is off: ${error.message}`);
      return false;
    }
    if (isApiError(error, 'NotFound', 'NotServed')) {
      return false;
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
