import { isObject, type JsonObject } from '../../model/json.ts';
import { type EpochSeconds, type Seconds, seconds } from '../../model/units.ts';
import { ConflictError } from '../../ports.ts';
import { describeResource, type ResourceRef } from './resource.ts';

/** What went wrong with a request, by what can be done about it. */
export type ApiErrorKind =
  /** No connection, or it broke. */
  | 'Unreachable'
  /** No answer within the deadline. */
  | 'Timeout'
  /** The credentials of the kubeconfig could not be had. */
  | 'Credentials'
  /** 401. */
  | 'Unauthorized'
  /** 403. */
  | 'Forbidden'
  /** 404 for an object. */
  | 'NotFound'
  /** 404 for the whole API: its CRD or its server is not installed. */
  | 'NotServed'
  /** 409: somebody else was faster, or a precondition does not hold. */
  | 'Conflict'
  /** 409 for a create. */
  | 'AlreadyExists'
  /** 410: the continue token or resourceVersion is too old. */
  | 'Expired'
  /** Other 4xx: the request is wrong. */
  | 'Invalid'
  /** 429. */
  | 'TooManyRequests'
  /** 5xx. */
  | 'ServerError'
  /** The answer is not what the API promises: truncated, not JSON, or of another kind. */
  | 'BadAnswer';

/** What is known about a failure besides its kind and message. */
export interface ApiErrorDetail extends ErrorOptions {
  /** HTTP status, or the code of a Status. */
  readonly status?: number | undefined;
  /** `reason` of the Status. */
  readonly reason?: string | undefined;
  /** `details.causes[].reason` of the Status. */
  readonly causes?: readonly StatusCause[];
  /** `details.kind` of the Status: the resource that the server is talking about. */
  readonly about?: string | undefined;
  readonly retryAfter?: Seconds | undefined;
  /** The request cannot have reached the server. */
  readonly unsent?: boolean;
  /** The server's clock in its answer. */
  readonly serverTime?: EpochSeconds | undefined;
}

/** One cause in a Status. */
export interface StatusCause {
  readonly reason: string;
  readonly message: string;
}

/** A request to the API server that failed; the message is for people. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly kind: ApiErrorKind;
  readonly status: number | undefined;
  readonly reason: string | undefined;
  readonly causes: readonly StatusCause[];
  readonly about: string | undefined;
  readonly retryAfter: Seconds | undefined;
  readonly unsent: boolean;
  readonly serverTime: EpochSeconds | undefined;

  constructor(kind: ApiErrorKind, message: string, detail: ApiErrorDetail = {}) {
    super(message, detail.cause === undefined ? undefined : { cause: detail.cause });
    this.kind = kind;
    this.status = detail.status;
    this.reason = detail.reason;
    this.causes = detail.causes ?? [];
    this.about = detail.about;
    this.retryAfter = detail.retryAfter;
    this.unsent = detail.unsent ?? false;
    this.serverTime = detail.serverTime;
  }
}

/** Whether `error` is an ApiError of one of these kinds. */
export function isApiError(error: unknown, ...kinds: readonly ApiErrorKind[]): error is ApiError {
  return error instanceof ApiError && (kinds.length === 0 || kinds.includes(error.kind));
}

/** What a request for one object comes to; `undefined` where there is none. Rejects as the request does otherwise. */
export async function ifThere<Answer>(request: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await request;
  } catch (error) {
    if (isApiError(error, 'NotFound')) {
      return undefined;
    }
    throw error;
  }
}

/** What was asked, for messages. */
export interface Asked {
  /** RBAC verb. */
  readonly verb: string;
  readonly target: ResourceRef;
}

/** The error for an answer with this HTTP status and body; `body` is undefined when it is not JSON. */
export function errorFromAnswer(
  asked: Asked,
  status: number,
  body: unknown,
  head: Pick<ApiErrorDetail, 'retryAfter' | 'serverTime'> = {},
): ApiError {
  const answer = readStatus(body);
  const code = answer?.code ?? status;
  const kind = kindOf(code, answer);
  const said = answer?.message ?? `HTTP ${status}`;
  return new ApiError(kind, explain(kind, asked, code, said), {
    status: code,
    reason: answer?.reason,
    causes: answer?.causes ?? [],
    about: answer?.about,
    retryAfter: head.retryAfter ?? answer?.retryAfter,
    serverTime: head.serverTime,
  });
}

/** Whether a body is a Status that reports a failure, whatever the HTTP status said. */
export function isFailure(body: unknown): boolean {
  return isObject(body) && body.kind === 'Status' && body.apiVersion === 'v1' && body.status !== 'Success';
}

interface Status {
  readonly code: number | undefined;
  readonly reason: string | undefined;
  readonly message: string | undefined;
  readonly about: string | undefined;
  readonly causes: readonly StatusCause[];
  readonly retryAfter: Seconds | undefined;
}

function readStatus(body: unknown): Status | undefined {
  if (!isObject(body) || body.kind !== 'Status') {
    return undefined;
  }
  const details: JsonObject = isObject(body.details) ? body.details : {};
  const causes = Array.isArray(details.causes) ? details.causes.filter(isObject) : [];
  return {
    code: typeof body.code === 'number' ? body.code : undefined,
    reason: textOf(body.reason),
    message: textOf(body.message),
    about: textOf(details.kind),
    causes: causes.map(({ reason, message }) => ({ reason: textOf(reason) ?? '', message: textOf(message) ?? '' })),
    retryAfter: typeof details.retryAfterSeconds === 'number' ? seconds(details.retryAfterSeconds) : undefined,
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value.slice(0, 4096) : undefined;
}

/** The answer where the version of a group is served without the resource (apimachinery NewGenericServerResponse). */
const UNKNOWN_RESOURCE = 'the server could not find the requested resource';

function kindOf(code: number, answer: Status | undefined): ApiErrorKind {
  switch (code) {
    case 401:
      return 'Unauthorized';
    case 403:
      return 'Forbidden';
    case 404:
      return answer === undefined || answer.message === UNKNOWN_RESOURCE ? 'NotServed' : 'NotFound';
    case 409:
      return answer?.reason === 'AlreadyExists' ? 'AlreadyExists' : 'Conflict';
    case 410:
      return 'Expired';
    case 429:
      return 'TooManyRequests';
    default:
      return code >= 500 ? 'ServerError' : 'Invalid';
  }
}

function explain(kind: ApiErrorKind, { verb, target }: Asked, code: number, said: string): string {
  const what = describeResource(target);
  const resource = target.subresource === undefined ? target.resource : `${target.resource}/${target.subresource}`;
  switch (kind) {
    case 'Unauthorized':
      return `the API server does not accept the credentials (401): ${said}: log in again, or check the user in the kubeconfig`;
    case 'Forbidden':
      if (/(exceeded|failed|unknown for) quota: /.test(said)) {
        return `${verb} ${what}: ${said}: raise that ResourceQuota, or leave the namespace out of spec.scope`;
      }
      if (/\bdenied (the )?request\b/.test(said)) {
        return `${verb} ${what}: ${said} (${code})`;
      }
      return `may not ${verb} ${what}: ${said}: grant the verb ${verb} on ${resource} in API group ${JSON.stringify(target.group)}`;
    case 'NotServed':
      return `the API server does not serve ${target.resource} of ${target.group}/${target.version}: ${notServedHint(target)}`;
    case 'TooManyRequests':
      return `${verb} ${what}: the API server, or an admission webhook, asks to try later (429): ${said}`;
    default:
      return `${verb} ${what}: ${said} (${code})`;
  }
}

function notServedHint({ group }: ResourceRef): string {
  if (group === 'metrics.k8s.io') {
    return 'install metrics-server';
  }
  return group === 'evenkeel.dev'
    ? 'install Evenkeel without the right to evict (kubectl apply --server-side -k deploy/overlays/dry-run)'
    : 'this Kubernetes is too old';
}

const REFUSED = new Set(['ECONNREFUSED', 'UND_ERR_CONNECT_TIMEOUT', 'EHOSTUNREACH', 'ENETUNREACH']);
const UNKNOWN_HOST = new Set(['ENOTFOUND', 'EAI_AGAIN']);
const UNTRUSTED = new Set([
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'CERT_SIGNATURE_FAILURE',
]);

/** An error of the transport. */
export type TransportError = Error & { readonly code: string };

/**
 * Whether the connection was never made, so that the request cannot have reached the server. An unreachable host is no proof: a
 * connection that was made before breaks with the same code when the network does, after the request was written.
 */
export function isUnsent(error: TransportError): boolean {
  const { code } = error;
  return UNKNOWN_HOST.has(code) || UNTRUSTED.has(code) || (REFUSED.has(code) && failedToConnect(error));
}

/** Where a name has several addresses, Node gives the error of each. */
function failedToConnect(error: Error): boolean {
  if (error instanceof AggregateError) {
    return error.errors.length > 0 && error.errors.every((each) => each instanceof Error && failedToConnect(each));
  }
  const { code, syscall } = error as { readonly code?: unknown; readonly syscall?: unknown };
  return code === 'UND_ERR_CONNECT_TIMEOUT' || syscall === 'connect';
}

/** An ApiError that names the server and what to look at. */
export function unreachable(server: string, error: TransportError, unsent: boolean): ApiError {
  return new ApiError('Unreachable', explainTransport(server, error), { cause: error, unsent });
}

function explainTransport(server: string, { code, message }: TransportError): string {
  if (REFUSED.has(code)) {
    return `cannot connect to the API server ${server} (${code}): is it running, and is this the right context?`;
  }
  if (UNKNOWN_HOST.has(code)) {
    return `the name of the API server ${server} cannot be resolved (${code}): check the server in the kubeconfig`;
  }
  if (UNTRUSTED.has(code)) {
    return `the certificate of the API server ${server} is not trusted (${message}): check certificate-authority in the kubeconfig`;
  }
  return `the connection to the API server ${server} broke (${code}): ${message}`;
}

/** ConflictError for what somebody else was faster with, or has deleted. */
export async function orConflict<Answer>(request: Promise<Answer>): Promise<Answer> {
  try {
    return await request;
  } catch (error) {
    if (isApiError(error, 'Conflict', 'AlreadyExists', 'NotFound')) {
      throw new ConflictError(error.message, { cause: error });
    }
    throw error;
  }
}
