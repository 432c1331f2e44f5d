import { type JsonSchema, mapSchema } from './json-schema.ts';
import { GROUP, HINT_KEYWORD, type KindDefinition, type PrinterColumn, VERSION } from './v1alpha1/schema.ts';

/** A CustomResourceDefinition (apiextensions.k8s.io/v1) as plain data, ready for YAML. */
export type CustomResourceDefinition = Readonly<Record<string, unknown>> & {
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
};

/** The CustomResourceDefinition of one of our kinds. */
export function crdOf(definition: KindDefinition): CustomResourceDefinition {
  const { kind, plural, shortNames, scope, columns, status } = definition;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${GROUP}`, labels: { 'app.kubernetes.io/name': 'evenkeel' } },
    spec: {
      group: GROUP,
      scope,
      names: {
        kind,
        listKind: `${kind}List`,
        plural,
        singular: kind.toLowerCase(),
        shortNames,
        categories: ['evenkeel'],
      },
      versions: [
        {
          name: VERSION,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: openApi(definition) },
          additionalPrinterColumns: columns.map(printerColumn),
          ...(status === undefined ? {} : { subresources: { status: {} } }),
        },
      ],
    },
  };
}

function printerColumn({ priority, ...column }: PrinterColumn): object {
  return priority === 0 ? column : { ...column, priority };
}

function openApi({ description, spec, status }: KindDefinition): JsonSchema {
  const whole: JsonSchema = {
    type: 'object',
    description,
    properties: {
      apiVersion: { type: 'string', description: 'API version.' },
      kind: { type: 'string', description: 'Kind.' },
      metadata: { type: 'object' },
      spec: spec as JsonSchema,
      ...(status === undefined ? {} : { status: status as JsonSchema }),
    },
    ...((spec as JsonSchema).default === undefined ? { required: ['spec'] } : {}),
  };
  return mapSchema(JSON.parse(JSON.stringify(whole)) as JsonSchema, structural);
}

/** A field with a default need not be written; hints are ours alone. */
function structural(schema: JsonSchema): JsonSchema {
  const { [HINT_KEYWORD]: _hint, required, ...rest } = schema;
  const needed = (required ?? []).filter((name) => schema.properties?.[name]?.default === undefined);
  return needed.length === 0 ? rest : { ...rest, required: needed };
}
