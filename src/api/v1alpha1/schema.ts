import type { IObjectMeta } from '@kubernetes-models/apimachinery/apis/meta/v1/ObjectMeta';
import Type, { type Static, type TInteger, type TSchema, type TString, type TUnsafe } from 'typebox';

/** API group of all our kinds. */
export const GROUP = 'evenkeel.dev';
/** Version of all our kinds. */
export const VERSION = 'v1alpha1';
/** `apiVersion` of all our kinds. */
export const API_VERSION = `${GROUP}/${VERSION}`;

/** A CEL rule: the API server and our own validator run the same text (KEP-2876). */
export interface CelRule {
  /** CEL over `self` and, for immutability, `oldSelf`. */
  readonly rule: string;
  /** What is wrong and what to write instead. */
  readonly message: string;
}

/** The schema keyword that carries CEL rules. */
export const CEL_KEYWORD = 'x-kubernetes-validations';

/** The schema keyword that says what to write when a pattern does not match; left out of the CRD. */
export const HINT_KEYWORD = 'x-evenkeel-hint';

interface FieldOptions {
  readonly description: string;
  readonly default?: unknown;
  readonly rules?: readonly CelRule[];
  /** What to write, for the message of a failed pattern. */
  readonly hint?: string;
}

function annotate({ description, default: value, rules, hint }: FieldOptions): Record<string, unknown> {
  return {
    description,
    ...(hint === undefined ? {} : { [HINT_KEYWORD]: hint }),
    ...(value === undefined ? {} : { default: value }),
    ...(rules === undefined ? {} : { [CEL_KEYWORD]: rules }),
  };
}

/** A string out of a fixed list. */
export function oneOf<const Value extends string>(values: readonly Value[], options: FieldOptions): TUnsafe<Value> {
  return Type.Unsafe<Value>({ type: 'string', enum: [...values], ...annotate(options) });
}

/** A decimal fraction in [0, 1] as a string with at most six decimals. */
export function fraction(options: FieldOptions): TString {
  const hint = 'write a decimal fraction between "0" and "1" with at most six decimals, in quotes, such as "0.05"';
  return Type.String({
    pattern: '^(0(\\.[0-9]{1,6})?|1(\\.0{1,6})?)$',
    maxLength: 8,
    ...annotate({ ...options, hint }),
  });
}

/** A decimal number in [least, most] as a string with at most six decimals. */
export function decimal(least: string, most: string, options: FieldOptions): TString {
  const bounds = {
    rule: `double(self) >= ${least} && double(self) <= ${most}`,
    message: `must be a decimal between "${least}" and "${most}"`,
  };
  const rules = [bounds, ...(options.rules ?? [])];
  const hint = `write a decimal between "${least}" and "${most}" with at most six decimals, in quotes`;
  return Type.String({
    pattern: '^[0-9]{1,6}(\\.[0-9]{1,6})?$',
    maxLength: 13,
    ...annotate({ ...options, rules, hint }),
  });
}

/** A Go duration such as 90s, 5m or 1h30m, between `least` and `most`. */
export function duration(least: string, most: string, options: FieldOptions): TString {
  const bounds = {
    rule: `duration(self) >= duration('${least}') && duration(self) <= duration('${most}')`,
    message: `must be a duration between ${least} and ${most}`,
  };
  const rules = [bounds, ...(options.rules ?? [])];
  const hint = `write a duration in hours, minutes and seconds between ${least} and ${most}, such as 90s or 1h30m`;
  return Type.String({
    pattern: '^([0-9]{1,6}(h|m|s))+$',
    maxLength: 20,
    ...annotate({ ...options, rules, hint }),
  });
}

/** A whole number in [least, most]. */
export function integer(least: number, most: number, options: FieldOptions): TInteger {
  return Type.Integer({
    format: 'int32',
    minimum: least,
    maximum: most,
    ...annotate({ ...options, hint: `write a whole number from ${least} to ${most}` }),
  });
}

/** A count from 0 to 1000, or a percentage from 0% to 100%. */
export function countOrPercent(options: FieldOptions): TUnsafe<number | string> {
  const hint = 'write a whole number from 0 to 1000, or a percentage from "0%" to "100%"';
  return Type.Unsafe<number | string>({
    anyOf: [{ type: 'integer' }, { type: 'string' }],
    'x-kubernetes-int-or-string': true,
    minimum: 0,
    maximum: 1000,
    maxLength: 4,
    pattern: '^(100|[1-9]?[0-9])%$',
    ...annotate({ ...options, hint }),
  });
}

/** An amount of a resource as in the requests of a pod, not negative, or a percentage from 0% to 100%. */
export function quantityOrPercent(options: FieldOptions): TUnsafe<number | string> {
  const hint = 'write a quantity such as 500m or 2Gi that is not negative, or a percentage from "0%" to "100%"';
  return Type.Unsafe<number | string>({
    anyOf: [{ type: 'integer' }, { type: 'string' }],
    'x-kubernetes-int-or-string': true,
    minimum: 0,
    maximum: 1_000_000_000_000_000,
    maxLength: 20,
    pattern: '^([0-9]{1,15}(\\.[0-9]{1,3})?(m|[kMGT]|[KMGT]i)?|(100|[1-9]?[0-9])%)$',
    ...annotate({ ...options, hint }),
  });
}

/** Bits per second with a unit, such as 20M or 1.5G. */
export function bandwidth(options: FieldOptions): TString {
  const hint = 'write bits per second with a unit k, M, G or T, such as 20M for 20 Mb/s';
  return Type.String({
    pattern: '^[0-9]{1,6}(\\.[0-9]{1,3})?[kMGT]$',
    maxLength: 11,
    ...annotate({ ...options, hint }),
  });
}

/** A text of at most `maxLength` characters. */
export function text(maxLength: number, options: FieldOptions): TString {
  return Type.String({ maxLength, ...annotate(options) });
}

/** An instant as RFC 3339 text. */
export function instant(options: FieldOptions): TString {
  return Type.String({ format: 'date-time', maxLength: 40, ...annotate(options) });
}

const requirement = Type.Object(
  {
    key: text(316, { description: 'Label key.' }),
    operator: oneOf(['In', 'NotIn', 'Exists', 'DoesNotExist'], { description: 'How the label is compared.' }),
    values: Type.Optional(
      Type.Array(Type.String({ maxLength: 63 }), {
        maxItems: 100,
        description: 'Values for In and NotIn; none for Exists and DoesNotExist.',
        'x-kubernetes-list-type': 'atomic',
      }),
    ),
  },
  {
    [CEL_KEYWORD]: [
      {
        rule: "(self.operator in ['In', 'NotIn']) == (has(self.values) && self.values.size() > 0)",
        message: 'In and NotIn need values, Exists and DoesNotExist take none: add or remove values',
      },
    ],
  },
);

/** A label selector as in apimachinery; an empty one selects everything. `null` for no default. */
export function labelSelector(description: string, otherwise: Record<string, never> | null = {}) {
  return Type.Object(
    {
      matchLabels: Type.Optional(
        Type.Unsafe<Record<string, string>>({
          type: 'object',
          additionalProperties: { type: 'string', maxLength: 63 },
          maxProperties: 50,
          description: 'Labels that must all be present with these values.',
        }),
      ),
      matchExpressions: Type.Optional(
        Type.Array(requirement, {
          maxItems: 50,
          description: 'Expressions that must all hold.',
          'x-kubernetes-list-type': 'atomic',
        }),
      ),
    },
    { description, ...(otherwise === null ? {} : { default: otherwise }) },
  );
}

/** A selector as written in a resource. */
export type LabelSelectorField = Static<ReturnType<typeof labelSelector>>;

/** One printer column (`kubectl get`). */
export interface PrinterColumn {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'date' | 'boolean';
  readonly jsonPath: string;
  readonly description: string;
  /** 0 is shown always, 1 with `-o wide`. */
  readonly priority: 0 | 1;
}

/** Everything that a CustomResourceDefinition says about a kind. */
export interface KindDefinition {
  readonly kind: string;
  readonly plural: string;
  readonly shortNames: readonly string[];
  readonly scope: 'Cluster' | 'Namespaced';
  readonly description: string;
  readonly columns: readonly PrinterColumn[];
  readonly spec: TSchema;
  /** `undefined`: the kind has no status. */
  readonly status: TSchema | undefined;
}

/** A column of `kubectl get`; with priority 1 of `-o wide` alone. */
export function column(
  name: string,
  type: PrinterColumn['type'],
  jsonPath: string,
  description: string,
  priority: 0 | 1 = 0,
): PrinterColumn {
  return { name, type, jsonPath, description, priority };
}

/** Metadata of an object of ours: what Kubernetes says it is, with a name. */
export type ObjectMeta = Readonly<IObjectMeta> & { readonly name: string };

/** An object of one of our kinds. */
export interface Resource<Kind extends string, Spec, Status> {
  readonly apiVersion: typeof API_VERSION;
  readonly kind: Kind;
  readonly metadata: ObjectMeta;
  readonly spec: Spec;
  readonly status?: Status;
}
