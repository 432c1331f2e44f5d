import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { pathOf, RESOURCES } from '../../../src/adapters/kubernetes/resource.ts';
import { LISTED_SOURCES, WATCHED_SOURCES } from '../../../src/adapters/kubernetes/snapshot-sources.ts';

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

const ROLE = join(import.meta.dirname, '..', '..', '..', 'deploy', 'base', 'read-role.yaml');

/** The rules of the ClusterRole that the operator reads with. */
function rules(): readonly Rule[] {
  const documents = parseAllDocuments(readFileSync(ROLE, 'utf8')).map((each): unknown => each.toJS());
  const [role] = documents as readonly { readonly rules: readonly Rule[] }[];
  return role?.rules ?? [];
}

it.each([
  ['list', [...WATCHED_SOURCES, ...LISTED_SOURCES]],
  ['watch', WATCHED_SOURCES],
])('the operator may %s every kind that it does', (verb, sources) => {
  const allowed = rules()
    .filter(({ verbs }) => verbs.includes(verb))
    .flatMap(({ apiGroups, resources }) => apiGroups.flatMap((group) => resources.map((each) => `${group}/${each}`)));
  const needed = sources.map(({ target }) => `${target.group}/${target.resource}`);
  expect(needed.filter((each) => !allowed.includes(each))).toEqual([]);
});

it.each([
  ['Pod', '/api/v1/pods'],
  ['Deployment', '/apis/apps/v1/deployments'],
  ['QoSLedger', '/apis/evenkeel.dev/v1alpha1/qosledgers'],
  ['Lease', '/apis/coordination.k8s.io/v1/leases'],
] as const)('%s is found at %s', (kind, path) => {
  expect(pathOf(RESOURCES[kind])).toBe(path);
});
