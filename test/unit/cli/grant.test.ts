import { expect, it } from 'vitest';
import { ApiError } from '../../../src/adapters/kubernetes/api-error.ts';
import { grantCommand } from '../../../src/cli/grant.ts';

const refusal = (user: string, verb: string, resource: string, group: string): ApiError =>
  new ApiError(
    'Forbidden',
    `may not ${verb} ${resource}: User "${user}" cannot ${verb} resource "${resource}" in API group "${group}" at the cluster scope`,
  );

it.each([
  [
    refusal('jane', 'list', 'nodes', ''),
    'kubectl create clusterrolebinding evenkeel-cluster-reader-jane --clusterrole=evenkeel-cluster-reader --user=jane',
  ],
  [
    refusal('system:serviceaccount:ci:runner', 'watch', 'pods', ''),
    'kubectl create clusterrolebinding evenkeel-cluster-reader-system-serviceaccount-ci-runner --clusterrole=evenkeel-cluster-reader --serviceaccount=ci:runner',
  ],
  [
    refusal('jane@example.com', 'patch', 'rebalanceplans', 'evenkeel.dev'),
    'kubectl create clusterrolebinding evenkeel-edit-jane-example.com --clusterrole=evenkeel-edit --user=jane@example.com',
  ],
])('names the command that grants what is missing: %s', (error, command) => {
  expect(grantCommand(error)).toBe(command);
});

it.each([
  ['a right that no role of people has', refusal('jane', 'create', 'pods/eviction', '')],
  ['a name that a shell would read', refusal('$(rm -rf ~)', 'list', 'nodes', '')],
  ['a refusal by something else than RBAC', new ApiError('Forbidden', 'admission webhook "x" denied the request')],
  ['an error of another kind', new ApiError('NotFound', 'User "jane" cannot list resource "nodes" in API group ""')],
])('names none for %s', (_what, error) => {
  expect(grantCommand(error)).toBeUndefined();
});
