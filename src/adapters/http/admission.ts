import { isObject, type JsonObject } from '../../model/json.ts';
import type { Answer, PostEndpoint } from './server.ts';

/** JSON patch (RFC 6902) for a pod that is about to be created in a namespace; empty leaves it as it is. */
export type PodMutation = (pod: JsonObject, namespace: string) => readonly object[];

const API_VERSION = 'admission.k8s.io/v1';

/** What an AdmissionReview asks. */
interface Asked {
  readonly uid: string;
  readonly namespace: string;
  readonly pod: JsonObject;
}

/** What is wrong with a review; `uid` of its request, as far as it can be read. */
interface Unreadable {
  readonly uid: string;
  readonly problem: string;
}

/**
 * Answers AdmissionReviews (admission.k8s.io/v1) of pods with a patch. Every answer allows the pod: what cannot be read, and what
 * `mutate` throws at, is left as it is. `report` hears of each kind of problem once.
 */
export function admissionEndpoint(mutate: PodMutation, report: (problem: string) => void): PostEndpoint {
  const reported = new Set<string>();
  const leave = (uid: string, problem: string): Answer => {
    if (!reported.has(problem)) {
      reported.add(problem);
      report(problem);
    }
    return allow(uid, []);
  };
  return (body) => {
    const asked = read(body);
    if ('problem' in asked) {
      return leave(asked.uid, asked.problem);
    }
    try {
      return allow(asked.uid, mutate(asked.pod, asked.namespace));
    } catch (error) {
      return leave(asked.uid, `a pod could not be patched: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
}

function allow(uid: string, patch: readonly object[]): Answer {
  const encoded = Buffer.from(JSON.stringify(patch), 'utf8').toString('base64');
  const response = {
    uid,
    allowed: true,
    ...(patch.length === 0 ? {} : { patchType: 'JSONPatch', patch: encoded }),
  };
  const review = { apiVersion: API_VERSION, kind: 'AdmissionReview', response };
  return { code: 200, type: 'application/json', body: JSON.stringify(review) };
}

function read(body: Buffer): Asked | Unreadable {
  const review = parse(body);
  const request = review['kind'] === 'AdmissionReview' ? review['request'] : undefined;
  if (!isObject(request) || typeof request['uid'] !== 'string') {
    return { uid: '', problem: 'a request is no AdmissionReview' };
  }
  const { uid, operation, namespace, object } = request;
  if (review['apiVersion'] !== API_VERSION) {
    return { uid, problem: `an AdmissionReview is not of ${API_VERSION}` };
  }
  if (operation !== 'CREATE' || !isObject(object) || object['kind'] !== 'Pod') {
    return { uid, problem: 'an AdmissionReview is not about a pod that is created' };
  }
  return { uid, namespace: typeof namespace === 'string' ? namespace : '', pod: object };
}

/** Empty for what is no JSON object. */
function parse(body: Buffer): JsonObject {
  try {
    const review: unknown = JSON.parse(body.toString('utf8'));
    return isObject(review) ? review : {};
  } catch {
    return {};
  }
}
