import type { V1SubjectAccessReviewSpec, V1TokenReviewSpec } from '@kubernetes/client-node';
import { isObject, type JsonObject } from '../../model/json.ts';
import { seconds } from '../../model/units.ts';
import type { AccessReviews, User } from '../http/access-guard.ts';
import { ApiError } from './api-error.ts';
import type { ApiClient, ApiRequest } from './client.ts';
import { RESOURCES, type ResourceRef } from './resource.ts';
import type { SentJson } from './sent-json.ts';

/** A scraper waits ten seconds for its answer, in which two reviews have to fit. */
const DEADLINE = seconds(3);

/**
 * Reviews by the API server, as kube-rbac-proxy and Kubernetes' own components ask for them (authentication.k8s.io and
 * authorization.k8s.io, v1). `client` must have no fence: replicas that do not lead are scraped too.
 */
export function createAccessReviews(client: ApiClient): AccessReviews {
  async function review(target: ResourceRef, kind: string, spec: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    const body = { apiVersion: `${target.group}/${target.version}`, kind, spec };
    const request: ApiRequest = { verb: 'create', target, body, deadline: DEADLINE };
    // A review changes nothing, so that it may be repeated like a read.
    const answer = (await client.read(request, signal)).body;
    if (!isObject(answer) || !isObject(answer.status)) {
      throw new ApiError('BadAnswer', `the API server answered with something that is no ${kind}`);
    }
    return answer.status;
  }

  return {
    async authenticate(token, signal) {
      const spec = { token } satisfies SentJson<V1TokenReviewSpec>;
      const status = await review(RESOURCES.TokenReview, 'TokenReview', spec, signal);
      return status.authenticated === true ? userOf(status.user) : undefined;
    },
    async mayGet(user, path, signal) {
      const { username, ...rest } = user;
      const spec = {
        user: username,
        ...rest,
        nonResourceAttributes: { path, verb: 'get' },
      } satisfies SentJson<V1SubjectAccessReviewSpec>;
      const { allowed, denied } = await review(RESOURCES.SubjectAccessReview, 'SubjectAccessReview', spec, signal);
      return allowed === true && denied !== true;
    },
  };
}

function userOf(user: unknown): User {
  const { username, uid, groups, extra }: JsonObject = isObject(user) ? user : {};
  if (typeof username !== 'string' || username === '') {
    throw new ApiError('BadAnswer', 'the API server authenticated somebody without a name');
  }
  return {
    username,
    uid: typeof uid === 'string' ? uid : '',
    groups: textsOf(groups),
    extra: Object.fromEntries(
      Object.entries(isObject(extra) ? extra : {}).map(([key, value]) => [key, textsOf(value)]),
    ),
  };
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}
