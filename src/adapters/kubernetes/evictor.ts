import type { V1Eviction, V1Preconditions } from '@kubernetes/client-node';
import type { PodRef } from '../../model/pod.ts';
import { seconds } from '../../model/units.ts';
import type { EvictionAnswer, Evictor } from '../../ports.ts';
import { type ApiError, isApiError } from './api-error.ts';
import type { ApiClient, ApiRequest } from './client.ts';
import { RESOURCES } from './resource.ts';
import type { SentJson } from './sent-json.ts';

/** Wait of an overloaded or unreachable server that names none. */
const USUAL_WAIT = seconds(5);

/** Sends evictions (policy/v1) with a UID precondition. Each call is one request: an eviction is never repeated here. */
export function createEvictor(client: ApiClient): Evictor {
  return {
    async evict(pod, { dryRun }, signal) {
      const query: Record<string, string> = dryRun ? { dryRun: 'All' } : {};
      try {
        await client.send({ ...evictionOf(pod, { uid: pod.uid }), query }, signal);
        return { kind: 'Accepted' };
      } catch (error) {
        if (isApiError(error)) {
          return answerOf(error);
        }
        throw error;
      }
    },
  };
}

/** The request that evicts a pod if it meets the preconditions (policy/v1). */
export function evictionOf(
  { namespace, name }: Pick<PodRef, 'namespace' | 'name'>,
  preconditions: SentJson<V1Preconditions>,
): ApiRequest {
  const body = {
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { namespace, name },
    deleteOptions: { preconditions },
  } satisfies SentJson<V1Eviction>;
  return { verb: 'create', target: { ...RESOURCES.Pod, namespace, name, subresource: 'eviction' }, body };
}

/** What a failed eviction means (execution.md, answers). Whatever is not known to have been refused is ambiguous. */
export function answerOf(error: ApiError): EvictionAnswer {
  const { message, retryAfter = USUAL_WAIT } = error;
  if (error.unsent) {
    return { kind: 'TryLater', message, retryAfter };
  }
  switch (error.kind) {
    case 'NotFound':
      return { kind: 'Gone' };
    case 'Conflict':
      return isOtherIncarnation(error) ? { kind: 'Gone' } : { kind: 'TryLater', message, retryAfter };
    case 'TooManyRequests':
      return tooMany(error);
    case 'Forbidden':
      return { kind: lacksRight(error) ? 'Forbidden' : 'Refused', message };
    case 'Invalid':
    case 'Unauthorized':
    case 'NotServed':
    case 'AlreadyExists':
    case 'Credentials':
      return { kind: 'Refused', message };
    case 'ServerError':
      return hasTwoBudgets(error) ? { kind: 'Refused', message } : { kind: 'Ambiguous', message };
    case 'Unreachable':
    case 'Timeout':
    case 'Expired':
    case 'BadAnswer':
      return { kind: 'Ambiguous', message };
    default:
      return error.kind satisfies never;
  }
}

function tooMany(error: ApiError): EvictionAnswer {
  const budget = error.causes.find(({ reason }) => reason === 'DisruptionBudget');
  return budget === undefined
    ? { kind: 'TryLater', message: error.message, retryAfter: error.retryAfter ?? USUAL_WAIT }
    : { kind: 'RefusedByBudget', message: budget.message === '' ? error.message : budget.message };
}

/**
 * A conflict over the UID precondition; other conflicts are of the server with itself, over the status of the PDB or the
 * version of the pod, and end before the pod is touched (registry/core/pod/storage/eviction.go).
 */
function isOtherIncarnation({ message, about }: ApiError): boolean {
  return about !== 'poddisruptionbudgets' && /UID in (the )?precondition/i.test(message);
}

/** As the API server words a refusal of its authorizer (apiserver, handlers/responsewriters); admission steps have words of their own. */
function lacksRight({ message }: ApiError): boolean {
  return / cannot create resource "/.test(message);
}

/** eviction.go answers with a Status of code 500 inside of a 201. */
function hasTwoBudgets({ message }: ApiError): boolean {
  return message.includes('more than one PodDisruptionBudget');
}
