import type { CelRule } from './v1alpha1/schema.ts';

/** Where a value stands in an object: field names and list indexes. */
export type Path = readonly (string | number)[];

/** One thing that is wrong with an object, and what to write instead. */
export interface FieldProblem {
  readonly path: Path;
  readonly message: string;
}

/** The part of JSON Schema that structural schemas of CRDs use. */
export interface JsonSchema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly items?: JsonSchema;
  readonly required?: readonly string[];
  readonly additionalProperties?: JsonSchema | boolean;
  readonly default?: unknown;
  readonly enum?: readonly string[];
  readonly description?: string;
  readonly 'x-kubernetes-validations'?: readonly CelRule[];
  readonly [keyword: string]: unknown;
}

/** Whether a value is a JSON object. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `spec.budgets[0].perOwner`; a name that would not read like one stands in brackets and quotes, shortened. */
export function formatPath(path: Path): string {
  return path
    .map((part, index) => {
      if (typeof part === 'number') {
        return `[${part}]`;
      }
      if (!/^[\w./-]{1,100}$/.test(part)) {
        return `[${JSON.stringify(part.length > 100 ? `${part.slice(0, 100)}...` : part)}]`;
      }
      return index === 0 ? part : `.${part}`;
    })
    .join('');
}

/** A copy of `schema` in which every schema, from the leaves up, is replaced by what `change` makes of it. */
export function mapSchema(schema: JsonSchema, change: (schema: JsonSchema) => JsonSchema): JsonSchema {
  const { properties, items } = schema;
  return change({
    ...schema,
    ...(items === undefined ? {} : { items: mapSchema(items, change) }),
    ...(properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, child]) => [name, mapSchema(child, change)]),
          ),
        }),
  });
}
