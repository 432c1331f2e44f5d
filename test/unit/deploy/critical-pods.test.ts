import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';

interface Manifest {
  readonly kind: string;
  readonly spec: {
    readonly template?: { readonly spec: { readonly priorityClassName?: string } };
    readonly hard?: Readonly<Record<string, string>>;
    readonly scopeSelector?: {
      readonly matchExpressions: readonly { readonly scopeName: string; readonly values: readonly string[] }[];
    };
  };
}

const BASE = join(import.meta.dirname, '..', '..', '..', 'deploy', 'base');

function manifests(): readonly Manifest[] {
  return globSync('*.yaml', { cwd: BASE }).flatMap((file) =>
    parseAllDocuments(readFileSync(join(BASE, file), 'utf8')).map((each) => each.toJS() as Manifest),
  );
}

it('the namespace of the operator has a quota for pods of its system-critical priority class', () => {
  const critical = manifests()
    .filter(({ kind }) => kind === 'Deployment')
    .map(({ spec }) => spec.template?.spec.priorityClassName)
    .filter((name) => name?.startsWith('system-'));
  const allowed = manifests()
    .filter(({ kind, spec }) => kind === 'ResourceQuota' && Number(spec.hard?.['pods']) >= 2)
    .flatMap(({ spec }) => spec.scopeSelector?.matchExpressions ?? [])
    .filter(({ scopeName }) => scopeName === 'PriorityClass')
    .flatMap(({ values }) => values);
  expect(critical).toEqual(['system-cluster-critical']);
  expect(allowed).toEqual(critical);
});
