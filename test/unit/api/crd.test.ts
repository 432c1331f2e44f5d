import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type CustomResourceDefinition, crdOf } from '../../../src/api/crd.ts';
import { formatPath, isRecord, type JsonSchema, type Path } from '../../../src/api/json-schema.ts';
import { KINDS } from '../../../src/api/v1alpha1/kinds.ts';
import { celProblems } from '../../../src/api/validate.ts';

interface Located {
  readonly path: Path;
  readonly schema: JsonSchema;
}

function schemaOf(crd: CustomResourceDefinition): JsonSchema {
  const { versions } = crd['spec'] as { versions: { schema: { openAPIV3Schema: JsonSchema } }[] };
  const [version] = versions;
  if (version === undefined) {
    throw new Error('no version');
  }
  return version.schema.openAPIV3Schema;
}

/** Every schema under `schema`; a path names fields, and `[0]` an item. */
function walk(schema: JsonSchema, path: Path = []): readonly Located[] {
  const { properties = {}, items } = schema;
  return [
    { path, schema },
    ...Object.entries(properties).flatMap(([name, child]) => walk(child, [...path, name])),
    ...(items === undefined ? [] : walk(items, [...path, 0])),
  ];
}

const all = KINDS.map((definition) => ({ kind: definition.kind, schema: schemaOf(crdOf(definition)) }));

describe('crdOf', () => {
  it.each(all)('$kind has a description on every field, for kubectl explain', ({ schema }) => {
    const bare = walk(schema)
      .filter(({ path, schema: { description } }) => {
        const isField = typeof path.at(-1) === 'string' && path[0] !== 'metadata';
        return isField && (typeof description !== 'string' || description.length === 0);
      })
      .map(({ path }) => formatPath(path));
    expect(bare).toEqual([]);
  });

  it.each(all)('$kind requires no field that has a default', ({ schema }) => {
    const demanded = walk(schema).flatMap(({ path, schema: { required = [], properties = {} } }) =>
      required.filter((name) => properties[name]?.default !== undefined).map((name) => formatPath([...path, name])),
    );
    expect(demanded).toEqual([]);
  });

  it.each(all)('$kind still requires what has no default', ({ kind, schema }) => {
    const demanded = walk(schema).flatMap(({ path, schema: { required = [] } }) =>
      required.map((name) => formatPath([...path, name])),
    );
    expect(demanded).toContain(kind === 'RebalancePolicy' ? 'spec.load.resources[0].name' : 'spec');
  });

  it.each(all)(
    '$kind is structural: each field has a type, or is int-or-string; nothing of ours is left in it',
    ({ schema }) => {
      const odd = walk(schema)
        .filter(({ schema: field }) => field.type === undefined && field['x-kubernetes-int-or-string'] !== true)
        .map(({ path }) => formatPath(path));
      expect(odd).toEqual([]);
      expect(JSON.stringify(schema)).not.toContain('x-evenkeel');
    },
  );

  it.each(all)('$kind is plain data that survives YAML', ({ schema }) => {
    expect(parse(JSON.stringify(schema))).toEqual(schema);
  });

  it('names kinds, lists and short names', () => {
    const names = KINDS.map((definition) => {
      const crd = crdOf(definition);
      const { metadata } = crd;
      const spec = crd['spec'];
      return isRecord(spec) ? [metadata.name, spec['scope'], spec['names']] : [];
    });
    expect(names[0]).toEqual([
      'rebalancepolicies.evenkeel.dev',
      'Cluster',
      {
        kind: 'RebalancePolicy',
        listKind: 'RebalancePolicyList',
        plural: 'rebalancepolicies',
        singular: 'rebalancepolicy',
        shortNames: ['rbp'],
        categories: ['evenkeel'],
      },
    ]);
    expect(names.map(([name, scope]) => [name, scope])).toEqual([
      ['rebalancepolicies.evenkeel.dev', 'Cluster'],
      ['rebalanceplans.evenkeel.dev', 'Cluster'],
      ['movejournals.evenkeel.dev', 'Cluster'],
      ['serviceclasses.evenkeel.dev', 'Cluster'],
      ['qosledgers.evenkeel.dev', 'Namespaced'],
      ['placementhints.evenkeel.dev', 'Namespaced'],
      ['appgraphs.evenkeel.dev', 'Namespaced'],
    ]);
  });
});

describe('celProblems', () => {
  const rule = (text: string) => ({ 'x-kubernetes-validations': [{ rule: text, message: 'broken' }] });

  it('judges integers as integers and other numbers as doubles', () => {
    const schema: JsonSchema = {
      type: 'object',
      properties: { count: { type: 'integer' }, share: { type: 'number' } },
      ...rule('self.count / 2 == 1 && self.share / 2.0 == 1.5'),
    };
    expect(celProblems(schema, { count: 3, share: 3 })).toEqual([]);
    expect(celProblems(schema, { count: 4, share: 3 })).toEqual([{ path: [], message: 'broken' }]);
  });

  it('says where a rule of a list item is broken', () => {
    const schema: JsonSchema = { type: 'array', items: { type: 'string', ...rule('self != "b"') } };
    expect(celProblems(schema, ['a', 'b'], ['list'])).toEqual([{ path: ['list', 1], message: 'broken' }]);
  });

  it('does not judge fields that are absent, nor rules about updates', () => {
    const schema: JsonSchema = {
      type: 'object',
      properties: { name: { type: 'string', ...rule('false') } },
      ...rule('self == oldSelf'),
    };
    expect(celProblems(schema, {})).toEqual([]);
    expect(celProblems(schema, { name: 'a' })).toEqual([{ path: ['name'], message: 'broken' }]);
  });

  it.each(all)('can parse and judge every rule of $kind', ({ schema }) => {
    const rules = walk(schema).flatMap(({ schema: field }) => field['x-kubernetes-validations'] ?? []);
    expect(rules.every(({ message }) => message.length > 0)).toBe(true);
    expect(rules.length).toBeGreaterThan(0);
  });
});
