import type { V1SelfSubjectAccessReview } from '@kubernetes/client-node';
import { SCHEDULING_GATE, STEERED_ANNOTATION } from '../../model/gate.ts';
import { isObject, type JsonObject, MalformedField } from '../../model/json.ts';
import { MAX_NARROWED_TERMS } from '../../model/placement.ts';
import type { PodInfo, PodRef } from '../../model/pod.ts';
import { createInterner } from '../../observe/interner.ts';
import { nameForPeople } from '../../observe/project/metadata.ts';
import { projectPod } from '../../observe/project/pod.ts';
import type { GateAnswer, GateOpening, Gates } from '../../ports.ts';
import { pinnedAffinity, steeredAffinity } from '../../steer/affinity.ts';
import { isApiError } from './api-error.ts';
import type { ApiClient } from './client.ts';
import { evictionOf } from './evictor.ts';
import { listObjects } from './list.ts';
import { MERGE_PATCH } from './merge-patch.ts';
import { RESOURCES } from './resource.ts';
import type { SentJson } from './sent-json.ts';

/** Opens our scheduling gate. `report` hears of pods that cannot be read, and of those that cannot be tied to a node. */
export function createGates(client: ApiClient, report: (message: string) => void): Gates {
  return {
    available: (signal) => mayPatchPods(client, signal),
    async list(signal) {
      // No selector knows gates; all gated pods are Pending, and few others are.
      const query = { fieldSelector: 'status.phase=Pending' };
      const interner = createInterner();
      const pods = await listObjects(client, RESOURCES.Pod, query, signal);
      return pods.flatMap((object) => readWaitingPod(object, interner, report));
    },
    open: (pod, opening, signal) => open(client, pod, opening, report, signal),
    release: (pod, signal) => release(client, pod, signal),
  };
}

/** Asks the API server itself, which knows every role that is bound to this account. */
async function mayPatchPods(client: ApiClient, signal: AbortSignal): Promise<boolean> {
  const body = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    spec: { resourceAttributes: { verb: 'patch', group: '', resource: 'pods' } },
  } satisfies SentJson<V1SelfSubjectAccessReview>;
  const review = { verb: 'create', target: RESOURCES.SelfSubjectAccessReview, body } as const;
  const answer = await client.send(review, signal);
  const status = isObject(answer.body) ? answer.body['status'] : undefined;
  return isObject(status) && status['allowed'] === true;
}

function readWaitingPod(
  object: unknown,
  interner: ReturnType<typeof createInterner>,
  report: (message: string) => void,
): readonly PodInfo[] {
  try {
    const raw = isObject(object) ? object : {};
    const { pod } = projectPod(raw, interner);
    const isOurs = pod.waiting?.gated === true || pod.waiting?.pinnedTo !== undefined;
    return isOurs ? [pod] : [];
  } catch (error) {
    if (error instanceof MalformedField) {
      report(`Pod ${nameForPeople(object)}: ${error.message}`);
      return [];
    }
    throw error;
  }
}

/** Why a pod stays free to run elsewhere than where its gate is opened to. */
const UNTIED: Readonly<Record<GateOpening['kind'], string>> = {
  Anywhere: 'it may run anywhere',
  Pinned: 'a term of its required node affinity is empty',
  Steered: `its required node affinity has an empty term or more than ${MAX_NARROWED_TERMS} terms, or its alternatives cannot be named`,
};

/**
 * One merge patch over the very object that was read: the gate goes, and the affinity is narrowed, or nothing is. Only while
 * it is gated does the API server let a pod's node affinity be narrowed (core/validation ValidatePodUpdate).
 */
async function open(
  client: ApiClient,
  { namespace, name, uid }: PodRef,
  opening: GateOpening,
  report: (message: string) => void,
  signal: AbortSignal,
): Promise<GateAnswer> {
  const reference = { ...RESOURCES.Pod, namespace, name };
  return answered(async () => {
    const { body } = await client.read({ verb: 'get', target: reference }, signal);
    const pod = isObject(body) ? body : {};
    const { metadata, spec } = partsOf(pod);
    const gates = Array.isArray(spec['schedulingGates']) ? spec['schedulingGates'].filter(isObject) : [];
    const rest = gates.filter((gate) => gate['name'] !== SCHEDULING_GATE);
    if (metadata['uid'] !== uid || rest.length === gates.length) {
      return metadata['uid'] === uid ? 'Changed' : 'Gone';
    }
    const target = targetOf(opening);
    const { affinity, isNarrowed } = affinityFor(spec, opening);
    if (target !== undefined && !isNarrowed) {
      report(`Pod ${namespace}/${name} cannot be tied to ${target}: ${UNTIED[opening.kind]}`);
    }
    const patch = {
      metadata: {
        uid,
        resourceVersion: versionOf(pod),
        ...(isNarrowed ? { annotations: { [STEERED_ANNOTATION]: target } } : {}),
      },
      spec: { schedulingGates: rest.length === 0 ? null : rest, ...(affinity === undefined ? {} : { affinity }) },
    };
    await client.send({ verb: 'patch', target: reference, body: patch, contentType: MERGE_PATCH }, signal);
    return 'Done';
  });
}

async function release(client: ApiClient, { namespace, name, uid }: PodRef, signal: AbortSignal): Promise<GateAnswer> {
  const reference = { ...RESOURCES.Pod, namespace, name };
  return answered(async () => {
    const { body } = await client.read({ verb: 'get', target: reference }, signal);
    const pod = isObject(body) ? body : {};
    const { metadata, spec } = partsOf(pod);
    if (metadata['uid'] !== uid || spec['nodeName'] !== undefined) {
      return metadata['uid'] === uid ? 'Changed' : 'Gone';
    }
    // With a resourceVersion the server does not try again with a newer object (registry/core/pod/storage/eviction.go).
    await client.send(evictionOf({ namespace, name }, { uid, resourceVersion: versionOf(pod) }), signal);
    return 'Done';
  });
}

async function answered(request: () => Promise<GateAnswer>): Promise<GateAnswer> {
  try {
    return await request();
  } catch (error) {
    if (isApiError(error, 'NotFound')) {
      return 'Gone';
    }
    if (isApiError(error, 'Conflict')) {
      return 'Changed';
    }
    throw error;
  }
}

function partsOf({ metadata, spec }: JsonObject): { readonly metadata: JsonObject; readonly spec: JsonObject } {
  return { metadata: isObject(metadata) ? metadata : {}, spec: isObject(spec) ? spec : {} };
}

function versionOf(object: JsonObject): string {
  const version = partsOf(object).metadata['resourceVersion'];
  return typeof version === 'string' ? version : '';
}

function targetOf(opening: GateOpening): string | undefined {
  switch (opening.kind) {
    case 'Anywhere':
      return undefined;
    case 'Pinned':
      return opening.node;
    case 'Steered':
      return opening.placement.target;
    default:
      return opening satisfies never;
  }
}

/** The `affinity` of a pod that is let through its gate, as a merge patch; `undefined`: it stays as it is. */
function affinityFor(
  { affinity }: JsonObject,
  opening: GateOpening,
): { readonly affinity: JsonObject | undefined; readonly isNarrowed: boolean } {
  switch (opening.kind) {
    case 'Anywhere':
      return { affinity: undefined, isNarrowed: false };
    case 'Steered':
      return steeredAffinity(affinity, opening.placement);
    case 'Pinned': {
      const pinned = pinnedAffinity(affinity, opening.node);
      return { affinity: pinned, isNarrowed: pinned !== undefined };
    }
    default:
      return opening satisfies never;
  }
}
