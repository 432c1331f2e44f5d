import { crdOf } from '../../src/api/crd.ts';
import type { JsonSchema } from '../../src/api/json-schema.ts';
import { KINDS } from '../../src/api/v1alpha1/kinds.ts';
import type { KindDefinition } from '../../src/api/v1alpha1/schema.ts';

interface VersionedCrd {
  readonly spec: {
    readonly versions: readonly { readonly schema: { readonly openAPIV3Schema: JsonSchema } }[];
  };
}

/** Every field of every kind as Markdown, as the CustomResourceDefinitions have them. */
export function fieldsReference(): string {
  const intro = `# Fields

Written by \`npm run generate\` from the schemas, which the CRDs are made of too. \`kubectl explain rbp.spec --recursive\` says the
same on a cluster. Durations are written like \`90s\`, \`5m\` or \`1h30m\`, fractions in quotes, like \`"0.05"\`.
`;
  return [intro, ...KINDS.map(kindSection)].join('\n');
}

function kindSection(definition: KindDefinition): string {
  const { kind, scope, shortNames, description } = definition;
  const [version] = (crdOf(definition) as unknown as VersionedCrd).spec.versions;
  const { spec, status } = version?.schema.openAPIV3Schema.properties ?? {};
  const short = shortNames.map((name) => `\`${name}\``).join(', ');
  const tables = [
    spec === undefined ? [] : table('spec', spec),
    status === undefined ? [] : table('status', status),
  ].flat();
  return [`## ${kind}`, `${description} ${scope}; ${short}.`, ...tables, ''].join('\n\n');
}

function table(name: string, schema: JsonSchema): readonly string[] {
  const rows = rowsOf(name, schema).map((row) => `| ${row.join(' | ')} |`);
  return rows.length === 0 ? [] : [['| field | type | meaning |', '|---|---|---|', ...rows].join('\n')];
}

type Row = readonly [field: string, type: string, meaning: string];

function rowsOf(path: string, schema: JsonSchema): readonly Row[] {
  const children = Object.entries(schema.properties ?? {}).flatMap(([name, child]) => rowsOf(`${path}.${name}`, child));
  const items = schema.items === undefined ? [] : rowsOf(`${path}[]`, schema.items);
  const rules = (schema['x-kubernetes-validations'] ?? []).map(({ message }) => message);
  const meaning = [schema.description ?? '', ...rules.map((rule) => `Rule: ${rule}.`)].join(' ').trim();
  const own: readonly Row[] =
    meaning === '' && items.length > 0 ? [] : [[`\`${path}\``, typeOf(schema), escaped(meaning)]];
  return [...own, ...children, ...(schema.items?.properties === undefined ? [] : items)];
}

function typeOf(schema: JsonSchema): string {
  const { type, enum: values, items, additionalProperties } = schema;
  if (values !== undefined) {
    return values.map((value) => `\`${value}\``).join(', ');
  }
  if (type === 'array') {
    return `list of ${items === undefined ? 'anything' : typeOf(items)}`;
  }
  if (schema['x-kubernetes-int-or-string'] === true) {
    return new RegExp(String(schema['pattern'])).test('1Gi') ? 'quantity or percentage' : 'integer or percentage';
  }
  const map = typeof additionalProperties === 'object' ? `map of ${typeOf(additionalProperties)}` : type;
  const { minimum, maximum } = schema;
  const bounds = minimum === undefined || maximum === undefined ? '' : `, ${String(minimum)} to ${String(maximum)}`;
  return `${map ?? 'anything'}${bounds}`;
}

function escaped(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ').replaceAll('<', '&lt;');
}
