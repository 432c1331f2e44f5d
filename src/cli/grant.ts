import type { ApiError } from '../adapters/kubernetes/api-error.ts';

/** How the API server says what RBAC does not allow (apiserver, endpoints/handlers/responsewriters, ForbiddenMessage). */
const REFUSAL = /User "([^"]+)" cannot (\w+) resource "[^"]+" in API group "([^"]*)"/;
const READS = new Set(['get', 'list', 'watch']);
/** Names that a shell leaves as they are. */
const PLAIN = /^[\w.:@/-]+$/;

/**
 * The command that grants what a user lacks for the command line, by a ClusterRole that comes with every install; `undefined` for
 * rights that none of them has, and where the error does not name the user.
 */
export function grantCommand({ kind, message }: Pick<ApiError, 'kind' | 'message'>): string | undefined {
  const [, user, verb = '', group] = (kind === 'Forbidden' ? REFUSAL.exec(message) : undefined) ?? [];
  const role = READS.has(verb) ? 'evenkeel-cluster-reader' : group === 'evenkeel.dev' ? 'evenkeel-edit' : undefined;
  if (user === undefined || role === undefined || !PLAIN.test(user)) {
    return undefined;
  }
  const [, account] = /^system:serviceaccount:([^:]+:[^:]+)$/.exec(user) ?? [];
  const subject = account === undefined ? `--user=${user}` : `--serviceaccount=${account}`;
  const name = `${role}-${user.replaceAll(/[^\w.-]+/g, '-')}`.toLowerCase();
  return `kubectl create clusterrolebinding ${name} --clusterrole=${role} ${subject}`;
}
