import { Environment, type ParseResult } from '@marcbachmann/cel-js';
import type { FieldProblem } from './json-schema.ts';
import { isRecord, type JsonSchema, type Path } from './json-schema.ts';
import { CEL_KEYWORD, type CelRule } from './v1alpha1/schema.ts';

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
