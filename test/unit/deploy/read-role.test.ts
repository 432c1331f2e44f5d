import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { pathOf, RESOURCES } from '../../../src/adapters/kubernetes/resource.ts';
import { LISTED_SOURCES, WATCHED_SOURCES } from '../../../src/adapters/kubernetes/snapshot-sources.ts';
import { KINDS } from '../../../src/api/v1alpha1/kinds.ts';
import { GROUP } from '../../../src/api/v1alpha1/schema.ts';

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

const BASE = join(import.meta.dirname, '..', '..', '..', 'deploy', 'base');

interface Role {
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
  readonly rules: readonly Rule[];
}

interface Component {
  readonly patches: readonly { readonly target: { readonly kind: string }; readonly patch: string }[];
}

/** A role of a file of deploy/base. */
function role(file: string, name: string): Role {
  const documents = parseAllDocuments(readFileSync(join(BASE, file), 'utf8')).map((each) => each.toJS() as Role);
  const found = documents.find(({ metadata }) => metadata.name === name);
  if (found === undefined) {
    throw new Error(`${file} has no ${name}`);
  }
  return found;
}

/** `group/resource` of everything that a role allows this verb on. */
function allowed({ rules }: Role, verb: string): readonly string[] {
  return rules
    .filter(({ verbs }) => verbs.includes(verb))
    .flatMap(({ apiGroups, resources }) => apiGroups.flatMap((group) => resources.map((each) => `${group}/${each}`)));
}

const OURS = KINDS.map(({ plural }) => `${GROUP}/${plural}`);

it.each([
  ['list', [...WATCHED_SOURCES, ...LISTED_SOURCES]],
  ['watch', WATCHED_SOURCES],
])('the operator may %s every kind that it does', (verb, sources) => {
  const may = allowed(role('read-role.yaml', 'evenkeel-read'), verb);
  const needed = sources.map(({ target }) => `${target.group}/${target.resource}`);
  expect(needed.filter((each) => !may.includes(each))).toEqual([]);
});

it('the operator may write the status of our kinds that it reports in, by kustomize and by the chart', () => {
  const written = KINDS.filter(({ kind, status }) => status !== undefined && kind !== 'MoveJournal');
  const needed = written.map(({ plural }) => `${GROUP}/${plural}/status`);
  expect([...allowed(role('read-role.yaml', 'evenkeel-read'), 'patch')].sort()).toEqual(
    expect.arrayContaining(needed.sort()),
  );
  const rules = (path: string) => /^rules:\n(?:[- ].*\n)+/m.exec(readFileSync(path, 'utf8'))?.[0];
  const chart = join(BASE, '..', 'chart', 'evenkeel', 'templates', 'roles.yaml');
  expect(rules(chart)).toBe(rules(join(BASE, 'read-role.yaml')));
});

it('the operator may remove hints that are left, also where it may not evict, and place none there', () => {
  const read = role('read-role.yaml', 'evenkeel-read');
  const hints = `${GROUP}/placementhints`;
  const verbs = ['list', 'delete', 'create', 'patch'].filter((verb) => allowed(read, verb).includes(hints));
  expect(verbs).toEqual(['list', 'delete']);
});

it.each([
  ['list', [...WATCHED_SOURCES, ...LISTED_SOURCES]],
  ['watch', WATCHED_SOURCES],
])('whoever has evenkeel-cluster-reader may %s what the command line does, and change nothing', (verb, sources) => {
  const reader = role('people-roles.yaml', 'evenkeel-cluster-reader');
  const may = allowed(reader, verb);
  expect(
    [...sources.map(({ target }) => `${target.group}/${target.resource}`)].filter((each) => !may.includes(each)),
  ).toEqual([]);
  expect(OURS.filter((each) => !may.includes(each))).toEqual([]);
  expect(new Set(reader.rules.flatMap(({ verbs }) => verbs))).toEqual(new Set(['get', 'list', 'watch']));
});

it('view and edit are extended by our kinds alone, and only policies, classes, applications and plans may be written', () => {
  const [view, edit] = [role('people-roles.yaml', 'evenkeel-view'), role('people-roles.yaml', 'evenkeel-edit')];
  expect(view.metadata.labels).toEqual({ 'rbac.authorization.k8s.io/aggregate-to-view': 'true' });
  expect(edit.metadata.labels).toEqual({ 'rbac.authorization.k8s.io/aggregate-to-edit': 'true' });
  expect([...allowed(view, 'list')].sort()).toEqual([...OURS].sort());
  expect(new Set(view.rules.flatMap(({ verbs }) => verbs))).toEqual(new Set(['get', 'list', 'watch']));
  expect(allowed(edit, 'patch')).toEqual(
    ['rebalancepolicies', 'serviceclasses', 'appgraphs', 'rebalanceplans'].map((each) => `${GROUP}/${each}`),
  );
  expect(allowed(edit, 'create')).toEqual(
    ['rebalancepolicies', 'serviceclasses', 'appgraphs'].map((each) => `${GROUP}/${each}`),
  );
});

it('the operator may write one Lease, or with policies spread over replicas those of its namespace, and nothing else there', () => {
  const leases = { apiGroups: ['coordination.k8s.io'], resources: ['leases'] };
  const one = [
    { ...leases, resourceNames: ['evenkeel'], verbs: ['get', 'update'] },
    { ...leases, verbs: ['create', 'list'] },
  ];
  const all = [{ ...leases, verbs: ['get', 'list', 'watch', 'create', 'update', 'delete'] }];
  expect(role('lease-role.yaml', 'evenkeel-lease').rules).toEqual(one);
  const text = (...path: readonly string[]) => readFileSync(join(BASE, '..', ...path), 'utf8');
  const component = parse(text('components', 'shard-policies', 'kustomization.yaml')) as Component;
  const patch = component.patches.find(({ target }) => target.kind === 'Role')?.patch ?? '';
  expect(parse(patch)).toEqual([{ op: 'replace', path: '/rules', value: all }]);
  const chart = text('chart', 'evenkeel', 'templates', 'roles.yaml');
  const [, sharded = '', single = ''] =
    /^rules:\n\{\{- if \.Values\.shardPolicies \}\}\n(.*?)\{\{- else \}\}\n(.*?)\{\{- end \}\}$/ms.exec(chart) ?? [];
  expect([parse(sharded), parse(single)]).toEqual([all, one]);
});

it.each([
  ['Pod', '/api/v1/pods'],
  ['Deployment', '/apis/apps/v1/deployments'],
  ['QoSLedger', '/apis/evenkeel.dev/v1alpha1/qosledgers'],
  ['Lease', '/apis/coordination.k8s.io/v1/leases'],
] as const)('%s is found at %s', (kind, path) => {
  expect(pathOf(RESOURCES[kind])).toBe(path);
});
