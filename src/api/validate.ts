import { Environment, type ParseResult } from '@marcbachmann/cel-js';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { type FieldProblem, formatPath, isRecord, type JsonSchema, mapSchema, type Path } from './json-schema.ts';
import { nearest } from './nearest.ts';
import { KINDS } from './v1alpha1/kinds.ts';
import type { RebalancePolicy } from './v1alpha1/rebalance-policy.ts';
import { API_VERSION, CEL_KEYWORD, type CelRule, HINT_KEYWORD, type KindDefinition } from './v1alpha1/schema.ts';

/** An object of one of our kinds with defaults filled in; `value` conforms to its type only when there are no problems. */
export interface Validated<Value> {
  readonly value: Value;
  readonly problems: readonly FieldProblem[];
}

/** `spec.mode: is "Auto": ...` */
export function formatProblem({ path, message }: FieldProblem): string {
  return path.length === 0 ? message : `${formatPath(path)}: ${message}`;
}

/** Whether `object` claims to be of our API group. */
export function isOurs(object: unknown): boolean {
  return (
    isRecord(object) && typeof object['apiVersion'] === 'string' && object['apiVersion'].startsWith('evenkeel.dev/')
  );
}

/** Validates and defaults an object that should be a RebalancePolicy. Never throws. */
export function validatePolicy(object: unknown): Validated<RebalancePolicy> {
  const validated = validateResource(object);
  const kind = isRecord(object) ? object['kind'] : undefined;
  const wrongKind = { path: ['kind'], message: `is ${show(kind)}: write RebalancePolicy` };
  const problems =
    kind === 'RebalancePolicy'
      ? validated.problems
      : [wrongKind, ...validated.problems.filter(({ path }) => path[0] !== 'kind')];
  return { value: validated.value as RebalancePolicy, problems };
}

/** Validates an object of any of these kinds, ours by default, as the API server would, unknown fields included. Never throws. */
export function validateResource(object: unknown, kinds: readonly KindDefinition[] = KINDS): Validated<unknown> {
  if (!isRecord(object)) {
    return {
      value: object,
      problems: [{ path: [], message: 'is not an object: write apiVersion, kind, metadata and spec' }],
    };
  }
  const deep = Object.keys(object).filter((field) => isDeeperThan(object[field], MAX_DEPTH));
  if (deep.length > 0) {
    const shallow = Object.fromEntries(Object.entries(object).filter(([field]) => !deep.includes(field)));
    const message = `is nested more than ${MAX_DEPTH} levels deep: remove what does not belong there`;
    return { value: shallow, problems: deep.map((field) => ({ path: [field], message })) };
  }
  const definition = kinds.find(({ kind }) => kind === object['kind']);
  const head = headProblems(object, definition, kinds);
  if (definition === undefined) {
    return { value: object, problems: head };
  }
  const value = { ...object, spec: structuredClone(object['spec'] ?? {}) };
  const body = specProblems(definition, value.spec);
  return { value, problems: [...head, ...body] };
}

/** Far deeper than any of our kinds, and far from what the stack of this process holds. */
const MAX_DEPTH = 64;

function isDeeperThan(value: unknown, depth: number): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    (depth === 0 || Object.values(value).some((inner) => isDeeperThan(inner, depth - 1)))
  );
}

function headProblems(
  object: Readonly<Record<string, unknown>>,
  definition: KindDefinition | undefined,
  kinds: readonly KindDefinition[],
): FieldProblem[] {
  const { apiVersion, kind, metadata } = object;
  const problems: FieldProblem[] = [];
  if (apiVersion !== API_VERSION) {
    problems.push({ path: ['apiVersion'], message: `is ${show(apiVersion)}: write ${API_VERSION}` });
  }
  if (definition === undefined) {
    const names = kinds.map((known) => known.kind);
    problems.push({ path: ['kind'], message: `is ${show(kind)}: write ${suggest(kind, names)}` });
  }
  const name = isRecord(metadata) ? metadata['name'] : undefined;
  if (typeof name !== 'string' || !/^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/.test(name)) {
    const message = `is ${show(name)}: write a name of lower-case letters, digits, "-" and ".", at most 253 characters`;
    problems.push({ path: ['metadata', 'name'], message });
  }
  for (const field of Object.keys(object)) {
    if (!['apiVersion', 'kind', 'metadata', 'spec', 'status'].includes(field)) {
      const message = `unknown field: ${suggest(field, ['spec', 'metadata', 'apiVersion', 'kind'])}`;
      problems.push({ path: [field], message });
    }
  }
  return problems;
}

function specProblems(definition: KindDefinition, spec: unknown): readonly FieldProblem[] {
  const validate = validatorOf(definition);
  if (!validate(spec)) {
    return (validate.errors ?? []).filter(isTelling).map((error) => toProblem(error));
  }
  return celProblems(definition.spec as JsonSchema, spec, ['spec']);
}

/**
 * Compiles the schemas of these kinds, which the first object of each would wait for otherwise: that of RebalancePolicy takes a tenth of a
 * second, several times that on a busy machine, in which the process does nothing else.
 */
export function compileSchemas(kinds: readonly KindDefinition[]): void {
  for (const kind of kinds) {
    validatorOf(kind);
  }
}

let ajv: Ajv | undefined;
const validators = new Map<string, ValidateFunction>();

function validatorOf(definition: KindDefinition): ValidateFunction {
  const known = validators.get(definition.kind) ?? compiler().compile(strict(definition.spec as JsonSchema));
  validators.set(definition.kind, known);
  return known;
}

/** Made when the first object is judged. Our schemas are not judged themselves: the API server does that in tests. */
function compiler(): Ajv {
  ajv ??= new Ajv({
    allErrors: true,
    useDefaults: true,
    strict: false,
    validateFormats: false,
    verbose: true,
    meta: false,
    validateSchema: false,
    // It takes two fifths of the time to compile, and few objects are judged.
    code: { optimize: false },
  });
  return ajv;
}

/** Unknown fields are errors, as with `kubectl apply` and its strict field validation. */
function strict(schema: JsonSchema): JsonSchema {
  return mapSchema(schema, (child) =>
    child.properties === undefined ? child : { ...child, additionalProperties: false },
  );
}

/** An anyOf reports each of its branches and itself; one problem is enough. */
function isTelling(error: ErrorObject): boolean {
  return !error.schemaPath.includes('/anyOf/');
}

function toProblem(error: ErrorObject): FieldProblem {
  const path: Path = ['spec', ...error.instancePath.split('/').slice(1).map(unescapePointer)];
  switch (error.keyword) {
    case 'additionalProperties': {
      const field = String(error.params['additionalProperty']);
      const known = Object.keys((error.parentSchema?.['properties'] as object | undefined) ?? {});
      return { path: [...path, field], message: `unknown field: ${suggest(field, known)}` };
    }
    case 'required':
      return { path: [...path, String(error.params['missingProperty'])], message: 'is missing: add it' };
    case 'enum':
      return {
        path,
        message: `is ${show(error.data)}: write ${suggest(error.data, error.schema as string[])}`,
      };
    case 'type':
      return { path, message: typeMessage(error) };
    default:
      return { path, message: `is ${show(error.data)}: ${hintOf(error)}` };
  }
}

function hintOf(error: ErrorObject): string {
  const hint = error.parentSchema?.[HINT_KEYWORD];
  return typeof hint === 'string' ? hint : (error.message ?? `fails ${error.keyword}`);
}

function typeMessage(error: ErrorObject): string {
  const wanted = String(error.params['type']);
  const article = /^[aeiou]/.test(wanted) ? 'an' : 'a';
  const hint = error.parentSchema?.[HINT_KEYWORD];
  const quoted = isTextUnquoted(error) ? `write it in quotes, "${error.data}"` : hint;
  const advice = typeof quoted === 'string' ? `: ${quoted}` : '';
  return `is ${show(error.data)} but must be ${article} ${wanted}${advice}`;
}

/** A number where a text belongs that would be right in quotes, as far as the pattern of the field says. */
function isTextUnquoted({ params, data, parentSchema }: ErrorObject): boolean {
  const pattern: unknown = parentSchema?.['pattern'];
  return (
    params['type'] === 'string' &&
    typeof data === 'number' &&
    (typeof pattern !== 'string' || new RegExp(pattern).test(String(data)))
  );
}

function suggest(written: unknown, known: readonly string[]): string {
  const guess = typeof written === 'string' ? nearest(written, known) : undefined;
  return guess === undefined ? `one of ${known.join(', ')}` : `${guess}? (one of ${known.join(', ')})`;
}

function show(value: unknown): string {
  if (value === undefined) {
    return 'missing';
  }
  if (isDeeperThan(value, MAX_DEPTH)) {
    return 'nested too deeply';
  }
  const text = JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}

function unescapePointer(part: string): string | number {
  const text = part.replaceAll('~1', '/').replaceAll('~0', '~');
  return /^\d+$/.test(text) ? Number(text) : text;
}

const environment = new Environment({ unlistedVariablesAreDyn: true });
const parsed = new Map<string, ParseResult>();

function parseRule(rule: string): ParseResult {
  const known = parsed.get(rule) ?? environment.parse(rule);
  parsed.set(rule, known);
  return known;
}

/**
 * Problems that the CEL rules of `schema` find in `value`, as the API server would (KEP-2876).
 * Rules over `oldSelf` are about updates and do not apply here. `value` must conform to the schema otherwise.
 */
export function celProblems(schema: JsonSchema, value: unknown, path: Path = []): readonly FieldProblem[] {
  const own = (schema[CEL_KEYWORD] ?? []).flatMap((rule) => celProblem(rule, schema, value, path));
  return [...own, ...childProblems(schema, value, path)];
}

function celProblem(
  { rule, message }: CelRule,
  schema: JsonSchema,
  value: unknown,
  path: Path,
): readonly FieldProblem[] {
  if (rule.includes('oldSelf')) {
    return [];
  }
  return parseRule(rule)({ self: toCel(schema, value) }) === true ? [] : [{ path, message }];
}

function childProblems(schema: JsonSchema, value: unknown, path: Path): readonly FieldProblem[] {
  const { items, properties } = schema;
  if (Array.isArray(value) && items !== undefined) {
    return value.flatMap((item, index) => celProblems(items, item, [...path, index]));
  }
  if (!isRecord(value) || properties === undefined) {
    return [];
  }
  return Object.entries(properties).flatMap(([name, child]) =>
    Object.hasOwn(value, name) ? celProblems(child, value[name], [...path, name]) : [],
  );
}

/** JSON has one number type, CEL has two: integers become bigint where the schema says so. */
function toCel(schema: JsonSchema | undefined, value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map((item) => toCel(schema?.items, item));
  }
  if (isRecord(value)) {
    const entries = Object.entries(value).map(
      ([name, item]) => [name, toCel(schema?.properties?.[name], item)] as const,
    );
    return new Map(entries);
  }
  return typeof value === 'number' && Number.isInteger(value) && schema?.type !== 'number' ? BigInt(value) : value;
}
