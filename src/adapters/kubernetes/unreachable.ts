import { ApiError } from './api-error.ts';

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

/** Whether the connection was never made, so that the request cannot have reached the server. */
export function isUnsent({ code }: TransportError): boolean {
  return REFUSED.has(code) || UNKNOWN_HOST.has(code) || UNTRUSTED.has(code);
}

/** An ApiError that names the server and what to look at. */
export function unreachable(server: string, error: TransportError, unsent: boolean): ApiError {
  return new ApiError('Unreachable', explain(server, error), { cause: error, unsent });
}

function explain(server: string, { code, message }: TransportError): string {
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
