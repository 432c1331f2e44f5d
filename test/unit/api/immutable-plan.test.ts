import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Environment } from '@marcbachmann/cel-js';
import { expect, it } from 'vitest';
import { parse } from 'yaml';

interface Rule {
  readonly rule: string;
  readonly message: string;
}

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly 'x-kubernetes-validations'?: readonly Rule[];
}

interface Definition {
  readonly spec: { readonly versions: readonly { readonly schema: { readonly openAPIV3Schema: Schema } }[] };
}

const FILE = join(import.meta.dirname, '..', '..', '..', 'crds', 'rebalanceplans.evenkeel.dev.yaml');
const definition = parse(readFileSync(FILE, 'utf8')) as Definition;
const spec = definition.spec.versions[0]?.schema.openAPIV3Schema.properties?.['spec'] ?? {};
const FIELDS = Object.keys(spec.properties ?? {});
const OTHERS = FIELDS.filter((field) => field !== 'approved');
const required = new Set(spec.required);
const environment = new Environment({ unlistedVariablesAreDyn: true });

type Spec = Readonly<Record<string, string | boolean>>;

/** What the API server says of an update of `spec`: the messages of all rules over old and new that do not hold. */
function problemsOf(before: Spec, after: Spec): readonly string[] {
  const broken = (rules: readonly Rule[], self: unknown, oldSelf: unknown): readonly string[] =>
    rules.filter(({ rule }) => environment.evaluate(rule, { self, oldSelf }) !== true).map(({ message }) => message);
  const ofFields = FIELDS.flatMap((field) =>
    Object.hasOwn(before, field) && Object.hasOwn(after, field)
      ? broken(spec.properties?.[field]?.['x-kubernetes-validations'] ?? [], after[field], before[field])
      : [],
  );
  const whole = spec['x-kubernetes-validations'] ?? [];
  return [...ofFields, ...broken(whole, new Map(Object.entries(after)), new Map(Object.entries(before)))];
}

/** A value for each field; rules compare them whole, so that any will do. */
const PLAN: Spec = { ...Object.fromEntries(OTHERS.map((field) => [field, `${field} as planned`])), approved: false };

function without(field: string): Spec {
  return Object.fromEntries(Object.entries(PLAN).filter(([name]) => name !== field));
}

it('a plan may be approved, once and for all', () => {
  expect(problemsOf(PLAN, PLAN)).toEqual([]);
  expect(problemsOf(PLAN, { ...PLAN, approved: true })).toEqual([]);
  expect(problemsOf({ ...PLAN, approved: true }, PLAN)).toEqual([
    'an approval cannot be withdrawn: suspend the policy (evenkeel stop)',
  ]);
});

it('has fields to hold', () => {
  expect(OTHERS).toEqual(expect.arrayContaining(['policy', 'takenAt', 'moves', 'rejections', 'message']));
});

it.each(OTHERS)('%s of a plan cannot be edited, not even with its approval', (field) => {
  const refusal = [`a plan cannot be edited: change the policy and plan again (spec.${field})`];
  expect(problemsOf(PLAN, { ...PLAN, [field]: 'something else' })).toEqual(refusal);
  expect(problemsOf(PLAN, { ...PLAN, [field]: 'something else', approved: true })).toEqual(refusal);
});

it.each(OTHERS.filter((field) => !required.has(field)))('%s of a plan cannot be added or taken away', (field) => {
  const refusal = [`a plan cannot be edited: change the policy and plan again (spec.${field})`];
  expect(problemsOf(without(field), PLAN)).toEqual(refusal);
  expect(problemsOf(PLAN, without(field))).toEqual(refusal);
  expect(problemsOf(without(field), without(field))).toEqual([]);
});
